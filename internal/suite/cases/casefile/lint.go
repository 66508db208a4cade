package casefile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// What [Lint] takes for doubtful.
const (
	// maxTolerance is the widest tolerance that still guards something: the
	// simulator is deterministic, so a tolerance only covers the distance
	// between the two references.
	maxTolerance = 0.25

	// minOverlap is the least part of the narrower of the two windows that has
	// to lie in the other one.
	minOverlap = 0.10

	// minCoverage is the least part of the total that the operators that are
	// compared have to explain. Half of msmodeling's 22 cases explain 92 % or
	// more, and all but two at least 80 %; kimi-k2.5-1080p-prefill and
	// -3.5k-prefill, with 75 % and 78 %, are what is to be noticed.
	minCoverage = 0.80

	// rounding is how far a sum of printed times may exceed a printed total:
	// both have at least four significant digits (three behind the point, and
	// one before it), so each is off by at most half of 0.1 %.
	rounding = 0.001
)

// Finding is something that [Parse] accepts and that probably goes wrong.
type Finding struct {
	Path     string `json:"path"` // of the file
	JSONPath string `json:"json_path"`
	Rule     string `json:"rule"`    // such as "wide-tolerance"
	Message  string `json:"message"` // ends in the next step; foreign text is quoted
}

// String returns "file: JSON path: message [rule]" on one line.
func (f Finding) String() string {
	return plain(f.Path) + ": " + f.JSONPath + ": " + f.Message + " [" + f.Rule + "]"
}

// Lint reports what is doubtful about cases, in their order.
func Lint(cases []*Case) []Finding {
	var l linter
	for i, c := range cases {
		l.c, l.prefix = c, ""
		if c.Group != nil {
			if i == 0 || cases[i-1].Group != c.Group {
				l.group(c.Group)
			}
			if c.Type == Grouped {
				continue
			}
			l.prefix = join("sub_cases", c.Name) + "."
		}
		l.tolerances()
		l.increase()
		l.references()
		l.device()
		l.operators()
	}
	return l.findings
}

type linter struct {
	c        *Case
	prefix   string // of all JSON paths
	findings []Finding
}

func (l *linter) note(rule, path, format string, args ...any) {
	l.findings = append(l.findings, Finding{l.c.Path, l.prefix + path, rule, fmt.Sprintf(format, args...)})
}

func (l *linter) tolerances() {
	c := l.c
	l.tolerance("initial_tolerance", c.InitialTolerance, "initial_time_s", c.InitialTimeS, "baseline_time_s", c.BaselineTimeS)
	l.tolerance("baseline_tolerance", c.BaselineTolerance, "baseline_time_s", c.BaselineTimeS, "initial_time_s", c.InitialTimeS)
	l.tolerance("operator_tolerance", c.OperatorTolerance, "operators", 0, "", 0)
}

// tolerance judges the tolerance around a time. The other time, if there are
// both, says whether a lower one would do.
func (l *linter) tolerance(path string, tolerance float64, name string, time float64, otherName string, other float64) {
	if tolerance <= maxTolerance {
		return
	}
	limit := percent(maxTolerance)
	what := fmt.Sprintf("%s hides every smaller change (the limit is %s)", percent(tolerance), limit)
	distance := other/time - 1
	switch {
	case time == 0 || other == 0:
		l.note("wide-tolerance", path, "%s: refresh %s and write %s or less", what, name, limit)
	case math.Abs(distance) <= maxTolerance:
		l.note("wide-tolerance", path, "%s, although %s is only %s from %s: write %s or less", what, otherName, signed(distance), name,
			limit)
	default:
		l.note("wide-tolerance", path, "%s, and %s is %s from %s: refresh %s, then write %s or less", what, otherName, signed(distance),
			name, name, limit)
	}
}

// window returns the times that a reference accepts.
func window(time, tolerance float64) (low, high float64) {
	return max(time*(1-tolerance), 0), time * (1 + tolerance)
}

func (l *linter) references() {
	c := l.c
	if c.InitialTimeS == 0 && c.BaselineTimeS == 0 {
		l.note("no-reference", "baseline_time_s", "no reference time, so the original reports NO_BASELINE and counts it as passed: "+
			"measure the case and write initial_time_s and baseline_time_s")
	}
	if c.InitialTimeS == 0 || c.BaselineTimeS == 0 {
		return
	}
	low1, high1 := window(c.InitialTimeS, c.InitialTolerance)
	low2, high2 := window(c.BaselineTimeS, c.BaselineTolerance)
	low, high := max(low1, low2), min(high1, high2)
	narrower := min(high1-low1, high2-low2)
	windows := fmt.Sprintf("initial_time_s accepts %s to %s, baseline_time_s %s to %s", ms(low1), ms(high1), ms(low2), ms(high2))
	distance := signed(c.BaselineTimeS/c.InitialTimeS - 1)
	switch {
	case low > high:
		l.note("windows-apart", "baseline_time_s",
			"no time passes both checks: %s (baseline is %s against initial): refresh the older of the two times", windows, distance)
	case high-low < minOverlap*narrower:
		l.note("windows-narrow", "baseline_time_s",
			"only %s to %s passes both checks, %s of the narrower window: %s (baseline is %s against initial): refresh the older of the two times",
			ms(low), ms(high), percent((high-low)/narrower), windows, distance)
	}
}

func (l *linter) operators() {
	c := l.c
	if len(c.Operators) == 0 {
		l.note("no-operators", "operators", "there are none, so no operator is compared: run the case and record its operators")
		return
	}
	l.coverage()
	seen := map[string]int{}
	unsorted := false
	for i, op := range c.Operators {
		path := "operators[" + strconv.Itoa(i) + "]"
		if first, twice := seen[op.Name]; twice {
			l.note("duplicate-operator", path+".name",
				"%s is operators[%d] already, and only one of them is compared: remove one of the two", quote(op.Name), first)
		} else {
			seen[op.Name] = i
		}
		if i > 0 && op.TotalTimeS > c.Operators[i-1].TotalTimeS && !unsorted {
			unsorted = true // the rest follows from the first
			l.note("unsorted-operators", path+".total_time_s",
				"%s is more than the %s of the operator before it, which no run prints: sort the list by total_time_s, descending, or record it again",
				ms(op.TotalTimeS), ms(c.Operators[i-1].TotalTimeS))
		}
	}
}

// coverage compares the operators with the total that they are parts of.
func (l *linter) coverage() {
	c := l.c
	times := make([]float64, len(c.Operators))
	for i, op := range c.Operators {
		times[i] = op.TotalTimeS
	}
	slices.Sort(times)
	slices.Reverse(times)
	total, name := totalOf(c, sum(times))
	if total == 0 {
		return // noted by references
	}
	if share := sum(times) / total; share > 1+rounding {
		l.note("operators-exceed-total", "operators",
			"they add up to %s, %s of %s (%s), so they are of another run: record the operators and the time again, together",
			ms(sum(times)), percent(share), name, ms(total))
	}
	if initial := c.InitialTimeS; name != "initial_time_s" && initial > 0 && sum(times) > initial*(1+rounding) &&
		sum(times) <= total*(1+rounding) {
		l.note("operators-exceed-initial", "operators",
			"they add up to %s, %s of initial_time_s (%s), so they are of a later run: record both again, together, "+
				"or renew initial_time_s if baseline_time_s (%s) is of the operators' run", ms(sum(times)), percent(sum(times)/initial),
			ms(initial), ms(total))
	}
	top := times[:min(c.OperatorTopN, len(times))]
	if share := sum(top) / total; share < minCoverage {
		l.note("low-coverage", "operator_top_n",
			"the compared operators (%d) explain only %s of %s (%s): record more operators and raise operator_top_n", len(top),
			percent(share), name, ms(total))
	}
}

// totalOf returns the recorded time that operators are parts of, by the rule of
// package gate: the smallest that is not less than their sum, else the largest.
// A refresh records operators and baseline together, and leaves an initial time
// that may be less. 0 if none is recorded.
func totalOf(c *Case, operators float64) (total float64, name string) {
	holds := func(time float64) bool { return time*(1+rounding) >= operators }
	total, name = c.InitialTimeS, "initial_time_s"
	if b := c.BaselineTimeS; total == 0 || b > 0 && (holds(b) && (!holds(total) || b < total) || !holds(total) && b > total) {
		total, name = b, "baseline_time_s"
	}
	return total, name
}
