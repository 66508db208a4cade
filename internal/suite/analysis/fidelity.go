package analysis

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

const decomposeTime = "decompose_ms"

// fidelityMetrics: counts are equal or not; errors depend on the last bits of a
// solver, which differ between processors.
var fidelityMetrics = []bench.Metric{
	{
		Name:       "success_rate",
		Unit:       "%",
		Better:     bench.Higher,
		Exact:      true,
		Definition: "100 * (identical + close) / all parameters that should be compared",
	},
	{Name: "different_parameters", Better: bench.Lower, Exact: true, Definition: "beyond tolerance + tolerance * |original| somewhere"},
	{Name: "compared_parameters", Better: bench.Higher, Exact: true},
	{Name: "relative_frobenius", Better: bench.Lower, Definition: "norm of all differences / norm of all weights"},
	{Name: "max_difference", Better: bench.Lower},
	{Name: "mean_difference", Better: bench.Lower, Definition: "mean over all elements"},
	{
		Name:       "legacy_average_difference",
		Better:     bench.Lower,
		Definition: "mean over parameters of their largest difference, which the original calls average",
	},
	{Name: "rms_difference", Better: bench.Lower},
	{Name: "orthogonality", Better: bench.Lower, Definition: "max |UtU - I|, of U and V"},
	{Name: "degrees", Unit: "degrees", Better: bench.Lower, Definition: "worst deviation from 90 between a frozen and a trained vector"},
	{Name: decomposeTime, Unit: "ms", Better: bench.Lower},
}

// fidelity measures one checkpoint in several formats.
type fidelity struct {
	suite *Suite
	body  *fidelityBody

	mu    sync.Mutex // of opening
	model *Model
}

func (f *fidelity) add() {
	for i, v := range f.body.Variants {
		f.suite.add(point{
			tag:  tagFidelity,
			cell: f.body.cell(v),
			content: func() (string, error) {
				data, err := json.Marshal([]any{f.body, v, f.weights()})
				return fmt.Sprintf("%x", sha256.Sum256(data)), err
			},
			measure: func(ctx context.Context) (bench.Result, error) { return f.measure(ctx, v, i == 0) },
		})
	}
}

// cell names a combination of formats.
func (b *fidelityBody) cell(v Variant) bench.Cell {
	return cell(bench.Param{Key: "kind", Value: tagFidelity}, bench.Param{Key: "checkpoint", Value: cmp.Or(b.Name, shortName(b.Model))},
		bench.Param{Key: "formats", Value: string(v.Compute) + "-" + string(v.Storage)})
}

// shortName is what a cell calls a checkpoint: an id on the hub, or the last
// part of a path, which differs between machines.
func shortName(model string) string {
	switch {
	case model == "":
		return generated
	case filepath.IsAbs(model) || strings.HasPrefix(model, "."):
		return filepath.Base(model)
	}
	return model
}

// weights is a digest of the files of the checkpoint. What comes from the hub is
// known by its commit; under a branch it may be another one at any time.
func (f *fidelity) weights() string {
	path := f.suite.resolve(f.body.Model)
	switch {
	case f.body.Model == "":
		return generated
	case !isID(f.body.Model, path):
		return f.suite.contents.File(path)
	case commit.MatchString(f.body.Revision):
		return f.body.Revision
	}
	return rand.Text()
}

var commit = lazyregexp.New(`^[0-9a-f]{40}$`)

// settings are those of a variant; family is the checkpoint's own.
func (b *fidelityBody) settings(v Variant, family string) lowrank.Settings {
	s := lowrank.Defaults()
	s.Model, s.Patterns, s.Compute, s.Storage = cmp.Or(b.Family, family), b.Patterns, v.Compute, v.Storage
	for _, set := range []struct{ to, from *float64 }{{&s.RankRatio, b.RankRatio}, {&s.Tolerance, b.Tolerance}, {&s.MaxDegrees,
		b.MaxDegrees}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	return s
}

// open opens the checkpoint once.
func (f *fidelity) open(ctx context.Context) (*Model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.model != nil {
		return f.model, nil
	}
	getenv := func(name string) string { return worker.Getenv(f.suite.env.Environ, name) }
	name := f.body.Model
	if name != "" && !isID(name, f.suite.resolve(name)) {
		name = f.suite.resolve(name)
	}
	downloads := f.suite.env.Downloads
	if f.body.Cache != "" {
		downloads.Dir = f.suite.resolve(f.body.Cache)
	}
	opened, err := OpenModel(ctx, Source{
		Name:     name,
		Revision: f.body.Revision,
		Cache:    downloads.Dir,
		Limit:    downloads.Limit,
		Getenv:   getenv,
		Offline:  downloads.Offline,
	})
	if err == nil {
		f.model = opened
	}
	return opened, err
}

func (f *fidelity) close() error {
	if f.model == nil {
		return nil
	}
	return f.model.Close()
}

func (f *fidelity) measure(ctx context.Context, v Variant, first bool) (r bench.Result, err error) {
	model, err := f.open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return r, err
		}
		r.Outcome, r.Cause, r.Reason = bench.Failed, bench.CauseInput, err.Error()
		return r, nil
	}
	began := f.suite.env.Now()
	report, err := lowrank.Job{Original: model.Checkpoint, Settings: f.body.settings(v, model.Family)}.Run(ctx)
	if err != nil {
		return r, err
	}
	took := float64(f.suite.env.Now().Sub(began).Microseconds()) / 1000
	r.Context = map[string]string{
		"solver":      strings.Join(report.Solvers, ", "),
		"checkpoint":  model.Name,
		factTolerance: formatTolerance(report.Settings.Tolerance),
	}
	r.Warnings = append(r.Warnings, model.Warnings...)
	return f.result(r, report, took, first), nil
}

// result fails what could not be compared, at any level, and where the suite
// gates what is beyond the tolerance in the first combination of formats: coarser
// ones are meant to lose more, and are held against the baseline.
func (f *fidelity) result(r bench.Result, report lowrank.Report, took float64, first bool) bench.Result {
	s := report.Summary
	r.Outcome = bench.Passed
	switch {
	case s.Total == 0:
		r.Outcome, r.Cause = bench.Failed, bench.CauseInput
		r.Reason = "no parameter was compared: set fidelity.family or patterns so that they name this checkpoint's weights"
	case s.Failed > 0:
		r.Outcome, r.Reason = bench.Incorrect, firstFault(report)
	case s.Different > 0 && first && f.suite.body.Level == Fail:
		r.Outcome = bench.Incorrect
		r.Reason = fmt.Sprintf("%d of %s differ by more than the tolerance %g, by at most %.3g", s.Different,
			text.Plural(s.Total, "parameter"), report.Settings.Tolerance, s.Max)
	}
	if s.Compared == 0 {
		return r
	}
	for i, value := range []float64{s.SuccessRate, float64(s.Different), float64(s.Compared), s.Relative, s.Max, s.Mean,
		s.LegacyAverage, s.RMS, s.Deviation, s.Degrees, took} {
		r.Samples = append(r.Samples, bench.Sample{Metric: fidelityMetrics[i].Name, Values: []float64{value}})
	}
	return r
}

func firstFault(report lowrank.Report) string {
	for _, p := range report.Parameters {
		if len(p.Faults) > 0 {
			return fmt.Sprintf("%d of %s failed; %.200s: %s: %s", report.Summary.Failed, text.Plural(report.Summary.Total, "parameter"),
				p.Name, p.Faults[0].Kind, p.Faults[0].Detail)
		}
	}
	return fmt.Sprintf("%d of %s failed", report.Summary.Failed, text.Plural(report.Summary.Total, "parameter"))
}
