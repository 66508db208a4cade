package optrace_test

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	gocmp "github.com/google/go-cmp/cmp"
)

// span is an event of a trace, in microseconds.
type span struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Start    float64        `json:"ts"`
	Length   float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

func (s span) end() float64 { return s.Start + s.Length }

func readSpans(t *testing.T, format string, spans []span) *optrace.Profile {
	t.Helper()
	data, err := json.Marshal(map[string]any{"traceEvents": spans})
	if err != nil {
		t.Fatal(err)
	}
	p, err := optrace.Formats[format](data)
	if err != nil {
		t.Fatalf("%v of %s", err, data)
	}
	return p
}

func value(t *testing.T, p *optrace.Profile, metric string) float64 {
	t.Helper()
	for _, v := range p.Values {
		if v.Metric == metric {
			return v.Value
		}
	}
	t.Fatalf("no %s in %v", metric, p.Values)
	return 0
}

// simulate schedules operators as msmodeling does: each starts when its stream
// is free and what it depends on has ended.
func simulate(r *rand.Rand, whole bool) (spans []span) {
	spans = []span{{Phase: "M", Name: "process_name", Args: map[string]any{"name": "analytic (PID: 0)"}}}
	var free [3]float64
	var ends []float64
	for i := range 1 + r.IntN(40) {
		stream, start := r.IntN(len(free)), 0.0
		for range r.IntN(3) {
			if len(ends) > 0 {
				start = max(start, ends[r.IntN(len(ends))])
			}
		}
		start = max(start, free[stream])
		took := r.Float64() * []float64{0.5, 3, 50}[r.IntN(3)]
		if whole {
			took = math.Round(took)
		}
		free[stream] = start + took
		ends = append(ends, start+took)
		spans = append(spans, span{Phase: "X", Name: "op" + strconv.Itoa(i%7), Category: "analytic",
			Start: math.Round(start), Length: math.Round(took), Thread: stream})
	}
	return spans
}

// TestCriticalPath compares with looking at all events for each step. Without
// rounding, every start is the end of another event or 0, so the path has no
// gaps; rounding opens gaps of 1 µs at most.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 2000 {
		whole := i%2 == 0
		spans := simulate(r, whole)
		p := readSpans(t, "msmodeling-trace", spans)
		want, steps := slowCriticalPath(spans[1:])
		if diff := gocmp.Diff(p.CriticalPath, want, near); diff != "" {
			t.Fatalf("-got +want:\n%s\nof %+v", diff, spans)
		}
		length, makespan := value(t, p, "critical_path_s"), value(t, p, "execution_time_s")
		gap := 0.0
		if !whole {
			gap = 1e-6 * float64(steps)
		}
		if length > makespan || length < makespan-gap || makespan > p.Total+1e-6*float64(steps) {
			t.Fatalf("critical path %v of %v in %d steps, total %v, of %+v", length, makespan, steps, p.Total, spans)
		}
	}
}

var near = gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })

// slowCriticalPath is the definition.
func slowCriticalPath(spans []span) (entries []bench.Entry, steps int) {
	sums := map[string]bench.Entry{}
	var order []string
	at := -1
	for {
		best := -1
		for i, s := range spans {
			if at >= 0 && (s.end() > spans[at].Start+1 || s.Start > spans[at].Start || s.Start == spans[at].Start && i >= at) {
				continue
			}
			if best < 0 || s.end() >= spans[best].end() {
				best = i
			}
		}
		if best < 0 {
			break
		}
		s, end := spans[best], spans[best].end()
		if at >= 0 {
			end = min(end, spans[at].Start)
		}
		e, ok := sums[s.Name]
		if !ok {
			order = append(order, s.Name)
		}
		sums[s.Name] = bench.Entry{Name: s.Name, Total: e.Total + (end-s.Start)/1e6, Calls: e.Calls + 1}
		at, steps = best, steps+1
	}
	for _, name := range order {
		entries = append(entries, sums[name])
	}
	slices.SortStableFunc(entries, func(a, b bench.Entry) int {
		if math.Abs(a.Total-b.Total) < 1e-12 {
			return 0
		}
		return cmp.Compare(b.Total, a.Total)
	})
	return entries, steps
}

// TestSelfTimes: each moment of a thread belongs to the innermost event that is
// under way, found here by looking at each microsecond.
func TestSelfTimes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var spans []span
		for thread := range 2 {
			nest(r, &spans, thread, 0, float64(20+r.IntN(40)), 0)
		}
		innermost := map[string]float64{}
		total := 0.0
		for thread := range 2 {
			for at := range 60 {
				inner := -1
				for i, s := range spans {
					if s.Thread == thread && s.Start <= float64(at) && s.end() >= float64(at+1) {
						inner = i // what is within another was appended after it
					}
				}
				if inner >= 0 {
					innermost[spans[inner].Name] += 1e-6
					total += 1e-6
				}
			}
		}
		r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		p := readSpans(t, "torch-trace", spans)
		got := map[string]float64{}
		for _, e := range p.Operators {
			if e.Total > 0 {
				got[e.Name] = e.Total
			}
		}
		if diff := gocmp.Diff(got, innermost, near); diff != "" || math.Abs(p.Total-total) > 1e-12 {
			t.Fatalf("total %v, want %v; -got +want:\n%s\nof %+v", p.Total, total, diff, spans)
		}
	}
}

// nest appends an event and what happens within it, with a name for each depth.
func nest(r *rand.Rand, spans *[]span, thread int, start, end float64, depth int) {
	*spans = append(*spans, span{Phase: "X", Name: "depth" + strconv.Itoa(depth), Category: "cpu_op", Start: start, Length: end - start, Thread: thread})
	for at := start; depth < 4; {
		from := at + float64(r.IntN(4))
		to := from + 1 + float64(r.IntN(12))
		if to > end || to-from == end-start { // events of one interval have no order
			return
		}
		nest(r, spans, thread, from, to, depth+1)
		at = to
	}
}

// TestBusy counts the microseconds in which each device does anything.
func TestBusy(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		var spans []span
		var used [2][100]bool
		sum := 0.0
		for range 1 + r.IntN(20) {
			s := span{Phase: "X", Name: "gemm", Category: "kernel", Process: r.IntN(2), Thread: r.IntN(3),
				Start: float64(r.IntN(80)), Length: float64(r.IntN(20))}
			for at := range int(s.Length) {
				used[s.Process][int(s.Start)+at] = true
			}
			sum += s.Length / 1e6
			spans = append(spans, s)
		}
		busy := 0.0
		for _, device := range used {
			for _, is := range device {
				if is {
					busy += 1e-6
				}
			}
		}
		p := readSpans(t, "torch-trace", spans)
		if got := value(t, p, "device_busy_s"); math.Abs(got-busy) > 1e-12 || math.Abs(p.Total-sum) > 1e-12 {
			t.Fatalf("busy %v, want %v; total %v, want %v, of %+v", got, busy, p.Total, sum, spans)
		}
	}
}
