package gate_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// entry is a cell as TensorSharp.TestMatrix holds it: a result of a run, or an
// entry of a baseline.
type entry struct {
	id              string
	skipped, ok     bool
	correct         *bool
	prefill, decode float64
}

// oracle is TensorSharp's comparison, written down from its rules. A nil
// baseline is none.
func oracle(baseline map[string]entry, current []entry, threshold float64) []string {
	type found struct {
		order    int
		id, text string
	}
	var findings []found
	add := func(order int, e entry, text string) {
		findings = append(findings, found{order, e.id, e.id + " " + text})
	}
	for _, now := range current {
		if now.skipped {
			continue
		}
		was, known := baseline[now.id]
		if baseline == nil || !known {
			add(5, now, "untracked")
			continue
		}
		if was.ok && !now.ok {
			if now.correct != nil && !*now.correct {
				add(2, now, "correctness -100")
			} else {
				add(1, now, "runtime -100")
			}
			continue
		}
		if !was.ok && now.ok {
			add(4, now, "improvement")
			continue
		}
		if !was.ok && !now.ok {
			continue
		}
		base, cur := was.prefill, now.prefill
		if now.decode > 0 || was.decode > 0 {
			base, cur = was.decode, now.decode
		}
		if base <= 0 {
			continue
		}
		if delta := (cur - base) / base * 100; delta < -threshold {
			add(3, now, fmt.Sprintf("throughput %v", delta))
		}
	}
	slices.SortStableFunc(findings, func(a, b found) int { return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.id, b.id)) })
	var lines []string
	for _, f := range findings {
		lines = append(lines, f.text)
	}
	return lines
}

// findings are the verdicts of the five classes that TensorSharp has, in order.
func findings(c gate.Comparison) []string {
	var lines []string
	for _, v := range c.Verdicts {
		if v.Excused() == gate.KnownFailure { // it finds nothing about these
			continue
		}
		switch v.Finding {
		case gate.Crashed:
			lines = append(lines, fmt.Sprintf("%s runtime %v", v.Cell, v.Delta))
		case gate.Incorrect:
			lines = append(lines, fmt.Sprintf("%s correctness %v", v.Cell, v.Delta))
		case gate.Regressed:
			lines = append(lines, fmt.Sprintf("%s throughput %v", v.Cell, v.Delta))
		case gate.Fixed:
			lines = append(lines, v.Cell+" improvement")
		case gate.Untracked:
			lines = append(lines, v.Cell+" untracked")
		}
		blocks := v.Finding == gate.Crashed || v.Finding == gate.Incorrect || v.Finding == gate.Regressed
		if blocks != (v.Blocks) {
			lines = append(lines, fmt.Sprintf("%s: %s has level %s", v.Cell, v.Finding, standing(&v)))
		}
	}
	return lines
}

// result is the entry as a run has it: a number of 0 may be there, or absent.
func (e entry) result() bench.Result {
	r := bench.Result{Cell: bench.Cell{Raw: e.id}, Outcome: bench.Passed}
	switch {
	case e.skipped:
		r.Outcome = bench.Skipped
	case e.correct != nil && !*e.correct:
		r.Outcome = bench.Incorrect
	case !e.ok:
		r.Outcome = bench.Failed
	}
	for name, v := range map[string]float64{"prefill_tps": e.prefill, "decode_tps": e.decode} {
		if v != 0 || len(e.id)%2 == 0 {
			r.Samples = append(r.Samples, bench.Sample{Metric: name, Values: []float64{v}})
		}
	}
	return r
}

func results(entries ...entry) *bench.Run {
	r := run()
	for _, e := range entries {
		r.Results = append(r.Results, e.result())
	}
	return r
}

// compatible compares with no fingerprint on the baseline, as TensorSharp
// writes it, and checks against the oracle.
func compatible(t *testing.T, name string, baseline, current []entry, threshold float64) []string {
	t.Helper()
	var ref *bench.Run
	var known map[string]entry
	if baseline != nil {
		ref, known = results(baseline...), map[string]entry{}
		ref.Host.Fingerprint = bench.Fingerprint{}
		for _, e := range baseline {
			known[e.id] = e
		}
	}
	c := gate.Compare("base", ref, results(current...), gate.Policy{Threshold: threshold, Compat: compat.TensorSharp})
	got := findings(c)
	if diff := gocmp.Diff(oracle(known, current, threshold), got); diff != "" {
		t.Errorf("%s (-oracle +gate):\n%s baseline %+v\n current %+v", name, diff, baseline, current)
	}
	seen := map[string]bool{}
	for _, v := range c.Verdicts {
		seen[v.Cell] = true
	}
	for _, e := range current {
		if !seen[e.id] {
			t.Errorf("%s: cell %s has no verdict", name, e.id)
		}
	}
	return got
}

// TestTensorSharpBoundaries has every boundary of its rules, each against what
// it must find and against the oracle.
func TestTensorSharpBoundaries(t *testing.T) {
	passes := func(prefill, decode float64) entry { return entry{id: "a", ok: true, prefill: prefill, decode: decode} }
	fails := entry{id: "a"}
	wrong := entry{id: "a", correct: new(false), decode: 50}
	right := entry{id: "a", ok: true, correct: new(true), decode: 50}
	for _, tt := range []struct {
		name      string
		was, is   entry
		threshold float64
		want      string
	}{
		{"exactly -10 %", passes(0, 100), passes(0, 90), 10, ""},
		{"-10.01 %", passes(0, 100), passes(0, 89.99), 10, "a throughput -10.010000000000005"},
		{"-10.0001 %, which our own rule rounds away", passes(0, 100), passes(0, 89.9999), 10, "a throughput -10.000100000000003"},
		{"-10 % that is not one in binary", passes(0, 0.8), passes(0, 0.72), 10, "a throughput -10.000000000000009"},
		{"a step of a tenth", passes(0, 0.5), passes(0, 0.4), 10, "a throughput -19.999999999999996"},
		{"base 0", passes(0, 0), passes(0, 50), 10, ""},
		{"both 0", passes(0, 0), passes(0, 0), 10, ""},
		{"current 0", passes(0, 50), passes(0, 0), 10, "a throughput -100"},
		{"both 0 in decode: prefill", passes(100, 0), passes(80, 0), 10, "a throughput -20"},
		{"prefill of a cell with decode is not judged", passes(100, 50), passes(10, 50), 10, ""},
		{"decode appears: not judged, and prefill is not tried", passes(100, 0), passes(10, 50), 10, ""},
		{"decode disappears", passes(100, 50), passes(100, 0), 10, "a throughput -100"},
		{"faster is not told", passes(0, 50), passes(0, 500), 10, ""},
		{"threshold 0 takes any drop", passes(0, 50), passes(0, 49.99), 0, "a throughput -0.01999999999999602"},
		{"threshold 0 and no change", passes(0, 50), passes(0, 50), 0, ""},

		{"correctness_ok null, failed", passes(0, 50), fails, 10, "a runtime -100"},
		{"correctness_ok true, failed", right, entry{id: "a", correct: new(true)}, 10, "a runtime -100"},
		{"correctness_ok false", right, wrong, 10, "a correctness -100"},
		{"null before, true now", passes(0, 50), right, 10, ""},
		{"true before, null now", right, passes(0, 50), 10, ""},
		{"failing in both", fails, wrong, 10, ""},
		{"passes again", fails, passes(0, 1), 10, "a improvement"},
		{"right again", wrong, right, 10, "a improvement"},
		{"skipped", passes(0, 50), entry{id: "a", skipped: true}, 10, ""},
	} {
		got := compatible(t, tt.name, []entry{tt.was}, []entry{tt.is}, tt.threshold)
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, s, tt.want)
		}
	}
	stale := []entry{passes(0, 50), {id: "stale", ok: true, decode: 9}}
	if got := compatible(t, "stale", stale, []entry{passes(0, 50)}, 10); got != nil {
		t.Errorf("stale: %q, want nothing", got)
	}
	untracked := []entry{{id: "b", ok: true, decode: 1}, fails, {id: "B", correct: new(false)}}
	want := []string{"B untracked", "a untracked", "b untracked"}
	for name, baseline := range map[string][]entry{"untracked": {}, "no baseline": nil} {
		if diff := gocmp.Diff(want, compatible(t, name, baseline, untracked, 10)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTensorSharpAgainstTheOracle holds for every run and baseline.
func TestTensorSharpAgainstTheOracle(t *testing.T) {
	tokens := []float64{0, 0, 0.4, 0.5, 0.72, 0.8, 89.99, 90, 90.1, 100, 110}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		speed := func() float64 {
			if r.IntN(3) == 0 {
				return r.Float64() * 100
			}
			return tokens[r.IntN(len(tokens))]
		}
		entries := func(skips bool) []entry {
			var list []entry
			for _, i := range r.Perm(12)[:r.IntN(12)] {
				e := entry{id: strings.Repeat("x", 1+i%3) + string(rune('A'+i*5)), ok: r.IntN(4) > 0, prefill: speed(), decode: speed()}
				if e.skipped = skips && r.IntN(8) == 0; e.skipped {
					e.ok = false
				}
				if !e.skipped && r.IntN(2) == 0 {
					e.correct = new(e.ok || r.IntN(2) == 0)
				}
				list = append(list, e)
			}
			return list
		}
		baseline := entries(false)
		if r.IntN(10) == 0 {
			baseline = nil
		}
		compatible(t, fmt.Sprint("seed ", seed), baseline, entries(true), []float64{0, 5, 10, 10, 100}[r.IntN(5)])
		if t.Failed() {
			return
		}
	}
}

// TestTensorSharpIsNeverGreenWithoutEvidence: where TensorSharp would be green
// for want of a baseline or of any cell that passed, we say so.
func TestTensorSharpIsNeverGreenWithoutEvidence(t *testing.T) {
	p := gate.Policy{Threshold: 10, Compat: compat.TensorSharp, RequireBaseline: true}
	passes, fails := entry{id: "a", ok: true, decode: 50}, entry{id: "a"}
	other := results(passes)
	other.Host.Accelerators = []bench.Accelerator{{Model: "H200"}}
	here := results(passes)
	here.Host.Accelerators = []bench.Accelerator{{Model: "H100"}}
	for _, tt := range []struct {
		name     string
		ref, got *bench.Run
		want     gate.Status
	}{
		{"no baseline", nil, results(passes), gate.StatusActionRequired},
		{"nothing tracked", results(), results(passes), gate.StatusActionRequired},
		{"base 0", results(entry{id: "a", ok: true}), results(passes), gate.StatusActionRequired},
		{"nothing to judge", results(entry{id: "a", ok: true}), results(entry{id: "a", ok: true}), gate.StatusActionRequired},
		{"no cell passed, untracked", results(), results(fails), gate.StatusNoEvidence},
		{"no cell passed, as before", results(fails), results(fails), gate.StatusNoEvidence},
		{"no cells", results(passes), results(), gate.StatusNoEvidence},
		{"all skipped", results(passes), results(entry{id: "a", skipped: true}), gate.StatusNoEvidence},
		{"another accelerator", other, here, gate.StatusFailed},
		{"fine", results(passes), results(passes), gate.StatusPassed},
	} {
		if d := gate.Decide([]gate.Comparison{gate.Compare("base", tt.ref, tt.got, p)}, p); d.Status != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, d, tt.want)
		}
	}
}

// TestTensorSharpJudgesNothingElse: other metrics are neither judged nor
// missed, and TensorSharp has no cells that a limit left out.
func TestTensorSharpJudgesNothingElse(t *testing.T) {
	ref := run(cell("a", "decode_tps", 100.0, "ttft_ms", 1.0, "checksum", 1.0), cell("b", "decode_tps", 1.0))
	got := run(cell("a", "decode_tps", 100.0, "ttft_ms", 99.0, "checksum", 2.0))
	got.LeftOut = []bench.LeftOut{{Cell: "b", Reason: "over the budget"}}
	c := gate.Compare("base", ref, got, gate.Policy{Threshold: 10, Compat: compat.TensorSharp})
	if diff := gocmp.Diff([]string{"a decode_tps unchanged 0", "b skipped 0"}, lines(c)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}
