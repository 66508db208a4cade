package flashinfer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// ApplyLimits say which traces may name a solution. A zero number limits nothing.
type ApplyLimits struct {
	MaxAtol, MaxRtol float64 // largest errors that a trace may have
	// RequiredMatchedRatio is the least share of matching elements. A trace that
	// does not state it is left out.
	RequiredMatchedRatio float64
	Hardware             string // "" is the only device of the traces
}

// applySchema names the form of an [ApplyTable].
const applySchema = "accelgate-apply/1"

// ApplyTable is which solution to call for which sizes: what flashinfer-bench's
// apply looks up at run time. Index and DefBest have the form of its own cache
// (flashinfer_bench/apply/table.py): keys of Index are the text of its ApplyKey.
type ApplyTable struct {
	Schema   string `json:"schema"`
	Hardware string `json:"hardware"`
	// Index has, by definition and key, the name of the fastest solution.
	Index map[string]map[string]string `json:"index"`
	// DefBest has, by definition, the solution that is the fastest for most keys.
	DefBest map[string]string `json:"def_best"`
	Choices []Applied         `json:"choices"`            // the same with its numbers, in the order of definitions and axes
	LeftOut map[string]int    `json:"left_out,omitempty"` // traces by the reason why they name no solution

	winners []*Trace
}

// Applied is the choice for one key.
type Applied struct {
	Definition string         `json:"definition"`
	Axes       map[string]int `json:"axes"` // all variable ones
	Solution   string         `json:"solution"`
	// LatencyMS and Speedup are geometric means over the workloads of the key.
	LatencyMS        float64   `json:"latency_ms"`
	Speedup          float64   `json:"speedup_factor,omitempty"`
	MaxAbsoluteError Deviation `json:"max_absolute_error"`
	MaxRelativeError Deviation `json:"max_relative_error"`
	Workloads        []string  `json:"workloads"` // uuids
}

// Deviation is an error of outputs, written as traces have it: what JSON has no
// number for is a text.
type Deviation float64

// MarshalJSON writes a number, "NaN" or "Infinity".
func (d Deviation) MarshalJSON() ([]byte, error) { return json.Marshal(number(float64(d))) }

// The reasons why a trace names no solution.
const (
	notPassed    = "not passed"
	noLatency    = "no latency above 0"
	tooFarOff    = "errors above the limits"
	noRatio      = "no matched ratio stated, or one below the limit"
	otherContent = "another content of the definition, solution or workload"
	noSolution   = "the dataset does not have the solution"
	otherDevice  = "another device"
	alsoFailed   = "the solution failed another workload of the same axes"
)

// Apply chooses, for each definition and each set of sizes that was measured, the
// fastest solution of the dataset: of those that were measured with the most
// workloads of these sizes the one with the lowest geometric mean of latencies, and
// of equals the first by name. The last trace of a case counts. A solution that
// failed one workload of these sizes is not chosen for them.
//
// It is an error if traces are of several devices and none is named, and if no
// trace names a solution.
func Apply(ds *Dataset, limits ApplyLimits) (*ApplyTable, error) {
	own, hardware, err := ofDevice(ds.Traces, limits.Hardware)
	if err != nil {
		return nil, err
	}
	t := &ApplyTable{
		Schema:   applySchema,
		Hardware: hardware,
		Index:    map[string]map[string]string{},
		DefBest:  map[string]string{},
		LeftOut:  map[string]int{},
	}
	if other := len(ds.Traces) - len(own); other > 0 {
		t.LeftOut[otherDevice] = other
	}
	groups := map[[2]string]map[string]*candidate{} // by definition and key, then solution
	for _, trace := range Last(own) {
		why := limits.refuse(ds, trace)
		at := [2]string{trace.Definition, applyKey(trace.Workload.Axes)}
		if groups[at] == nil {
			groups[at] = map[string]*candidate{}
		}
		c := groups[at][trace.Solution]
		if c == nil {
			c = &candidate{solution: trace.Solution}
			groups[at][trace.Solution] = c
		}
		if why != "" {
			t.LeftOut[why]++
			c.failed = c.failed || why == notPassed
			continue
		}
		c.traces = append(c.traces, trace)
	}
	for at, candidates := range groups {
		t.choose(at[0], at[1], candidates)
	}
	if len(t.Choices) == 0 {
		return nil, fmt.Errorf(
			"no solution can be applied: of %d traces of %s, left out are %s; measure with 'accelgate kernels run', or give wider limits",
			len(own), quote(hardware), t.reasons())
	}
	t.finish()
	return t, nil
}

// candidate is a solution for one key.
type candidate struct {
	solution string
	traces   []*Trace
	failed   bool
}

// latency is the geometric mean over the workloads.
func (c *candidate) latency() float64 {
	return geometric(c.traces, func(p *Performance) float64 { return p.LatencyMS })
}

func geometric(traces []*Trace, of func(*Performance) float64) float64 {
	sum := 0.0
	for _, t := range traces {
		sum += math.Log(of(t.Evaluation.Performance))
	}
	return math.Exp(sum / float64(len(traces)))
}

// Last keeps the last trace of each definition, solution, workload and device, in the
// order in which the cases came first.
func Last(traces []*Trace) (last []*Trace) {
	at := map[[4]string]int{}
	for _, t := range traces {
		k := [4]string{t.Definition, t.Solution, t.Workload.UUID, t.Evaluation.Environment.Hardware}
		i, known := at[k]
		if !known {
			at[k] = len(last)
			last = append(last, t)
			continue
		}
		last[i] = t
	}
	return last
}

// refuse returns why a trace names no solution, "" if it does.
func (l *ApplyLimits) refuse(ds *Dataset, t *Trace) string {
	e := t.Evaluation
	switch {
	case e.Status != Passed:
		return notPassed
	case e.Performance == nil || e.Performance.LatencyMS <= 0:
		return noLatency
	case ds.Definition(t.Definition) == nil || ds.Solution(t.Solution) == nil:
		return noSolution
	case ds.stale(t) != "":
		return otherContent
	case l.MaxAtol > 0 && !(e.Correctness.MaxAbsoluteError <= l.MaxAtol) || l.MaxRtol > 0 && !(e.Correctness.MaxRelativeError <= l.MaxRtol):
		return tooFarOff
	case l.RequiredMatchedRatio > 0 && !(e.Correctness.matchedRatio() >= l.RequiredMatchedRatio):
		return noRatio
	}
	return ""
}

// matchedRatio is NaN where the evaluator did not state it.
func (c *Correctness) matchedRatio() float64 {
	var extra struct {
		MatchedRatio *float64 `json:"matched_ratio"`
	}
	if json.Unmarshal(c.Extra, &extra) != nil || extra.MatchedRatio == nil {
		return math.NaN()
	}
	return *extra.MatchedRatio
}

func (t *ApplyTable) choose(definition, key string, candidates map[string]*candidate) {
	var best *candidate
	for _, c := range candidates {
		if c.failed && len(c.traces) > 0 {
			t.LeftOut[alsoFailed] += len(c.traces)
		}
		if c.failed || len(c.traces) == 0 {
			continue
		}
		if best == nil ||
			cmp.Or(len(best.traces)-len(c.traces), cmp.Compare(c.latency(), best.latency()), cmp.Compare(c.solution, best.solution)) < 0 {
			best = c
		}
	}
	if best == nil {
		return
	}
	a := Applied{Definition: definition, Axes: best.traces[0].Workload.Axes, Solution: best.solution, LatencyMS: best.latency(),
		Speedup: geometric(best.traces, func(p *Performance) float64 { return p.SpeedupFactor })}
	for _, trace := range best.traces {
		c := trace.Evaluation.Correctness
		a.MaxAbsoluteError = max(a.MaxAbsoluteError, Deviation(c.MaxAbsoluteError))
		a.MaxRelativeError = max(a.MaxRelativeError, Deviation(c.MaxRelativeError))
		a.Workloads = append(a.Workloads, trace.Workload.UUID)
	}
	t.Choices, t.winners = append(t.Choices, a), append(t.winners, best.traces...)
	if t.Index[definition] == nil {
		t.Index[definition] = map[string]string{}
	}
	t.Index[definition][key] = best.solution
}

// finish sorts the choices, and counts which solution wins most keys.
func (t *ApplyTable) finish() {
	slices.SortFunc(t.Choices, func(a, b Applied) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), compareAxes(a.Axes, b.Axes))
	})
	for definition, index := range t.Index {
		wins := map[string]int{}
		for _, solution := range index {
			wins[solution]++
		}
		best := ""
		for _, solution := range slices.Sorted(maps.Keys(wins)) {
			if best == "" || wins[solution] > wins[best] {
				best = solution
			}
		}
		t.DefBest[definition] = best
	}
}

func compareAxes(a, b map[string]int) int {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if d := cmp.Compare(a[name], b[name]); d != 0 {
			return d
		}
	}
	return cmp.Compare(len(a), len(b))
}

// reasons lists why traces were left out, with their numbers.
func (t *ApplyTable) reasons() string {
	list := ""
	for _, why := range slices.Sorted(maps.Keys(t.LeftOut)) {
		if list != "" {
			list += "; "
		}
		list += text.Plural(t.LeftOut[why], "trace") + ": " + why
	}
	return cmp.Or(list, "none")
}

// Notes returns in one line which traces name no solution; "" if all do.
func (t *ApplyTable) Notes() string {
	if len(t.LeftOut) == 0 {
		return ""
	}
	return "left out: " + t.reasons()
}

// applyKey returns the key of sizes as flashinfer-bench's ApplyKey writes itself:
// the axes by name, and no features, of which upstream has none yet.
func applyKey(axes map[string]int) string {
	pairs := [][2]any{}
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		pairs = append(pairs, [2]any{name, axes[name]})
	}
	key, _ := compact(ordered{{"axes", pairs}, {"feats", []int{}}}) // texts and numbers cannot fail
	return string(key)
}
