package lowrank_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*lowrank.Settings)
		want   string
	}{
		{func(s *lowrank.Settings) { *s = lowrank.Settings{} }, "rank ratio 0 freezes nothing"},
		{func(s *lowrank.Settings) { s.RankRatio = 0 }, "upstream's default is 0.5"},
		{func(s *lowrank.Settings) { s.RankRatio = -.5 }, "above 0"},
		{func(s *lowrank.Settings) { s.RankRatio = 1.01 }, "at most 1"},
		{func(s *lowrank.Settings) { s.RankRatio = math.NaN() }, "above 0"},
		{func(s *lowrank.Settings) { s.Compute = tensor.BF16 }, "float64 or float32"},
		{func(s *lowrank.Settings) { s.Storage = tensor.Float8E4M3FN }, "bfloat16"},
		{func(s *lowrank.Settings) { s.Storage = "" }, "storing factors"},
		{func(s *lowrank.Settings) { s.Tolerance = -1 }, "tolerance"},
		{func(s *lowrank.Settings) { s.Tolerance = math.Inf(1) }, "finite"},
		{func(s *lowrank.Settings) { s.BoundFactor = 0 }, "bound factor"},
		{func(s *lowrank.Settings) { s.MaxDegrees = 91 }, "degrees"},
		{func(s *lowrank.Settings) { s.Patterns = []string{"q", ""} }, "empty pattern"},
	} {
		s := lowrank.Defaults()
		c.change(&s)
		_, err := lowrank.Job{Original: model(tensor.F16), Settings: s, Solver: svd.Go()}.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", s, err, c.want)
		}
	}
	for _, j := range []lowrank.Job{{Settings: lowrank.Defaults()}, {Original: memory{}, Settings: lowrank.Defaults(), Workers: -1}, {Original: memory{}, Settings: lowrank.Defaults(), Memory: -1}} {
		if _, err := j.Run(t.Context()); err == nil {
			t.Errorf("%+v runs", j)
		}
	}
}

// TestNothingCompared: upstream calls it a success.
func TestNothingCompared(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]memory{
		"no tensors": {},
		"no targets": {"lm_head.weight": normal(source(1), tensor.F16, 4, 4, 1)},
		"one row":    {wide: normal(source(1), tensor.F16, 1, 9, 1)},
	} {
		r := run(t, lowrank.Job{Original: m, Settings: lowrank.Defaults()})
		if r.Summary.Passed() || r.Summary.SuccessRate != 0 || r.Summary.Total != 0 {
			t.Errorf("%s: %+v", name, r.Summary)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSkipped: what the ratio freezes nothing of is not compared, and said.
func TestSkipped(t *testing.T) {
	t.Parallel()
	m := model(tensor.F16)
	m["x.q_proj.self_attn.q_proj.weight"] = normal(source(2), tensor.F16, 3, 9, 1)
	s := lowrank.Defaults()
	s.RankRatio = .3
	r := run(t, lowrank.Job{Original: m, Settings: s})
	if r.Summary.Total != 3 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "freezes none of 3") {
		t.Errorf("%+v, %+v", r.Summary, r.Skipped)
	}
}

func TestQuantizedWeightFails(t *testing.T) {
	t.Parallel()
	m := model(tensor.F16)
	m[tall] = tensor.Tensor{DType: tensor.Int8, Shape: []int{4, 4}, Data: make([]byte, 16)}
	r := run(t, lowrank.Job{Original: m, Settings: lowrank.Defaults()})
	if p := r.Parameters[1]; r.Summary.Failed != 1 || p.Name != tall || p.Faults[0].Kind != lowrank.Format {
		t.Errorf("%+v, %+v", r.Summary, p)
	}
}

// counting counts how many decompositions run at once, and can end the run.
type counting struct {
	svd.Solver
	now, maximum, all atomic.Int64
	call              func(n int64)
}

func (c *counting) Thin(a []float64, m, n int) (svd.Factors, error) {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	for maximum := c.maximum.Load(); now > maximum && !c.maximum.CompareAndSwap(maximum, now); maximum = c.maximum.Load() {
	}
	if all := c.all.Add(1); c.call != nil {
		c.call(all)
	}
	return c.Solver.Thin(a, m, n)
}

func many(n int) memory {
	m := memory{}
	for i := range n {
		m[fmt.Sprintf("layers.%d.self_attn.q_proj.weight", i)] = normal(source(uint64(i)), tensor.F16, 12+i%5, 20, .02)
	}
	return m
}

// TestLimits: workers and memory bound what runs at once, and change nothing in
// the report.
func TestLimits(t *testing.T) {
	t.Parallel()
	m := many(40)
	want := run(t, lowrank.Job{Original: m, Settings: lowrank.Defaults(), Workers: 1})
	if len(want.Parameters) != 40 || want.Parameters[2].Name != "layers.10.self_attn.q_proj.weight" {
		t.Fatalf("%d parameters", len(want.Parameters))
	}
	for _, c := range []struct {
		workers int
		memory  int64
		maximum int64
	}{{1, 0, 1}, {5, 0, 5}, {16, 1, 1}, {0, 0, 64}} {
		solver := &counting{Solver: svd.Go()}
		got := run(t, lowrank.Job{Original: m, Settings: lowrank.Defaults(), Solver: solver, Workers: c.workers, Memory: c.memory})
		if maximum := solver.maximum.Load(); maximum > c.maximum {
			t.Errorf("%d workers, %d bytes: %d at once", c.workers, c.memory, maximum)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers, %d bytes: the report is another one", c.workers, c.memory)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	solver := &counting{Solver: svd.Go(), call: func(n int64) {
		if n == 5 {
			cancel()
		}
	}}
	j := lowrank.Job{Original: many(40), Settings: lowrank.Defaults(), Solver: solver, Workers: 2}
	if r, err := j.Run(ctx); err != context.Canceled || r.Parameters != nil {
		t.Errorf("%v, %+v", err, r)
	}
	if all := solver.all.Load(); all > 6 || solver.now.Load() != 0 {
		t.Errorf("%d decompositions, %d still running", all, solver.now.Load())
	}
	if _, err := j.RunPart(ctx, lowrank.LPT, 2, 0); err != context.Canceled {
		t.Errorf("a part: %v", err)
	}
}

// TestSummary adds up what its parameters say.
func TestSummary(t *testing.T) {
	t.Parallel()
	r := run(t, lowrank.Job{Original: model(tensor.BF16), Settings: with(tensor.Float32, tensor.BF16)})
	var elements, outside, ulps int
	var largest, sum, squares, norm float64
	for _, p := range r.Parameters {
		d := p.Difference
		elements, outside, largest = elements+d.Elements, outside+d.Outside, largest+d.Max
		sum, squares, norm = sum+d.Mean*float64(d.Elements), squares+d.RMS*d.RMS*float64(d.Elements), norm+d.Norm*d.Norm
	}
	for _, n := range r.Summary.ULPs {
		ulps += n
	}
	s := r.Summary
	if s.Elements != elements || s.Outside != outside || ulps != elements || elements != 12*30+31*9+16*16 {
		t.Errorf("%+v", s)
	}
	for name, pair := range map[string][2]float64{"legacy average": {s.LegacyAverage, largest / 3}, "mean": {s.Mean, sum / float64(elements)},
		"RMS": {s.RMS, math.Sqrt(squares / float64(elements))}, "relative": {s.Relative, math.Sqrt(squares / norm)}} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-12*pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
}
