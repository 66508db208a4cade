package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/health"
	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
)

// session is the measuring of one plan: its journal, its devices, its clock.
type session struct {
	*Env
	plan       *Plan
	revision   string
	lanes      Lanes
	journal    *runner.Journal
	earlier    map[string]map[int]runner.Entry // what an interrupted run measured
	keys       map[string]string               // of cells, by id
	declared   map[string]string               // digests of declared artifacts, by id of cell
	same       map[string]bool                 // ids of cells whose artifacts are the reference's
	changes    string                          // digest of uncommitted changes
	started    time.Time
	base       *base          // nil without pairs
	finished   []bench.Result // the last measurement of each cell
	watcher    *health.Watcher
	calibrator *engine.Calibrator // nil if the host is not watched
	ends       time.Time          // when the batch system's time is over; zero for never
}

// newSession opens the journal. Its Close ends the session.
func (e *Env) newSession(ctx context.Context, p *Plan, b *base, revision string, lanes Lanes) (*session, error) {
	s := &session{
		Env:      e,
		plan:     p,
		base:     b,
		revision: revision,
		lanes:    lanes,
		keys:     map[string]string{},
		declared: map[string]string{},
		started:  e.Now(),
	}
	var err error
	if s.watcher, err = e.newWatcher(p, lanes.Devices); err != nil {
		return nil, err
	}
	s.changes = e.changes(ctx, p)
	s.ends = e.untilEnd(ctx, p)
	for _, one := range p.Suites {
		if err = s.identify(one); err != nil {
			return nil, err
		}
	}
	path := p.OutPath("journal.jsonl")
	key, err := e.journalKey(p.Options.Resume)
	if err != nil {
		return nil, err
	}
	if !p.Options.Resume {
		s.journal, err = runner.CreateJournal(path, key)
		return s, err
	}
	journal, entries, err := runner.ContinueJournal(path, key)
	if err != nil {
		return nil, err
	}
	s.journal, s.earlier = journal, runner.Earlier(entries)
	s.announce(entries)
	return s, nil
}

// announce says what of an interrupted run is kept.
func (s *session) announce(entries []runner.Entry) {
	type measurement struct {
		id    string
		round int
	}
	last := map[measurement]runner.Entry{}
	for _, e := range entries {
		last[measurement{e.Result.Cell.ID(), e.Round}] = e
	}
	kept, failed, other, unselected := 0, 0, 0, 0
	for m, e := range last {
		switch key, selected := s.keys[m.id]; {
		case !selected:
			unselected++
		case e.Key != key:
			other++
		case e.Result.Outcome != bench.Passed:
			failed++
		default:
			kept++
		}
	}
	fmt.Fprintf(
		s.Stderr,
		"accelgate: resuming: %d measurements kept; %d that failed and %d of another build, configuration, environment or host are not",
		kept,
		failed,
		other,
	)
	if unselected > 0 {
		fmt.Fprintf(s.Stderr, "; %d are of cells that are not selected now", unselected)
	}
	fmt.Fprintln(s.Stderr)
}

// identify computes the keys of a suite's cells: revision, configuration, host, device and tool,
// with the digest of the run cells.
func (s *session) identify(one Planned) error {
	for _, cell := range one.Cells {
		id := cell.ID()
		command, err := one.Suite.Digest(cell)
		if err != nil {
			return err
		}
		device := s.lanes.For(cell).String()
		if s.plan.job != nil {
			device = "" // a job that is started again gets others
		}
		base, err := s.base.digest(cell)
		if err != nil {
			return err
		}
		if err := s.declare(one.Suite, cell); err != nil {
			return err
		}
		data, err := json.Marshal(
			[]any{s.revision, s.changes, s.plan.File.Digest, s.plan.Host, device, Tool(), id, command, base, s.declared[id]},
		)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		s.keys[id] = hex.EncodeToString(sum[:])
	}
	return nil
}

// grouped numbers cells such that A/A partners have one number: the difference of two
// devices, or of two machines, is not noise.
func grouped(of suite.Suite, cells []bench.Cell) []int {
	numbers, at := make([]int, len(cells)), make(map[string]int, len(cells))
	next := 0
	for i, c := range cells {
		id := c.ID()
		n, ok := at[cmp.Or(of.AAPartner(c), id)]
		if !ok {
			n = next
			next++
		}
		numbers[i], at[id] = n, n
	}
	return numbers
}

// measure measures the cells of all suites, round by round, and adds them to
// the run.
func (s *session) measure(ctx context.Context, run *bench.Run) error {
	var cells []bench.Cell
	for _, one := range s.plan.Suites {
		cells = append(cells, one.measurable()...)
	}
	if len(cells) > 0 {
		end := s.stage("measure", cells, s.repeats(), s.pairsAhead(cells))
		s.choose(cells)
		results, out, err := runner.Run(ctx, s.measurer(), cells, s.options())
		end()
		if err != nil {
			return s.interrupted(err)
		}
		s.attach(results)
		run.Results, run.LeftOut = results, append(run.LeftOut, out...)
		s.plan.relate(run)
		run.Warnings = append(run.Warnings, s.cutShort(results)...)
		run.Warnings = append(run.Warnings, warmUp(run)...)
	}
	for _, one := range s.plan.Suites {
		if one.unbuilt != "" {
			run.Results = append(run.Results, one.failed()...)
		}
		run.Results = append(run.Results, one.unlisted(s.plan.Options.Shard)...)
		run.Results = append(run.Results, one.Skipped...)
	}
	return nil
}

// cutShort declares the measurements that a budget left no time for.
func (s *session) cutShort(results []bench.Result) []string {
	if _, over := s.outOfTime(); !over {
		return nil
	}
	repeats, n := s.repeats(), 0
	for i := range results {
		if r := &results[i]; r.Outcome == bench.Passed && len(r.Samples) > 0 && len(r.Samples[0].Values) < repeats(r.Cell) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{
		fmt.Sprintf(
			"the budget ended before all repeats: %d cells have fewer values than configured; raise limits.budget, or lower repeats",
			n,
		),
	}
}

// bySuite measures each cell by its suite. What a suite keeps running on a
// device ends before another suite measures there, or a cell that needs another number of devices.
type bySuite struct {
	plan   *Plan
	suites map[string]suite.Suite
	mu     sync.Mutex
	last   map[bench.Device]string
}

// Measure implements [runner.Measurer].
func (b *bySuite) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	if err := b.clear(c.Suite, d); err != nil {
		return bench.Result{}, err
	}
	r, err := b.plan.Measure(ctx, b.suites[c.Suite], c, d)
	need := b.plan.need(c)
	if need.width > 1 && err == nil {
		state(&r, "devices", strconv.Itoa(need.width))
		if need.sameNode {
			state(&r, "same_node", "true")
		}
	}
	if need.nodes > 1 && err == nil {
		state(&r, "nodes", strconv.Itoa(need.nodes))
	}
	if profile := device.Profile(d, b.plan.Host); profile != "" && err == nil {
		state(&r, "mig", profile)
	}
	for condition, list := range b.plan.cpus[c.Suite].conditions() {
		if list != "" && err == nil {
			state(&r, condition, list)
		}
	}
	return r, err
}

// state adds a condition to a result, whose own map stays as it is.
func state(r *bench.Result, condition, value string) {
	r.Context = maps.Clone(r.Context)
	if r.Context == nil {
		r.Context = map[string]string{}
	}
	r.Context[condition] = value
}

// clear makes a device free for a suite. It holds the lock meanwhile, because two lanes may
// wait for what one wider lane keeps.
func (b *bySuite) clear(suite string, d bench.Device) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other, last := range b.last {
		if other == d && last == suite || !other.Overlaps(d) {
			continue
		}
		delete(b.last, other)
		if err := b.release(last, other); err != nil {
			return err
		}
	}
	b.last[d] = suite
	return nil
}

func (b *bySuite) release(name string, d bench.Device) error {
	return b.plan.Release(name, b.suites[name], d)
}

func (s *session) measurer() runner.Measurer {
	watched := s.watch(s.base.pair(measurerOf(s.plan), s.plan))
	measured := redacting{impossible{promoting{watched, s.plan}, s.plan.Metrics}, s.secrets()}
	return announced{measured, s.Progress}
}

// secrets are those of this process and of the suites of both sides.
func (s *session) secrets() []string {
	suites := s.plan.Suites
	if s.base != nil { // its output is shown, too
		suites = slices.Concat(suites, s.base.plan.Suites)
	}
	secrets := s.plan.Secrets()
	for _, one := range suites {
		if keeper, ok := one.Suite.(suite.SecretKeeper); ok {
			secrets = append(secrets, keeper.Secrets()...)
		}
	}
	return secrets
}

func (s *session) interrupted(err error) error {
	if s.plan.unjudged {
		return err // whoever measures so says what is kept
	}
	return fmt.Errorf("%w\nwhat was finished is in %s: go on with --resume, or start over without it", err, s.plan.OutPath("journal.jsonl"))
}

// repeats returns how often each cell is to be measured.
func (s *session) repeats() func(bench.Cell) int {
	repeats := map[string]int{}
	for _, one := range s.plan.Suites {
		repeats[one.Name] = s.plan.repeats(one)
	}
	return func(c bench.Cell) int {
		if s.same[c.ID()] {
			return 1 // for the answer alone
		}
		if s.base.has(c.ID()) {
			return s.base.pairs
		}
		return repeats[c.Suite]
	}
}

func (s *session) options() runner.Options {
	return runner.Options{
		Repeats:   s.repeats(),
		Retries:   s.plan.retries,
		Device:    s.lanes.For,
		Group:     s.plan.group,
		Earlier:   s.earlierOf,
		OutOfTime: s.outOfTime,
		Ready:     s.ready(),
		Ends:      s.ends,
		Journal: func(r bench.Result, round int) error {
			if s.plan.unjudged {
				s.finish(r)
			}
			return s.journal.Append(runner.Entry{Key: s.keys[r.Cell.ID()], Round: round, Result: r})
		},
		Optional: s.plan.informational,
		Progress: s.progress(),
	}
}

// ready reports whether a process has measured a cell with others.
func (s *session) ready() func(bench.Cell, bench.Device) bool {
	suites := measurerOf(s.plan).suites
	return func(c bench.Cell, d bench.Device) bool { return suite.Ready(suites[c.Suite], c, d) }
}

// choose has the suites of both sides measure these cells where a process measures several.
func (s *session) choose(cells []bench.Cell) {
	chosen, suites := map[suite.Suite][]bench.Cell{}, measurerOf(s.plan).suites
	for _, c := range cells {
		of := suites[c.Suite]
		chosen[of] = append(chosen[of], c)
		if s.base.has(c.ID()) {
			old := s.base.cells[c.ID()]
			chosen[old.suite] = append(chosen[old.suite], old.cell)
		}
	}
	for of, wanted := range chosen {
		if sharer, ok := of.(suite.Sharer); ok {
			sharer.Choose(wanted)
		}
	}
}

// finish notes a measurement, which an error may make the last one.
func (s *session) finish(r bench.Result) {
	s.finished = slices.DeleteFunc(s.finished, func(old bench.Result) bool { return old.Cell.ID() == r.Cell.ID() })
	s.finished = append(s.finished, r)
}

func (s *session) earlierOf(c bench.Cell, round int) (bench.Result, bool) {
	id := c.ID()
	e, ok := s.earlier[id][round]
	return e.Result, ok && e.Key == s.keys[id]
}

// jobIsOver reports whether the batch system will end this process soon.
func (s *session) jobIsOver() bool { return !s.ends.IsZero() && !s.Now().Before(s.ends) }

// outOfTime ends measuring when the budget or the time of the job is used up.
func (s *session) outOfTime() (string, bool) {
	if s.jobIsOver() {
		return jobOver, true
	}
	budget := s.plan.File.Limits.Budget
	if s.plan.Options.Budget > 0 {
		budget = s.plan.Options.Budget
	}
	if budget == 0 || s.Now().Sub(s.started) < budget {
		return "", false
	}
	return fmt.Sprintf("over the budget of %v", budget), true
}
