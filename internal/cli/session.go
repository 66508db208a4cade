package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/runner"
	"github.com/accelgate/accelgate/internal/suite"
)

// session is the measuring of one plan: its journal, its devices, its clock.
type session struct {
	*Command
	plan     *plan
	revision string
	devices  []bench.Device
	journal  *runner.Journal
	earlier  map[string]map[int]runner.Entry // what an interrupted run measured
	keys     map[string]string               // of cells, by id
	started  time.Time
	reused   int
}

func (c *Command) newSession(p *plan, revision string, devices []bench.Device) (*session, error) {
	s := &session{Command: c, plan: p, revision: revision, devices: devices, keys: map[string]string{}, started: c.Now()}
	path := p.outPath("journal.jsonl")
	if !p.options.resume {
		var err error
		s.journal, err = runner.CreateJournal(path)
		return s, err
	}
	journal, entries, err := runner.ContinueJournal(path)
	if err != nil {
		return s, usageError{err}
	}
	s.journal, s.earlier = journal, runner.Earlier(entries)
	return s, s.announce(entries)
}

// announce says what of an interrupted run is kept.
func (s *session) announce(entries []runner.Entry) error {
	for _, suite := range s.plan.suites {
		if err := s.identify(suite.suite, suite.cells); err != nil {
			return err
		}
	}
	kept, failed, other := 0, 0, 0
	for _, e := range entries {
		switch {
		case e.Key != s.keys[e.Result.Cell.ID()]:
			other++
		case e.Result.Outcome != bench.Passed:
			failed++
		default:
			kept++
		}
	}
	fmt.Fprintf(s.Stderr, "accelgate: resuming: %d measurements kept; %d that failed and %d of another build, configuration or host are not\n", kept, failed, other)
	return nil
}

// identify computes the keys of cells: revision, configuration, host and tool,
// with the digest of what is run.
func (s *session) identify(of suite.Suite, cells []bench.Cell) error {
	for _, cell := range cells {
		id := cell.ID()
		if s.keys[id] != "" {
			continue
		}
		command, err := of.Digest(cell)
		if err != nil {
			return err
		}
		data, err := json.Marshal([]any{s.revision, s.plan.file.Digest, s.plan.host, tool(), s.plan.policy.Compat, id, command})
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		s.keys[id] = hex.EncodeToString(sum[:])
	}
	return nil
}

// measure measures the cells of one suite and adds them to the run.
func (s *session) measure(ctx context.Context, planned planned, run *bench.Run) error {
	if len(planned.cells) > 0 {
		if err := s.identify(planned.suite, planned.cells); err != nil {
			return err
		}
		results, out, err := runner.Run(ctx, s.measurer(planned), planned.cells, s.options(planned))
		if err != nil {
			return s.interrupted(err)
		}
		run.Results, run.LeftOut = append(run.Results, results...), append(run.LeftOut, out...)
	}
	run.Results = append(run.Results, planned.skipped...)
	return nil
}

func (s *session) measurer(planned planned) runner.Measurer {
	return redacting{planned.suite, s.plan.options.secret}
}

func (s *session) interrupted(err error) error {
	return fmt.Errorf("%w\nwhat was finished is in %s: go on with --resume, or start over without it", err, s.plan.outPath("journal.jsonl"))
}

func (s *session) options(planned planned) runner.Options {
	order := make(map[string]int, len(planned.cells))
	for i, c := range planned.suite.Cells() {
		order[c.ID()] = i
	}
	return runner.Options{
		Repeats: s.plan.repeats(planned), Retries: s.plan.file.Limits.Retries, Devices: s.devices,
		// By the place in the whole matrix: a filter must not move a cell to
		// another device.
		Lane:      func(c bench.Cell) int { return order[c.ID()] },
		Earlier:   s.earlierOf,
		OutOfTime: s.outOfTime,
		Journal: func(r bench.Result, round int) error {
			return s.journal.Append(runner.Entry{Key: s.keys[r.Cell.ID()], Round: round, Result: r})
		},
		Progress: progress(s.Stderr),
	}
}

func (s *session) earlierOf(c bench.Cell, round int) (bench.Result, bool) {
	id := c.ID()
	e, ok := s.earlier[id][round]
	return e.Result, ok && e.Key == s.keys[id]
}

// outOfTime ends measuring when the budget is used up.
func (s *session) outOfTime() (string, bool) {
	budget := s.plan.file.Limits.Budget
	if s.plan.options.budget > 0 {
		budget = s.plan.options.budget
	}
	if budget == 0 || s.Now().Sub(s.started) < budget {
		return "", false
	}
	return fmt.Sprintf("over the budget of %v", budget), true
}

// defaultConfirm is the number of values that a regression rests on: the median
// of three is not moved by one disturbance.
const defaultConfirm = 3

// confirm measures cells again that look slower than the baseline by fewer
// values than the policy demands: one value against one is no evidence.
func (s *session) confirm(ctx context.Context, run, ref *bench.Run) error {
	want := defaultConfirm
	if s.plan.policy.Compat != "" {
		want = 0 // another tool's rules know no second look
	}
	if n := s.plan.file.Policy.Confirm; n != nil {
		want = *n
	}
	if want == 0 || ref == nil {
		return nil
	}
	suspects := gate.Suspects(gate.Compare("", ref, run, s.plan.policy), want)
	if len(suspects) == 0 {
		return nil
	}
	fmt.Fprintf(s.Stderr, "accelgate: %d cells look slower by fewer than %d measurements, so they are measured again\n", len(suspects), want)
	for _, planned := range s.plan.suites {
		repeats := s.plan.repeats(planned)
		if repeats >= want {
			continue
		}
		o := s.options(planned)
		o.Repeats = want - repeats
		mine := func(c bench.Cell) bool {
			return c.Suite == planned.name() && slices.Contains(suspects, c.ID())
		}
		if err := runner.Again(ctx, s.measurer(planned), run.Results, mine, repeats+1, o); err != nil {
			return s.interrupted(err)
		}
	}
	return nil
}
