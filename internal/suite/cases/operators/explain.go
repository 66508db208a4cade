package operators

import (
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/text"
)

// The bounds of a reason: names are whatever a program prints.
const (
	maxNamed = 3   // operators
	maxName  = 80  // runes of a name
	maxLine  = 200 // runes of a line that holds a name and numbers
)

// explain returns which operators are not as recorded: how much, by what, and
// their part of the change of the total.
func explain(check *compat.Check, violations []*compat.OperatorRow) string {
	var said []string
	for _, r := range violations[:min(len(violations), maxNamed)] {
		said = append(said, phrase(check, r))
	}
	if more := len(violations) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, "; ") + ": refresh the case if that is meant"
}

func phrase(check *compat.Check, r *compat.OperatorRow) string {
	name := text.Visible(r.Name, maxName)
	switch {
	case r.Change == compat.OperatorNew:
		return fmt.Sprintf("new: %s (%s%s%s)", name, amounts(check.Unit, r.New), called(r.NewCalls), share(r))
	case r.Change == compat.OperatorMissing:
		return fmt.Sprintf("missing: %s (%s%s%s)", name, amounts(check.Unit, r.Old), called(r.OldCalls), share(r))
	case !slower(r, check.Operators.Tolerance) && r.NewCalls == 0:
		return fmt.Sprintf("the run does not state how often %s was called (%d recorded)", name, r.OldCalls)
	case !slower(r, check.Operators.Tolerance):
		return fmt.Sprintf("calls of %s: %d to %d", name, r.OldCalls, r.NewCalls)
	}
	how := ""
	switch {
	case !r.CallsDiffer():
	case r.NewCalls == 0:
		how = called(r.OldCalls) + " recorded and none said"
	default:
		how = fmt.Sprintf(", %d to %s", r.OldCalls, text.Plural(int(r.NewCalls), "call"))
	}
	return fmt.Sprintf("%s %s (%s%s%s%s)", name, change(r.Diff), amounts(check.Unit, r.Old, r.New), how, cause(check, r), share(r))
}

// cause returns whether more calls or dearer ones made the difference; nothing if
// the calls of one side are not known.
func cause(check *compat.Check, r *compat.OperatorRow) string {
	switch {
	case r.OldCalls == 0 || r.NewCalls == 0 || r.DeltaPS == 0:
		return ""
	case r.ByCallsPS == 0:
		return ", all of it per call"
	case r.ByCostPS == 0:
		return ", all of it by the number of calls"
	}
	perUnit := picoseconds(check.Unit)
	return fmt.Sprintf(", %s by the number of calls and %s per call",
		signed(check.Unit, float64(r.ByCallsPS)/perUnit), signed(check.Unit, float64(r.ByCostPS)/perUnit))
}

// share is the row's part of the change of the total, where it is one.
func share(r *compat.OperatorRow) string {
	switch {
	case r.Share > 1.005:
		return "; more than the whole change of the total"
	case r.Share >= 0.005:
		return fmt.Sprintf("; %.0f %% of the change of the total", r.Share*100)
	}
	return ""
}

func called(calls int64) string {
	if calls == 0 {
		return ""
	}
	return ", " + text.Plural(int(calls), "call")
}

func change(fraction float64) string {
	if fraction >= 1000 {
		return fmt.Sprintf("%+.3g times", fraction)
	}
	return fmt.Sprintf("%+.1f %%", fraction*100)
}

// amounts writes numbers in the unit of time in which the largest has up to
// three digits before the point: "12.300 to 14.760 ms".
func amounts(unit string, numbers ...float64) string {
	unit, factor := readable(unit, numbers...)
	var said []string
	for _, x := range numbers {
		said = append(said, digits("", x*factor))
	}
	return strings.TrimSuffix(strings.Join(said, " to ")+" "+text.Visible(unit, maxName), " ")
}

func signed(unit string, x float64) string {
	unit, factor := readable(unit, x)
	return strings.TrimSuffix(digits("+", x*factor)+" "+text.Visible(unit, maxName), " ")
}

func digits(flag string, x float64) string {
	if math.Abs(x) >= 1e6 {
		return fmt.Sprintf("%"+flag+".4g", x)
	}
	return fmt.Sprintf("%"+flag+".3f", x)
}

func readable(unit string, numbers ...float64) (string, float64) {
	largest := 0.0
	for _, x := range numbers {
		largest = max(largest, math.Abs(x))
	}
	for _, to := range []string{"s", "ms", "us", "ns"} {
		s, ok := between(unit, to)
		if !ok || largest == 0 {
			break
		}
		if s.of(largest) >= 1 || to == "ns" {
			return to, s.times / s.over
		}
	}
	return unit, 1
}
