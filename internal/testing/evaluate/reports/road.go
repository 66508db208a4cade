// Package reports measures what a whole report promises: how often the gate as it
// is shipped turns a report on unchanged code red, how many slowed cells it finds,
// and what that costs, on each road that evidence takes. It builds run documents
// of recorded and of generated noise and gives them to [gate.Compare] and
// [gate.Decide], with the rules of other tools beside them.
package reports

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
)

// number is what is known of one cell. Larger values are worse.
type number struct {
	history    [][]float64 // earlier runs, the oldest first
	base, head []float64   // of pairs, or of two sessions
	sessions   int         // that head is of, one value each; 0 for one
	more       []float64   // values of head where the cell is measured again
}

// sample is one report: its cells without a change, and the same cells with a
// slow-down of each effect that is evaluated.
type sample struct {
	null   []number
	slowed func(cell int, effect float64) number
}

// road is a way to evidence with its reports.
type road struct {
	name    string
	paired  bool
	next    bool // the first of two new runs is the newest of the history
	samples []sample
	policy  gate.Policy
}

// verdict is what a rule says of one report.
type verdict struct {
	red    bool
	alarms []bool  // by cell
	cost   float64 // measurements a cell
}

const metric = "time"

func (r *road) judge(cells []number) verdict {
	run, ref := r.documents(cells)
	c := gate.Compare("baseline", ref, run, r.policy)
	if !r.paired {
		c = r.again(c, cells, run, ref)
	}
	v := verdict{alarms: make([]bool, len(cells)), red: gate.Decide([]gate.Comparison{c}, r.policy).Status == gate.StatusFailed}
	spent := 0
	for _, one := range c.Verdicts {
		if one.Cell == "" {
			continue
		}
		i := index(one.Cell)
		v.alarms[i] = one.Blocks && one.Finding == gate.Regressed
		spent += 2 * one.Evidence.Pairs
	}
	if !r.paired {
		for i := range run.Results {
			spent += len(run.Results[i].Samples[0].Values)
		}
	}
	v.cost = float64(spent) / float64(len(cells))
	return v
}

// again measures the cells a second time that the gate asks for.
func (r *road) again(c gate.Comparison, cells []number, run, ref *bench.Run) gate.Comparison {
	ids, why := gate.Open(c)
	more := false
	for _, id := range ids {
		i := index(id)
		if n := &cells[i]; why[id] == gate.Confirm && len(n.more) > 0 {
			result := &run.Results[i]
			result.Selected = len(n.head)
			result.Samples[0].Values = append(append([]float64(nil), n.head...), n.more...)
			more = true
		}
	}
	if !more {
		return c
	}
	return gate.Compare("baseline", ref, run, r.policy)
}

// documents are the run and its reference; that is nil for pairs without earlier runs.
func (r *road) documents(cells []number) (run, ref *bench.Run) {
	host := bench.Host{Label: "host", Fingerprint: bench.Fingerprint{OS: "linux", CPU: "cpu", Cores: 8}}
	metrics := []bench.Metric{{Name: metric, Unit: "ms", Better: bench.Lower}}
	run = &bench.Run{Schema: bench.RunSchema, Started: time.Unix(1, 0), Host: host, Metrics: metrics}
	if !r.paired || len(cells) > 0 && cells[0].history != nil {
		ref = &bench.Run{Schema: bench.RunSchema, Host: host, Metrics: metrics}
	}
	for i := range cells {
		n := &cells[i]
		if r.next {
			n = n.recordedFirst()
		}
		s := bench.Sample{Metric: metric, Values: n.head}
		if r.paired {
			s.Base = n.base
		}
		if ref != nil {
			old := bench.Sample{Metric: metric, Summary: summary(n), History: n.history}
			if len(n.history) > len(ref.Earlier) {
				ref.Earlier = make([]bench.Point, len(n.history))
			}
			ref.Results = append(ref.Results, result(i, old, 0))
		}
		run.Results = append(run.Results, result(i, s, n.sessions))
	}
	return run, ref
}

// recordedFirst has the first of two new runs in the history.
func (n *number) recordedFirst() *number {
	out := *n
	out.history, out.head, out.sessions = append(slices.Clip(n.history), n.head[:1]), n.head[1:], 0
	return &out
}

func result(i int, s bench.Sample, sessions int) bench.Result {
	return bench.Result{Cell: bench.Cell{Raw: fmt.Sprint("c", i)}, Outcome: bench.Passed, Samples: []bench.Sample{s}, Sessions: sessions}
}

func index(id string) (i int) {
	fmt.Sscanf(id, "c%d", &i)
	return i
}

// summary is what the committed baseline holds: the session before, or the newest
// of the earlier runs.
func summary(n *number) *bench.Summary {
	values := n.base
	for i := len(n.history) - 1; i >= 0 && len(values) < 5; i-- {
		values = append(values, n.history[i]...)
	}
	return &bench.Summary{Median: stats.Median(values), MAD: stats.MAD(values), N: len(values)}
}

// slower multiplies values.
func slower(values []float64, effect float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * (1 + effect)
	}
	return out
}

// finite leaves out the runs that lack a cell.
func runsOf(values []float64) (runs [][]float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			runs = append(runs, nil)
			continue
		}
		runs = append(runs, []float64{v})
	}
	return runs
}
