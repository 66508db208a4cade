package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/export"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// envelopes is the format that writes a folder; the others are those of package export.
const envelopes = "inferencebench"

var exportHelp = `Write the numbers of a run for another tool. docs/formats.md names the tools that
read each format: ` + strings.Join(exportNames(), ", ") + `.

  accelgate export .accelgate/run.json --format gobench > new.txt
  accelgate export .accelgate/run.json --format csv --out run.csv

The format inferencebench is a folder of envelopes, one file for each cell. Their
names are the first digits of their content's hash, as in the original. What an
envelope demands and the run does not have is a placeholder, and listed in it.

  accelgate export .accelgate/run.json --out envelopes
  accelgate diff envelopes/0123456789ab.json envelopes/ba9876543210.json`

func exportNames() []string {
	names := []string{envelopes}
	for _, f := range export.Formats {
		names = append(names, f.Name)
	}
	return names
}

// exporting is what export was asked for.
type exporting struct {
	format, out string
	only        []string
}

func (c *Command) exportCommand() *cobra.Command {
	var e exporting
	cmd := &cobra.Command{
		Use:   "export RUN.json",
		Short: "Write the numbers of a run for another tool",
		Long:  exportHelp,
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return c.export(&e, cmd.Flags(), args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&e.format, "format", envelopes, "`format`: "+strings.Join(exportNames(), ", "))
	f.StringVar(&e.out, "out", "",
		"`path` of the document, or of the folder of envelopes (default: standard output, or the folder envelopes)")
	f.StringArrayVar(&e.only, "only", nil, "write only this case `id` or glob; may be repeated")
	return cmd
}

func (c *Command) export(e *exporting, flags *pflag.FlagSet, path string) error {
	if flags.Changed("out") && e.out == "" {
		return exit.Usagef("--out is empty: name a file, or a folder for envelopes")
	}
	i := slices.IndexFunc(export.Formats, func(f export.Format) bool { return f.Name == e.format })
	if i < 0 && e.format != envelopes {
		return exit.Usagef("--format: unknown format %q: use one of %s", e.format, strings.Join(exportNames(), ", "))
	}
	run, err := measure.ReadRun(path)
	if err != nil {
		return err
	}
	if len(e.only) > 0 {
		run.Results = slices.DeleteFunc(run.Results, func(r bench.Result) bool { return !matrix.GlobAny(e.only, r.Cell.ID()) })
	}
	if e.format == envelopes {
		return c.exportEnvelopes(run, path, e.out)
	}
	return c.exportDocument(run, path, export.Formats[i], e.out)
}

// exportDocument writes nothing unless the whole run can be written.
func (c *Command) exportDocument(run *bench.Run, path string, f export.Format, out string) error {
	var document bytes.Buffer
	if err := f.Write(&document, run); errors.Is(err, export.ErrNothing) {
		return exit.Usagef("--format %s: %w: list the cells with 'accelgate report %s'", f.Name, err, text.ShellWord(path))
	} else if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if out == "" {
		_, err := c.Stdout.Write(document.Bytes())
		return err
	}
	return atomicfile.Elsewhere(atomicfile.Write(out, document.Bytes()), "--out")
}

// exportEnvelopes writes the cells that passed; others have no numbers to exchange.
func (c *Command) exportEnvelopes(run *bench.Run, from, out string) error {
	out = cmp.Or(out, "envelopes")
	written := 0
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome != bench.Passed || len(r.Samples) == 0 {
			continue
		}
		path, err := export.Envelope(run, r, out, "")
		if err != nil {
			return fmt.Errorf("export %s: %w", text.OneLine(r.Cell.ID()), err)
		}
		written++
		fmt.Fprintf(c.Stdout, "%s: %s\n", path, text.OneLine(r.Cell.ID()))
	}
	if written == 0 {
		return exit.Usagef("no cell that passed and has numbers matches: list the cells with 'accelgate report %s'", text.ShellWord(from))
	}
	_, err := fmt.Fprintf(c.Stdout, "%s written\nNext: accelgate diff BEFORE.json AFTER.json\n", text.Plural(written, "envelope"))
	return err
}
