package operators_test

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/suite/cases/operators"
	"github.com/accelgate/accelgate/internal/testing/operatortest"
)

const totalTime = "total_time_s"

// judge compares a run of one cell with what is recorded, as the gate does.
func judge(r bench.Result, p gate.Policy) gate.Comparison { return judgeIn("s", r, p) }

// judgeIn does so for a total in a unit.
func judgeIn(unit string, r bench.Result, p gate.Policy) gate.Comparison {
	run := &bench.Run{Schema: bench.RunSchema, Host: bench.Host{Label: "h", Fingerprint: bench.Fingerprint{CPU: "c", Cores: 2}},
		Metrics: []bench.Metric{{Name: totalTime, Unit: unit, Better: bench.Lower}}, Results: []bench.Result{r}}
	return gate.Compare("", nil, run, p)
}

// standing is "blocks", what would decide the finding, or the kind of the verdict's excuse.
func standing(v *gate.Verdict) string {
	switch {
	case v.Undecided():
		return string(v.DecidedBy)
	case v.Blocks:
		return "blocks"
	}
	return string(v.Excused())
}

// expect makes an Expected of recorded totals: name, value and tolerance in turn.
func expect(id string, references ...any) bench.Expected {
	e := bench.Expected{Cell: id, Description: "what " + id + " is", Metric: totalTime}
	for i := 0; i < len(references); i += 3 {
		e.References = append(e.References, bench.Reference{Name: references[i].(string), Value: references[i+1].(float64), Tolerance: references[i+2].(float64)})
	}
	return e
}

func policy(e bench.Expected) gate.Policy {
	p := gate.DefaultPolicy()
	p.Method = gate.MethodThreshold
	p.Expected = map[string]bench.Expected{e.Cell: e}
	p.Operators = map[string]gate.OperatorJudge{"": operators.Judge}
	return p
}

// timed is a cell that took so many seconds.
func timed(id string, seconds ...float64) bench.Result {
	return bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: totalTime, Values: seconds}}}
}

var entries, operating = operatortest.Entries, operatortest.Operating
