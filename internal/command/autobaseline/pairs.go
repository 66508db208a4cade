package autobaseline

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/text"
)

// compared is one pair with what comparing it found.
type compared struct {
	Case        string `json:"case"`
	Description string `json:"description,omitempty"`
	compat.Pair
	Error string `json:"error,omitempty"` // why it could not be compared

	pair   cases.Pair
	result *bench.Result // of the baseline input
}

// comparePairs looks up the results of both inputs. An A/A case has one input,
// and passes if its own noise is within the tolerance.
func comparePairs(pairs []cases.Pair, run *bench.Run, aa bool) []compared {
	results := run.ByID()
	list := make([]compared, len(pairs))
	for i, p := range pairs {
		list[i] = compared{Case: p.Name, Description: p.Description, pair: p}
		list[i].Tolerance, list[i].result = p.Tolerance, results[p.BaselineCell().ID()]
		first := list[i].values(results, p.BaselineCell(), "Baseline")
		if aa {
			list[i].repeated(first)
			continue
		}
		if second := list[i].values(results, p.CompareCell(), "Comparison"); list[i].Error == "" {
			list[i].Pair = compat.ComparePair(first, second, p.Tolerance)
		}
	}
	return list
}

func (c *compared) repeated(values []float64) {
	if c.Error != "" {
		return
	}
	if c.Baseline = compat.SpreadOf(values); c.Baseline.N < 2 {
		c.Error = "Baseline run failed: one measurement shows no noise: raise --budget, or look at why the others are missing"
		return
	}
	c.Passed = c.Baseline.Floor <= c.Tolerance
}

// values are the times of an input; the error has the original's words.
func (c *compared) values(results map[string]*bench.Result, cell bench.Cell, which string) []float64 {
	r := results[cell.ID()]
	switch {
	case c.Error != "":
	case r == nil:
		c.Error = which + " run failed: it was left out, because the budget ended: raise it"
	case r.Outcome != bench.Passed:
		c.Error = which + " run failed: " + r.Reason
	case r.Sample(cases.Total.Name) == nil:
		c.Error = which + " run failed: it has no total time: look at its output"
	default:
		values := r.Sample(cases.Total.Name).Values
		if compat.SpreadOf(values).Median <= 0 {
			c.Error = fmt.Sprintf("Invalid %s time: %v", strings.ToLower(which), compat.SpreadOf(values).Median)
		}
		return values
	}
	return nil
}

// showPairs prints the comparisons in the layout of auto_baseline.py's log, or
// as JSON.
func showPairs(env *measure.Env, list []compared, a *Options) error {
	if a.Json {
		for i := range list { // JSON has no NaN
			if d := list[i].Diff; math.IsNaN(d) || math.IsInf(d, 0) {
				list[i].Diff = 0
			}
		}
		e := json.NewEncoder(env.Stdout)
		e.SetIndent("", " ")
		return e.Encode(list)
	}
	for i := range list {
		printPair(env, &list[i], a.Aa)
	}
	failed := 0
	for _, p := range list {
		if !p.Passed {
			failed++
		}
	}
	_, err := fmt.Fprintf(env.Stdout, "%s\n%s, %d failed\n", banner, text.Plural(len(list), "case"), failed)
	return err
}

var banner = strings.Repeat("=", 60)

// printPair prints one comparison.
func printPair(e *measure.Env, p *compared, aa bool) {
	w := e.Stdout
	fmt.Fprintf(w, "%s\n  [%s] %s\n%s\n", banner, text.OneLine(p.Case), text.OneLine(p.Description), banner)
	status := map[bool]string{true: "PASS", false: "FAIL"}[p.Passed]
	switch {
	case p.Error != "":
		fmt.Fprintf(w, "  Error:     %s\n  Status:    FAIL\n", text.OneLine(p.Error))
	case aa:
		fmt.Fprintf(w, "  Median:    %.3fms of %d measurements, MAD %.3fms\n", p.Baseline.Median*1000, p.Baseline.N, p.Baseline.MAD*1000)
		fmt.Fprintf(w, "  Noise:     %.2f%% between the fastest and the slowest\n  Tolerance: ±%.2f%%\n  Status:    %s\n",
			p.Baseline.Floor*100, p.Tolerance*100, status)
		if !p.Passed {
			fmt.Fprintf(w, "  The noise is larger than the tolerance, which would judge it: quieten the host, or raise the tolerance\n")
		}
	default:
		fmt.Fprintf(w, "  Baseline:  %.3fms\n  Actual:    %.3fms\n  Diff:      %+.2f%%\n  Tolerance: ±%.0f%%\n  Status:    %s\n",
			p.Baseline.Median*1000, p.Compare.Median*1000, p.Diff*100, p.Tolerance*100, status)
		if !p.Passed {
			word := map[bool]string{true: "slower", false: "faster"}[p.Diff > 0]
			fmt.Fprintf(w, "  Performance regression: %.2f%% %s than baseline!\n", math.Abs(p.Diff)*100, word)
			fmt.Fprintf(e.Stderr, "[%s] Auto baseline FAILED: diff=%+.2f%%, tolerance=±%.0f%%\n", text.OneLine(p.Case), p.Diff*100,
				p.Tolerance*100)
		}
	}
}
