// Package selftest proves that the gate of a configuration can fail: it judges a
// run by itself, and damaged copies of it.
package selftest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// Options is what selftest was asked for.
type Options struct {
	measure.HostOptions
	measure.SelectOptions
	measure.MeasureOptions
	measure.PolicyOptions
	From string
}

// Run proves, or says what is not proved, and returns the exit code.
func Run(ctx context.Context, e *measure.Env, s *Options) (int, error) {
	run, policy, err := selftestRun(ctx, e, s)
	if err != nil {
		return 0, err
	}
	asItself(run)
	file, _, err := baseline.Update(nil, run, baseline.UpdateOptions{Reason: "selftest", Now: e.Now()})
	if err != nil {
		return 0, err
	}
	t := experiment{Env: e, run: run, ref: judge.Reference{Path: "itself", File: file}, policy: asMeasured(policy, run), config: s.Config}
	if t.green() {
		t.slower()
		t.different()
		t.outOfBounds()
		t.evidence()
		t.missing()
		t.wrong()
		t.nothing()
	}
	return t.conclude()
}

// asItself leaves of a run what can be judged against itself: as if what is measured
// had changed, without the pairs that compare it with other code, and without what
// the machine may have made of it, which is no property of the gate.
func asItself(run *bench.Run) {
	run.Calibration = nil
	for i := range run.Results {
		r := &run.Results[i]
		r.Artifacts, r.Health, r.Caveat = "", nil, ""
		for k := range r.Samples {
			r.Samples[k].Base, r.Samples[k].Caveat = nil, ""
		}
	}
}

func (s *Options) options() *measure.Options {
	return &measure.Options{HostOptions: s.HostOptions, SelectOptions: s.SelectOptions, MeasureOptions: s.MeasureOptions,
		PolicyOptions: s.PolicyOptions}
}

// selftestRun measures once, or reads a run.
func selftestRun(ctx context.Context, e *measure.Env, s *Options) (*bench.Run, gate.Policy, error) {
	if s.From != "" {
		_, policy, err := e.Load(s.options())
		if err != nil {
			return nil, policy, err
		}
		run, err := measure.ReadRun(s.From)
		if err != nil {
			return nil, policy, err
		}
		return unpaired(run), policy, nil
	}
	c, err := e.Configure(s.options())
	if err != nil {
		return nil, gate.Policy{}, err
	}
	c.Options.Repeats = cmp.Or(c.Options.Repeats, 1)
	if c.Options.Out == "" { // the last run's document stays
		c.Options.Out = c.File.Resolve(filepath.Join(measure.DefaultOut, "selftest"))
	}
	session, err := e.OpenHere(ctx, &c)
	if err != nil {
		return nil, gate.Policy{}, err
	}
	defer session.Close()
	run, err := session.Measure(ctx, nil)
	return run, session.Plan.Policy, err
}

// unpaired drops what a run was measured alternately with: it is compared with itself.
func unpaired(run *bench.Run) *bench.Run {
	run.Base = ""
	for i := range run.Results {
		for k := range run.Results[i].Samples {
			run.Results[i].Samples[k].Base = nil
		}
	}
	return run
}

// asMeasured replaces the recorded totals of case files by those of the run, so
// that it is compared with itself there, too. Operators are another test.
func asMeasured(policy gate.Policy, run *bench.Run) gate.Policy {
	cases, results := make(map[string]bench.Expected, len(policy.Expected)), run.ByID()
	for id, e := range policy.Expected {
		e.Operators.Level = string(gate.Off)
		e.References = slices.Clone(e.References)
		if r := results[id]; r != nil && r.Sample(e.Metric) != nil {
			for i := range e.References {
				e.References[i].Value = r.Sample(e.Metric).Median()
			}
		}
		cases[id] = e
	}
	policy.Expected = cases
	policy.Waivers = nil
	return policy
}

// experiment judges a run and worse copies of it.
type experiment struct {
	*measure.Env
	run    *bench.Run
	ref    judge.Reference
	policy gate.Policy
	config string

	gated    []gated  // whose speed is judged, in the order of the run
	equal    []number // that must be equal
	bounded  int      // numbers that have bounds
	unjudged []string
	proved   []string
	failed   []string // what was not proved, and why
}

// number is a metric of a cell.
type number struct{ cell, metric string }

// gated is a cell with the metrics whose speed is judged, and their limits in
// percent.
type gated struct {
	cell    string
	metrics map[string]float64
}

// judged is what a run comes to, by the way that every run takes.
func (t *experiment) judged(run *bench.Run, ref judge.Reference) (judge.Judged, []gate.Verdict) {
	j := judge.Judge(t.Env, []*bench.Run{run}, []judge.Reference{ref}, t.policy, report.Input{Config: t.config, Revision: run.Revision})
	return j, gate.Compare(ref.Path, ref.Run(), run, t.policy).Verdicts
}

// green judges the run by itself, and notes what is judged there. What is red by
// itself proves nothing.
func (t *experiment) green() bool {
	j, verdicts := t.judged(t.run, t.ref)
	for i := range verdicts {
		t.note(&verdicts[i])
	}
	if code := j.Exit(); code == exit.Passed {
		t.prove("1 x: %s judged by themselves pass, exit %d", text.Plural(len(t.run.Results), "cell"), code)
		return true
	}
	for _, v := range verdicts {
		if v.Blocks {
			t.fail("the run is not even as good as itself: %s: fix that first", described(&v))
			return false
		}
	}
	t.fail("the run does not pass when it is judged by itself (%s): see 'accelgate run'", j.Decision.Status)
	return false
}

// note sorts a verdict of the unchanged run: its speed was judged, or why not.
func (t *experiment) note(v *gate.Verdict) {
	switch method := v.Evidence.Method; {
	case v.Cell == "" || v.Finding == gate.Skipped || v.LeftOut():
	case method.Speed() && method != gate.MethodFit:
		if n := len(t.gated); n == 0 || t.gated[n-1].cell != v.Cell { // those of a cell are adjacent
			t.gated = append(t.gated, gated{v.Cell, map[string]float64{}})
		}
		t.gated[len(t.gated)-1].metrics[v.Metric] = max(v.Evidence.Limit, v.Evidence.MDE) // the latter is what blocks for certain
	case method == gate.MethodExact:
		t.equal = append(t.equal, number{v.Cell, v.Metric})
	case v.Metric == "" && v.Finding == gate.Unchanged:
		t.unjudge("%s: every metric of it is informational", v.Cell)
	default:
		t.unjudge("%s", described(v))
	}
}

func (t *experiment) unjudge(format string, args ...any) {
	t.unjudged = append(t.unjudged, text.OneLine(fmt.Sprintf(format, args...)))
}

func described(v *gate.Verdict) string {
	return text.OneLine(
		strings.TrimSpace(v.Cell+" "+v.Metric) + ": " + strings.TrimSuffix(fmt.Sprintf("%s: %s", v.Finding, v.Reason), ": "),
	)
}

func (t *experiment) prove(format string, args ...any) {
	t.proved = append(t.proved, fmt.Sprintf(format, args...))
}

func (t *experiment) fail(format string, args ...any) {
	t.failed = append(t.failed, fmt.Sprintf(format, args...))
}

// nothing judges no cell at all, which is never a success.
func (t *experiment) nothing() {
	empty := *t.run
	empty.Results, empty.LeftOut, empty.Unselected = nil, nil, slices.Clone(t.run.Unselected)
	for _, out := range t.run.LeftOut {
		empty.Unselected = append(empty.Unselected, out.Cell)
	}
	for i := range t.run.Results {
		empty.Unselected = append(empty.Unselected, t.run.Results[i].Cell.ID())
	}
	j, _ := t.judged(&empty, t.ref)
	if code, none := j.Exit(), exit.Code(runner.ErrNoCells); code != exit.NoMeasure || none != exit.NoMeasure {
		t.fail("a run without a cell ends in exit %d, and one without any to measure in %d: report this as a bug", code, none)
		return
	}
	t.prove("0 cells: no evidence, exit %d", exit.NoMeasure)
}

// maxNamed is how many cells are named of each sort.
const maxNamed = 10

// conclude prints what was proved and what was not.
func (t *experiment) conclude() (int, error) {
	for _, line := range t.proved {
		fmt.Fprintf(t.Stdout, "proved      %s\n", line)
	}
	for _, line := range t.failed {
		fmt.Fprintf(t.Stdout, "NOT PROVED  %s\n", line)
	}
	for _, line := range text.First(t.unjudged, maxNamed) {
		fmt.Fprintf(t.Stdout, "not judged  %s\n", text.OneLine(line))
	}
	if unchecked := t.unchecked(); unchecked > 0 {
		fmt.Fprintf(t.Stdout, "not judged  the answers of %s are not checked: give the suite expectations\n",
			text.Plural(unchecked, "cell"))
	}
	if len(t.failed) > 0 {
		_, err := fmt.Fprintf(t.Stdout, "FAIL: this gate cannot fail as it should: %s\n", t.failed[0])
		return exit.GateFailed, err
	}
	_, err := fmt.Fprintf(t.Stdout, "PASS: this gate fails when it should\n")
	return exit.Passed, err
}

// unchecked counts the cells that passed without an answer that was compared.
func (t *experiment) unchecked() (n int) {
	for i := range t.run.Results {
		if r := &t.run.Results[i]; r.Outcome == bench.Passed && r.Correctness() == "" {
			n++
		}
	}
	return n
}
