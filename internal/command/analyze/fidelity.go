// Package analyze runs the analyses of kind analysis on the command line, without a configuration: batch packing, and the
// fidelity of decomposed weights.
package analyze

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/artifact/download"
	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/text"
)

// Fidelity describes what is compared, and how it is printed.
type Fidelity struct {
	analysis.Source
	Factors, Compute, Storage, Family, Strategy, Part, Export, Format string
	Patterns, Merge                                                   []string
	Ratio, Tolerance, Degrees                                         float64
	World, Rank                                                       int
	JSON                                                              bool
}

// Run compares, and returns the exit code.
func (o *Fidelity) Run(ctx context.Context, e *measure.Env) (int, error) {
	if err := o.check(); err != nil {
		return 0, err
	}
	if len(o.Merge) > 0 {
		return o.merge(e.Stdout)
	}
	o.Getenv, o.Progress = e.Getenv, download.Follow(e.Stderr)
	model, err := analysis.OpenModel(ctx, o.Source)
	if errors.Is(err, analysis.ErrNotHere) {
		return 0, exit.Usagef("--model: %w", err)
	}
	if err != nil {
		return 0, err
	}
	defer model.Close()
	e.WarnAll(model.Warnings)
	job, done, err := o.job(model)
	if err != nil {
		return 0, err
	}
	defer done()
	switch {
	case o.Export != "":
		return o.save(ctx, e.Stdout, job)
	case o.World > 0:
		return o.share(ctx, e.Stdout, job)
	}
	var reports []lowrank.Report
	for _, v := range o.variants() {
		job.Settings.Compute, job.Settings.Storage = v.Compute, v.Storage
		r, err := job.Run(ctx)
		if err != nil {
			return 0, err
		}
		reports = append(reports, r)
	}
	return exitOfFidelity(reports), o.print(e.Stdout, model.Name, reports)
}

func (o *Fidelity) check() error {
	if o.JSON {
		o.Format = "json"
	}
	switch {
	case !slices.Contains([]string{"text", "legacy", "json"}, o.Format):
		return exit.Usagef("--format %.40q: use text, legacy or json", o.Format)
	case o.World < 0 || o.World > lowrank.MaxWorld || o.World == 0 && (o.Rank != 0 || o.Part != ""):
		return exit.Usagef("--rank and --part belong to --world-size, 1 to %d: give all three", lowrank.MaxWorld)
	case o.World > 0 && (o.JSON || o.Format != "text"):
		return exit.Usagef("--world-size writes a part: leave --format out, and give it to --merge")
	case o.World > 0 && o.Part == "":
		return exit.Usagef("--world-size needs a file for this rank's results: add --part %d.json", o.Rank)
	case o.Export != "" && (o.Factors != "" || o.World > 0):
		return exit.Usagef("--export saves factors that are made here: leave --factors and --world-size out")
	case o.World > 0 && o.several():
		return exit.Usagef("--world-size shares one combination: add --compute and --storage")
	case o.Export != "" && o.several():
		return exit.Usagef("--export saves one combination: add --compute and --storage")
	}
	return nil
}

func (o *Fidelity) several() bool { return o.Compute == "" && o.Storage == "" && o.Factors == "" }

// variants are what is asked for, or the common ones.
func (o *Fidelity) variants() []analysis.Variant {
	if o.several() && o.Format != "legacy" {
		return analysis.Variants
	}
	v := analysis.Variant{Compute: tensor.DType(o.Compute), Storage: tensor.DType(o.Storage)}
	if o.Factors != "" {
		v.Compute = cmp.Or(v.Compute, tensor.Float64)
		return []analysis.Variant{v}
	}
	v.Compute = cmp.Or(v.Compute, tensor.Float64)
	v.Storage = cmp.Or(v.Storage, v.Compute)
	return []analysis.Variant{v}
}

// job is what is compared; done closes what it reads.
func (o *Fidelity) job(model *analysis.Model) (job lowrank.Job, done func() error, err error) {
	done = func() error { return nil }
	s := lowrank.Defaults()
	s.Model, s.Patterns, s.RankRatio, s.Tolerance, s.MaxDegrees = cmp.Or(o.Family,
		model.Family), o.Patterns, o.Ratio, o.Tolerance, o.Degrees
	v := o.variants()[0]
	s.Compute, s.Storage = v.Compute, v.Storage
	job = lowrank.Job{Original: model.Checkpoint, Settings: s}
	if o.Revision != "" && !strings.Contains(model.Name, "@") {
		return job, done, exit.Usagef("--revision is about models of the hub: leave it out, as %s is here", text.OneLine(model.Name))
	}
	if o.Factors != "" {
		factors, err := lowrank.Open(o.Factors)
		if err != nil {
			return job, done, exit.Usagef("--factors: %w", err)
		}
		job.Factors, done = factors, factors.Close
	} else if err := s.Check(); err != nil {
		return job, done, exit.AsUsage(err)
	}
	return job, done, nil
}

// exitOfFidelity is green only if all that should be compared was, and the first
// combination is within the tolerance.
func exitOfFidelity(reports []lowrank.Report) int {
	for i, r := range reports {
		switch {
		case r.Summary.Total == 0:
			return exit.NoMeasure
		case r.Summary.Failed > 0 || i == 0 && !r.Summary.Passed():
			return exit.GateFailed
		}
	}
	return exit.Passed
}

func (o *Fidelity) print(w io.Writer, model string, reports []lowrank.Report) error {
	if reports[0].Summary.Total == 0 {
		return fmt.Errorf("no parameter of %s was compared: name its family with --family, or parts of its weights' names with --patterns",
			text.OneLine(model))
	}
	var err error
	switch o.Format {
	case "legacy":
		err = reports[0].WriteLegacy(w)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		err = e.Encode(map[string]any{"model": model, "reports": reports})
	default:
		err = fidelityText(w, model, reports)
	}
	return err
}

// share does one rank's share and says how well the work is shared.
func (o *Fidelity) share(ctx context.Context, w io.Writer, job lowrank.Job) (int, error) {
	items, _, err := job.Work()
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	part, err := job.RunPart(ctx, lowrank.Strategy(o.Strategy), o.World, o.Rank)
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	var data bytes.Buffer
	if err := part.Write(&data); err != nil {
		return 0, err
	}
	if err := atomicfile.Write(o.Part, data.Bytes()); err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "rank %d of %d: %s in %s\n", o.Rank, o.World, text.Plural(len(part.Entries), "parameter"), text.OneLine(o.Part))
	for _, s := range lowrank.Strategies {
		a, err := lowrank.Assign(items, o.World, s)
		if err != nil {
			return 0, exit.AsUsage(err)
		}
		fmt.Fprintf(w, "  %-12s the slowest rank takes %.3f x of the bound\n", s, a.Ratio)
	}
	fmt.Fprintln(w, "Next: accelgate analyze fidelity --merge FILES, with the files of all ranks")
	return exit.Passed, nil
}

func (o *Fidelity) merge(w io.Writer) (int, error) {
	var parts []lowrank.Part
	for _, name := range o.Merge {
		file, err := os.Open(name)
		if err != nil {
			return 0, exit.Usagef("--merge: %w: name the files that ranks wrote with --part", err)
		}
		part, err := lowrank.ReadPart(file)
		file.Close()
		if err != nil {
			return 0, exit.Usagef("--merge %s: %w", text.OneLine(name), err)
		}
		parts = append(parts, part)
	}
	merged, err := lowrank.Merge(parts)
	if err != nil {
		return 0, exit.Usagef("--merge: %w", err)
	}
	reports := []lowrank.Report{merged}
	return exitOfFidelity(reports), o.print(w, fmt.Sprintf("%s together", text.Plural(len(parts), "part")), reports)
}

// verify is the command that checks exported factors.
func (o *Fidelity) verify() judge.Line {
	l := judge.Line("accelgate analyze fidelity").Add("--model", o.Name).Add("--revision", o.Revision).Add("--cache", o.Cache)
	return l.Add("--family", o.Family).List("--patterns", o.Patterns).Add("--factors", o.Export)
}

func (o *Fidelity) save(ctx context.Context, w io.Writer, job lowrank.Job) (int, error) {
	if err := os.Mkdir(o.Export, 0o755); err != nil {
		return 0, exit.Usagef("--export: %w: name a new folder", err)
	}
	if err := job.Export(ctx, o.Export); err != nil {
		return 0, errors.Join(err, os.RemoveAll(o.Export)) // it was not there before
	}
	_, err := fmt.Fprintf(w, "factors in %s\nNext: %s\n", text.OneLine(o.Export), o.verify())
	return exit.Passed, err
}
