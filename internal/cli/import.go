package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/text"
)

var importHelp = `Turn the results of another tool into a run.json, to judge it or to record a
baseline from it.

  accelgate import results --host-label linux-cuda
  accelgate report .accelgate/run.json
  accelgate baseline update --from .accelgate/run.json --reason "first baseline"

A folder is one that TensorSharp.TestMatrix writes, one JSON file a cell, or a
dataset of FlashInfer-Bench, whose traces are taken; what is not such a file is
left out with a warning. A file is an InferenceBench envelope, or what one of
these wrote: ` + strings.Join(formats.FileNames(), ", ") + `.
The content of a file shows its format; --format names it where the content fits
several. Metrics are named by what they measure, not by the tools' labels.`

func (c *Command) importCommand() *cobra.Command {
	var label, hardware, format, out, revision string
	cmd := &cobra.Command{
		Use:   "import FOLDER|FILE",
		Short: "Turn another tool's results into a run.json",
		Long:  importHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if label == "" {
				return exit.Usagef("import: the folder does not state which host measured: add --host-label")
			}
			if err := bench.CheckLabel(label); err != nil {
				return exit.Usagef("--host-label: %w", err)
			}
			run, warnings, err := readForeign(args[0], label, hardware, format)
			c.warnAll(warnings)
			if err != nil {
				return err
			}
			run.Tool, run.Host.Label = measure.Tool(), label
			run.Revision = cmp.Or(revision, run.Revision)
			return c.saveImport(run, filepath.Join(out, "run.json"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&label, "host-label", "", "`label` of the host that measured (required)")
	f.StringVar(&hardware, "hardware", "", "`device` whose traces are taken, as the traces call it, where a dataset has those of several")
	f.StringVar(&format, "format", "", "`name` of the file's format, where its content fits several")
	f.StringVar(&revision, "revision", "", "`commit` that was measured")
	f.StringVar(&out, "out", measure.DefaultOut, "`folder` for run.json")
	return cmd
}

// readForeign reads a folder of TensorSharp's results or of FlashInfer-Bench's
// traces, or a file, of the format if one is named. Hardware chooses among traces.
func readForeign(path, label, hardware, format string) (*bench.Run, []string, error) {
	info, err := os.Stat(path)
	switch dir := err != nil || info.IsDir(); {
	case dir && kernels.IsDataset(path):
		run, warnings, err := kernels.ReadTraces(path, hardware, label, measure.Tool())
		if err != nil {
			err = exit.AsUsage(err)
		}
		return run, warnings, err
	case hardware != "":
		return nil, nil, exit.Usagef("--hardware chooses among the traces of a dataset, which %s is not: leave it out", path)
	case dir && format != "":
		return nil, nil, exit.Usagef("--format names the format of a file, which %s is not: leave it out", path)
	case dir:
		return tensorsharp.ReadResults(path)
	}
	data, err := suite.ReadResult(path, path, bench.MaxRunBytes)
	if err != nil {
		return nil, nil, exit.Usagef("%w: name the file that the tool saved", err)
	}
	if format != "" || !inferencebench.IsEnvelope(data) {
		run, _, warnings, err := formats.ReadFileAs(format, data)
		if err != nil {
			return nil, nil, foreignError(path, data, err)
		}
		return run, warnings, nil
	}
	e, err := inferencebench.Parse(data)
	if err != nil {
		return nil, nil, exit.Usagef("%s: %w", path, err)
	}
	return e.Run(), nil, nil
}

// foreignError names the command that reads a file of accelgate's own, and else what is wrong with it.
func foreignError(path string, data []byte, err error) error {
	if reader := judge.Reader(path, data); reader != "" {
		return exit.Usagef("%s is accelgate's own: read it with 'accelgate %s %s'", path, reader, text.ShellWord(path))
	}
	return exit.Usagef("%s: %w", path, err)
}

func (c *Command) saveImport(run *bench.Run, path string) error {
	if err := run.Validate(); err != nil {
		return fmt.Errorf("the results do not make a run: %w: remove the file that is wrong", err)
	}
	if err := measure.SaveRun(path, run); err != nil {
		return err
	}
	next := "accelgate report " + text.ShellWord(path)
	if _, err := os.Stat(measure.DefaultConfig); err != nil { // which a report is judged by
		next = "accelgate export " + text.ShellWord(path) + " --format csv"
	}
	_, err := fmt.Fprintf(c.Stdout, "%s: %s imported\nNext: %s\n", path, text.Plural(len(run.Results), "cell"), next)
	return err
}
