package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// inputs is what all steps of a comparison read. It does not change after newInputs
// returns it.
type inputs struct {
	policy    Policy
	tool      *compat.Rules            // by which it is judged
	reference string                   // what the reference is called
	run, ref  *bench.Run               // ref is nil without a reference
	byID      map[string]*bench.Result // the reference's results
	cells     []cell                   // of the run, in its order
	ids       map[string]int32         // of cells, with their places
	metrics   []described              // of both sides
	absences  map[string][]lack        // by the id of the cell
	limits    limits                   // where no level is advisory
	byForce   map[Force]limits
	budgets   []*Budget
	lacking   map[string]lacked // by the suite of a budget
	host      hostShift
	unjudged  string // why speed is not judged by the reference; "" where it is
	elsewhere bool   // the reference is of another host
}

// cell is a result of the run with that of the reference. The result is without
// the values that chose the cell to be measured again.
type cell struct {
	id  string
	got *bench.Result
	ref *bench.Result // nil where the reference does not have the cell

	room []Verdict // for the verdicts of its metrics; may be nil
}

// newInputs reads both sides once. The verdicts are on the host and on metrics.
func newInputs(reference string, ref, run *bench.Run, p Policy) (*inputs, []Verdict) {
	ref = withoutExpected(ref, run, &p)
	in := &inputs{
		policy:    p,
		tool:      p.Compat.Rules(),
		reference: reference,
		run:       run,
		ref:       ref,
		byID:      ref.ByID(),
		metrics:   describedBy(ref, run),
		host:      shiftOf(ref, run),
	}
	results := possible(run, judgedOf(run), &p)
	in.cells, in.ids = make([]cell, len(results)), make(map[string]int32, len(results))
	for i, got := range results {
		id := got.Cell.ID()
		in.cells[i], in.ids[id] = cell{id: id, got: got, ref: in.byID[id]}, int32(i)
	}
	in.absences = lacks(in)
	in.budgets = append(rulesOf[*Budget](&p, run.Host.Label), in.fitted(rulesOf[*Fit](&p, run.Host.Label))...)
	in.lacking = map[string]lacked{}
	for i := range in.budgets {
		if suite := in.budgets[i].Suite; !in.lacking[suite].counted {
			n, gone := in.absentOf(suite)
			in.lacking[suite] = lacked{n, gone, true}
		}
	}
	unjudged, differ := machines(ref, run, &p)
	in.unjudged, in.elsewhere = unjudged, onAnotherHost(differ)
	in.byForce = limitsOf(in)
	in.limits = in.byForce[ByLevel]
	return in, append(coarser(ref, run), differ...)
}

// has reports whether the run has a cell.
func (in *inputs) has(id string) bool {
	_, ok := in.ids[id]
	return ok
}

// metric returns the description of a metric; nil where neither side has it.
func (in *inputs) metric(name string) *described {
	i := slices.IndexFunc(in.metrics, func(m described) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &in.metrics[i]
}
