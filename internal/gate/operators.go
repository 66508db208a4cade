package gate

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// Operators are the operators of a cell that passed, which are to be compared with the recorded ones.
type Operators struct {
	Check    *compat.Check // of the total
	Recorded *bench.ExpectedOperators
	Got      *bench.Result
	Measured int  // values that the total rests on
	Original bool // by msmodeling's rules
}

// OperatorJudge compares operators for the kind of suite that recorded them. Its verdicts say what was seen, and the
// gate decides what blocks. It is pure, and does not change what it gets.
type OperatorJudge func(of Operators) (compat.OperatorCheck, []Verdict)

// operators compares the operators of a cell of a suite. Recorded ones that no kind judges are an error of
// accelgate, and must not pass.
func (p *Policy) operators(suite string, of Operators) (compat.OperatorCheck, []Verdict) {
	judge, o := p.Operators[suite], of.Check.Operators
	switch {
	case judge != nil:
		return judge(of)
	case LevelOf(of.Recorded.Level, Fail) == Off:
		return o, nil
	case len(of.Recorded.Entries) == 0:
		o.Status = compat.OperatorsNoBaseline
		return o, nil
	}
	return o, []Verdict{{Cell: of.Check.Cell, Metric: "operators", Reference: "operators", Finding: Missing, Delta: -100,
		Reason: "no kind of suite judges the recorded operators: report this error of accelgate"}}
}
