package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/export"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/text"
)

const benchRunHelp = `Send a suite's requests to an OpenAI-compatible endpoint and write what was
measured: one envelope for each load, the samples it was computed from, and
run.json. Without --base-url the embedded engine answers, for a short time.

  accelgate bench run --list
  accelgate bench run llm.inference.chatbot-short
  accelgate bench run llm.inference.chatbot-short --base-url http://localhost:8000 --sweep 1,16,64
  accelgate bench run my-suite.yaml --base-url http://localhost:8000 --duration 60s
  accelgate bench run my-suite.yaml --base-url http://localhost:8000 --concurrency 256 --clients 4
  accelgate diff results/c16-0123456789ab.json results/c16-ba9876543210.json

It judges nothing: exit 0 means that everything was measured, 3 that something
was not, and what was measured is kept. A suite of kind endpoint in
accelgate.yaml measures the same and is judged by 'accelgate run'.`

func (c *Command) benchRunCommand(code *int) *cobra.Command {
	var b benchRun
	cmd := &cobra.Command{
		Use:   "run [SUITE | SUITE.yaml]",
		Short: "Send a suite's requests and write envelopes",
		Long:  benchRunHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case b.list:
				return c.listSuites(b.json)
			case b.metrics && b.json:
				return c.encode(endpoint.Catalogue())
			case b.metrics:
				return endpoint.PrintMetrics(c.Stdout, endpoint.Catalogue())
			}
			if err := refuseEmpty(cmd, "shard", "start-at", "sign-key"); err != nil {
				return err
			}
			b.changed = cmd.Flags().Changed
			*code, err = c.benchRun(cmd.Context(), &b, args)
			return err
		},
	}
	b.addFlags(cmd.Flags())
	return cmd
}

// listSuites prints the suites that ship with accelgate.
func (c *Command) listSuites(asJSON bool) error {
	list, err := endpoint.Presets()
	if err != nil {
		return err
	}
	if asJSON {
		return c.encode(list)
	}
	for _, p := range list {
		fmt.Fprintf(c.Stdout, "%-32s %s; %s\n", p.ID, p.Description, p.Loads)
	}
	_, err = fmt.Fprintf(c.Stdout, "Next: accelgate bench run %s\n", list[0].ID)
	return err
}

func (c *Command) benchRun(ctx context.Context, b *benchRun, args []string) (int, error) {
	file, err := b.configuration(args)
	if err != nil {
		return 0, err
	}
	if err := c.readSignKey(b); err != nil {
		return 0, err
	}
	env := c.env()
	shard, err := b.sharded(c.Now())
	if err != nil {
		return 0, err
	}
	if shard != nil {
		env.Kinds = withShard(shard)
	}
	options := measure.Options{HostOptions: b.HostOptions, MeasureOptions: b.MeasureOptions, DemonstrationOptions: b.DemonstrationOptions}
	settled, err := env.ConfigOf(&options, file, true)
	if err != nil {
		return 0, err
	}
	s, err := env.OpenHere(ctx, &settled)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	run, err := s.Measure(ctx, nil)
	switch {
	case err != nil && shard != nil:
		return 0, err
	case err != nil:
		return 0, c.keepMeasured(s, b, err)
	case shard != nil:
		return c.concludeShard(s.Plan, b, shard, run)
	}
	return c.printMeasured(b, run)
}

// readSignKey reads the key before anything is measured.
func (c *Command) readSignKey(b *benchRun) (err error) {
	if b.signKey == "" {
		return nil
	}
	if b.shard != "" {
		return exit.Usagef("--sign-key: a part of a load is not signed: give the key to 'accelgate bench merge'")
	}
	b.signer, err = c.privateKey("--sign-key", b.signKey)
	return err
}

// printMeasured writes the envelopes and says what became of each load.
func (c *Command) printMeasured(b *benchRun, run *bench.Run) (int, error) {
	paths, err := b.export(run)
	if err != nil {
		return 0, err
	}
	if b.signer != nil {
		files := append(slices.Sorted(maps.Values(paths)), filepath.Join(b.Out, "run.json"))
		if err := signFiles(b.signer, files); err != nil {
			return 0, err
		}
	}
	if b.json {
		if err := c.encode(run); err != nil {
			return 0, err
		}
	} else if err := endpoint.PrintRun(c.Stdout, run, paths); err != nil {
		return 0, err
	}
	notPassed := func(r bench.Result) bool { return r.Outcome != bench.Passed }
	if slices.ContainsFunc(run.Results, notPassed) {
		return exit.NoMeasure, nil
	}
	return exit.Passed, nil
}

// export writes an envelope of each load that has numbers, and returns their
// paths by cell id.
func (b *benchRun) export(run *bench.Run) (map[string]string, error) {
	paths := map[string]string{}
	for i := range run.Results {
		r := &run.Results[i]
		if len(r.Samples) == 0 {
			continue
		}
		prefix := ""
		if len(run.Results) > 1 || b.sweeps() {
			prefix = endpoint.Prefix(r.Cell)
		}
		path, err := export.Envelope(run, r, b.Out, prefix)
		if err != nil {
			return paths, fmt.Errorf("write the envelope of %s: %w", text.OneLine(r.Cell.ID()), err)
		}
		paths[r.Cell.ID()] = path
	}
	return paths, nil
}

// keepMeasured writes what was finished before an error, which it returns.
func (c *Command) keepMeasured(s *measure.Session, b *benchRun, err error) error {
	if s.Partial == nil || len(s.Partial.Results) == 0 {
		return err
	}
	paths, exportErr := b.export(s.Partial)
	if saveErr := measure.SaveRun(s.Plan.OutPath("run.json"), s.Partial); saveErr != nil || exportErr != nil {
		return errors.Join(err, exportErr, saveErr)
	}
	return fmt.Errorf("%w\nwhat was measured is kept, %s in %s: fix it and start again", err, text.Plural(len(paths), "envelope"), b.Out)
}
