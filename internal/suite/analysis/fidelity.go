package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/osft"
)

const decomposeTime = "decompose_ms"

// fidelityMetrics: counts are equal or not; errors depend on the last bits of a
// solver, which differ between processors.
var fidelityMetrics = []bench.Metric{
	{Name: "success_rate", Unit: "%", Better: bench.Higher, Exact: true, Definition: "100 * (identical + close) / all parameters that should be compared"},
	{Name: "different_parameters", Better: bench.Lower, Exact: true, Definition: "beyond tolerance + tolerance * |original| somewhere"},
	{Name: "compared_parameters", Better: bench.Higher, Exact: true},
	{Name: "relative_frobenius", Better: bench.Lower, Definition: "norm of all differences / norm of all weights"},
	{Name: "max_difference", Better: bench.Lower},
	{Name: "mean_difference", Better: bench.Lower, Definition: "mean over all elements"},
	{Name: "legacy_average_difference", Better: bench.Lower, Definition: "mean over parameters of their largest difference, which the original calls average"},
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
	name := f.body.Model
	if name == "" {
		name = Generated
	}
	for _, v := range f.body.Variants {
		f.suite.add(point{
			tag: tagFidelity,
			cell: cell(bench.Param{Key: "kind", Value: tagFidelity}, bench.Param{Key: "checkpoint", Value: shortName(name)},
				bench.Param{Key: "formats", Value: string(v.Compute) + "-" + string(v.Storage)}),
			content: func() (string, error) {
				data, err := json.Marshal([]any{f.body, f.body.settings(v)})
				return fmt.Sprintf("%x", sha256.Sum256(data)), err
			},
			measure: func(ctx context.Context) (bench.Result, error) { return f.measure(ctx, v) },
		})
	}
}

// shortName is what a cell calls a checkpoint: an id on the hub, or the last
// part of a path, which differs between machines.
func shortName(model string) string {
	if filepath.IsAbs(model) || strings.HasPrefix(model, ".") {
		return filepath.Base(model)
	}
	return model
}

func (b *fidelityBody) settings(v Variant) osft.Settings {
	s := osft.Defaults()
	s.Model, s.Patterns, s.RankRatio, s.Tolerance, s.MaxDegrees = b.Family, b.Patterns, b.RankRatio, b.Tolerance, b.MaxDegrees
	if s.Model == "" {
		s.Model = b.Model
	}
	s.Compute, s.Storage = v.Compute, v.Storage
	return s
}

// open opens the checkpoint once.
func (f *fidelity) open(ctx context.Context) (*Model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.model != nil {
		return f.model, nil
	}
	getenv := environment(f.suite.env.Environ)
	name := f.body.Model
	if name != "" && !isID(name, f.suite.resolve(name)) {
		name = f.suite.resolve(name)
	}
	cache := f.body.Cache
	if cache != "" {
		cache = f.suite.resolve(cache)
	}
	model, err := OpenModel(ctx, Source{Name: name, Revision: f.body.Revision, Cache: cache, Getenv: getenv})
	f.model = model
	return model, err
}

// environment looks variables up in a list of NAME=VALUE.
func environment(environ []string) func(string) string {
	return func(name string) (value string) {
		for _, entry := range environ { // the last entry of a name counts
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				value = v
			}
		}
		return value
	}
}

func (f *fidelity) close() error {
	if f.model == nil {
		return nil
	}
	return f.model.Close()
}

func (f *fidelity) measure(ctx context.Context, v Variant) (r bench.Result, err error) {
	model, err := f.open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return r, err
		}
		r.Outcome, r.Cause, r.Reason = bench.Failed, bench.CauseInput, err.Error()
		return r, nil
	}
	solver, err := f.body.Solver.Solver()
	if err != nil {
		return r, err
	}
	began := f.suite.env.Now()
	report, err := osft.Job{Original: model.Checkpoint, Settings: f.body.settings(v), Solver: solver}.Run(ctx)
	if err != nil {
		return r, err
	}
	took := float64(f.suite.env.Now().Sub(began).Microseconds()) / 1000
	r.Context = map[string]string{"solver": strings.Join(report.Solvers, ", "), "checkpoint": model.Name}
	return f.result(r, report, took), nil
}

// result fails what could not be compared, at any level, and what is beyond the
// tolerance where the suite gates.
func (f *fidelity) result(r bench.Result, report osft.Report, took float64) bench.Result {
	s := report.Summary
	r.Outcome = bench.Passed
	switch {
	case s.Total == 0:
		r.Outcome, r.Cause = bench.Failed, bench.CauseInput
		r.Reason = "no parameter was compared: set fidelity.family or patterns so that they name this checkpoint's weights"
	case s.Failed > 0:
		r.Outcome, r.Reason = bench.Incorrect, firstFault(report)
	case s.Different > 0 && f.suite.body.Level == Fail:
		r.Outcome = bench.Incorrect
		r.Reason = fmt.Sprintf("%d of %d parameters differ by more than the tolerance %g, by at most %.3g", s.Different, s.Total, f.body.Tolerance, s.Max)
	}
	if s.Compared == 0 {
		return r
	}
	for i, value := range []float64{s.SuccessRate, float64(s.Different), float64(s.Compared), s.Relative, s.Max, s.Mean, s.LegacyAverage, s.RMS, s.Deviation, s.Degrees, took} {
		r.Samples = append(r.Samples, bench.Sample{Metric: fidelityMetrics[i].Name, Values: []float64{value}})
	}
	return r
}

func firstFault(report osft.Report) string {
	for _, p := range report.Parameters {
		if len(p.Faults) > 0 {
			return fmt.Sprintf("%d of %d parameters failed; %.200s: %s: %s", report.Summary.Failed, report.Summary.Total, p.Name, p.Faults[0].Kind, p.Faults[0].Detail)
		}
	}
	return fmt.Sprintf("%d of %d parameters failed", report.Summary.Failed, report.Summary.Total)
}
