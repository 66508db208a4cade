package cases

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// What a total in seconds can be: no clock resolves less, no run takes longer.
const (
	minTime = 1e-12
	maxTime = 1e9
)

// RefreshOf returns the numbers of a result that are to be recorded in the file
// of its case: the median of the total and as many of the largest operators as
// the file keeps or compares. The total becomes the baseline time, unless the
// suite does not use that; it becomes the initial time if initial is set or the
// suite uses no other.
//
// The error says why the case is not to be refreshed: the result has numbers
// that cannot be, or lacks what the file has, operators or their calls, with
// which a check would vanish.
func (f Folder) RefreshOf(one *casefile.Case, r *bench.Result, initial bool) (casefile.Refresh, error) {
	total, err := totalOf(r)
	if err != nil {
		return casefile.Refresh{}, err
	}
	operators, err := operatorsOf(one, r)
	if err != nil {
		return casefile.Refresh{}, err
	}
	if err := addsUp(r); err != nil {
		return casefile.Refresh{}, err
	}
	fresh := casefile.Refresh{Operators: operators}
	usesBaseline := len(f.References) == 0 || slices.Contains(f.References, bench.BaselineReference)
	if usesBaseline {
		fresh.BaselineTimeS = &total
	}
	if initial || !usesBaseline {
		fresh.InitialTimeS = &total
	}
	return fresh, nil
}

func totalOf(r *bench.Result) (float64, error) {
	s := r.Sample(Total.Name)
	if s == nil {
		return 0, fmt.Errorf("the run has no %s: measure the case again", Total.Name)
	}
	total := s.Median()
	if !isTime(total) {
		return 0, fmt.Errorf("no program takes %g s: see what it printed, then measure the case again", total)
	}
	return total, nil
}

// addsUp returns an error if the total of a result is smaller than its operators
// together. Of one value that is 1 %. Over several rounds an operator is the
// median of its times, and the sum of medians may be up to twice the largest
// total, so only what exceeds that cannot have been measured.
func addsUp(r *bench.Result) error {
	s := r.Sample(Total.Name)
	limit := 1.01 * s.Median()
	if len(s.Values) > 1 {
		limit = 2 * slices.Max(s.Values)
	}
	sum := 0.0
	for _, b := range r.Breakdowns {
		if b.Title != bench.OperatorsTitle || b.Unit != Total.Unit {
			continue
		}
		for _, e := range b.Entries {
			sum += e.Total
		}
		break
	}
	if sum > limit {
		return fmt.Errorf(
			"%w: the total is %g s and its operators take %g s together; see what the program printed, then measure the case again",
			bench.ErrContradiction, s.Median(), sum)
	}
	return nil
}

func isTime(seconds float64) bool { return seconds >= minTime && seconds <= maxTime } // false for NaN

// operatorsOf returns the largest operators of a result.
func operatorsOf(one *casefile.Case, r *bench.Result) ([]casefile.Operator, error) {
	var entries []bench.Entry
	for _, b := range r.Breakdowns {
		if b.Title == bench.OperatorsTitle && b.Unit == Total.Unit {
			entries = bench.AddUp(b.Entries)
			break
		}
	}
	if len(entries) == 0 && len(one.Operators) > 0 {
		return nil, fmt.Errorf(
			"the run has no operators and the file records %d: let the program print them, or remove those of the file first",
			len(one.Operators))
	}
	slices.SortStableFunc(entries, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
	entries = entries[:min(len(entries), max(len(one.Operators), one.OperatorTopN))]
	if err := keepsCalls(one.Operators, entries); err != nil {
		return nil, err
	}
	timed := map[string]bool{}
	for _, op := range one.Operators {
		timed[op.Name] = op.TotalTimeS > 0
	}
	var operators []casefile.Operator
	for _, e := range entries {
		if e.Total == 0 && timed[e.Name] {
			return nil, fmt.Errorf(
				"the run has no time of %.80q and the file records one: let the program print it, or set total_time_s of the file to 0 first",
				e.Name)
		}
		if e.Total != 0 && !isTime(e.Total) { // some take no time
			return nil, fmt.Errorf("no operator takes %g s, as %.80q does: see what the program printed, then measure the case again",
				e.Total, e.Name)
		}
		operators = append(operators, casefile.Operator{Name: e.Name, TotalTimeS: e.Total, NumCalls: e.Calls})
	}
	return operators, nil
}

// keepsCalls refuses operators without calls in a file that records calls, for
// calls of 0 are not compared. Those that the file itself has without calls may
// stay so.
func keepsCalls(recorded []casefile.Operator, entries []bench.Entry) error {
	calls := make(map[string]int64, len(recorded))
	some := false
	for _, op := range recorded {
		calls[op.Name] = op.NumCalls
		some = some || op.NumCalls > 0
	}
	for _, e := range entries {
		if known, listed := calls[e.Name]; some && e.Calls < 1 && (known > 0 || !listed) {
			return fmt.Errorf(
				"the run has no calls of %.80q and the file records calls: let the program print them, or set num_calls of the file to 0 first",
				e.Name)
		}
	}
	return nil
}
