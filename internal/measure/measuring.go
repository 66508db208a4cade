package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	"github.com/accelgate/accelgate/internal/text"
)

// measuring is one measuring of a session: its journal, its devices, its clock.
type measuring struct {
	*Session
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

// inPairs reports whether cells are measured alternately with a base.
func (s *measuring) inPairs() bool { return s.base != nil }

// begin opens the journal. Its Close ends the measuring.
func (s *Session) begin(ctx context.Context, b *base, revision string, lanes Lanes) (*measuring, error) {
	m := &measuring{
		Session:  s,
		base:     b,
		revision: revision,
		lanes:    lanes,
		keys:     map[string]string{},
		declared: map[string]string{},
		started:  s.Now(),
	}
	var err error
	if m.watcher, err = m.newWatcher(lanes.Devices); err != nil {
		return nil, err
	}
	m.changes = m.changed(ctx)
	m.ends = m.untilEnd(ctx)
	for _, one := range m.Plan.Suites {
		if err = m.identify(one); err != nil {
			return nil, err
		}
	}
	path := m.Plan.OutPath("journal.jsonl")
	key, err := m.journalKey(m.Plan.Options.Resume)
	if err != nil {
		return nil, err
	}
	if !m.Plan.Options.Resume {
		m.journal, err = runner.CreateJournal(path, key)
		return m, err
	}
	journal, entries, err := runner.ContinueJournal(path, key)
	if err != nil {
		return nil, err
	}
	m.journal, m.earlier = journal, runner.Earlier(entries)
	m.announce(entries)
	return m, nil
}

// announce says what of an interrupted run is kept.
func (s *measuring) announce(entries []runner.Entry) {
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
	fmt.Fprintf(s.Stderr,
		"accelgate: resuming: %s kept; %d that failed and %d of another build, configuration, environment or host are not",
		text.Plural(kept, "measurement"), failed, other)
	if unselected > 0 {
		fmt.Fprintf(s.Stderr, "; %d are of cells that are not selected now", unselected)
	}
	fmt.Fprintln(s.Stderr)
}

// identify computes the keys of a suite's cells: revision, configuration, host, device and tool,
// with the digest of the run cells.
func (s *measuring) identify(one Planned) error {
	for _, cell := range one.Cells {
		id := cell.ID()
		command, err := s.suites[one.Name].Digest(cell)
		if err != nil {
			return err
		}
		device := s.lanes.For(cell).String()
		if s.Plan.job != nil {
			device = "" // a job that is started again gets others
		}
		base := ""
		if s.inPairs() {
			if base, err = s.base.digest(cell); err != nil {
				return err
			}
		}
		if err := s.declare(&one.Plan, cell); err != nil {
			return err
		}
		data, err := json.Marshal(
			[]any{s.revision, s.changes, s.Plan.File.Digest, s.Plan.Host, device, Tool(), id, command, base, s.declared[id]},
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
func grouped(of *suite.Plan, cells []bench.Cell) []int {
	numbers, at := make([]int, len(cells)), make(map[string]int, len(cells))
	next := 0
	for i, c := range cells {
		id := c.ID()
		n, ok := at[cmp.Or(of.Partners[id], id)]
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
func (s *measuring) measure(ctx context.Context, run *bench.Run) error {
	var cells []bench.Cell
	for _, one := range s.Plan.Suites {
		cells = append(cells, s.measurable(&one)...)
	}
	if len(cells) > 0 {
		end := s.stage("measure", cells, s.repeats(), s.pairsAhead(cells))
		s.chooseBoth(cells)
		results, out, err := runner.Run(ctx, s.measurer(), cells, s.options())
		end()
		if err != nil {
			return s.interrupted(err)
		}
		s.attach(results)
		run.Results, run.LeftOut = results, append(run.LeftOut, out...)
		s.Plan.relate(run)
		run.Warnings = append(run.Warnings, s.cutShort(results)...)
		run.Warnings = append(run.Warnings, warmUp(run)...)
	}
	for _, one := range s.Plan.Suites {
		if why := s.whyUnbuilt(one.Name); why != "" {
			run.Results = append(run.Results, one.failed(why)...)
		}
		run.Results = append(run.Results, one.unlisted(s.Plan.Options.Shard)...)
		run.Results = append(run.Results, one.Skipped...)
	}
	return nil
}

// cutShort declares the measurements that a budget left no time for.
func (s *measuring) cutShort(results []bench.Result) []string {
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
		fmt.Sprintf("the budget ended before all repeats: %s with fewer values than configured; raise limits.budget, or lower repeats",
			text.Plural(n, "cell")),
	}
}

// bySuite measures each cell by its suite. What a suite keeps running on a
// device ends before another suite measures there, or a cell that needs another number of devices.
type bySuite struct {
	session *Session
	mu      sync.Mutex
	last    map[bench.Device]string
}

// Measure implements [runner.Measurer].
func (b *bySuite) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	if err := b.clear(c.Suite, d); err != nil {
		return bench.Result{}, err
	}
	r, err := b.session.measureOnce(ctx, c, d)
	need := b.session.Plan.need(c)
	if need.width > 1 && err == nil {
		r.SetCondition("devices", strconv.Itoa(need.width))
		if need.sameNode {
			r.SetCondition("same_node", "true")
		}
	}
	if need.nodes > 1 && err == nil {
		r.SetCondition("nodes", strconv.Itoa(need.nodes))
	}
	if profile := device.Profile(d, b.session.Plan.Host); profile != "" && err == nil {
		r.SetCondition("mig", profile)
	}
	for condition, list := range b.session.Plan.cpus[c.Suite].conditions() {
		if list != "" && err == nil {
			r.SetCondition(condition, list)
		}
	}
	return r, err
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

func (b *bySuite) release(name string, d bench.Device) error { return b.session.Release(name, d) }

func (s *measuring) measurer() runner.Measurer {
	watched := s.watch(s.paired())
	measured := redacting{impossible{promoting{watched, s.Plan}, s.Plan.Metrics}, s.secrets()}
	return announced{measured, s.Progress}
}

// secrets are those of this process and of the suites of both sides.
func (s *measuring) secrets() []string {
	secrets := s.Session.secrets()
	if s.inPairs() { // the base's output is shown, too
		for _, one := range s.base.session.Plan.Suites {
			secrets = append(secrets, one.Plan.Secrets...)
		}
	}
	return secrets
}

func (s *measuring) interrupted(err error) error {
	if s.Plan.unjudged {
		return err // whoever measures so says what is kept
	}
	return fmt.Errorf("%w\nwhat was finished is in %s: go on with --resume, or start over without it", err, s.Plan.OutPath("journal.jsonl"))
}

// repeats returns how often each cell is to be measured.
func (s *measuring) repeats() func(bench.Cell) int {
	repeats := map[string]int{}
	for _, one := range s.Plan.Suites {
		repeats[one.Name] = s.Plan.repeats(&one)
	}
	return func(c bench.Cell) int {
		if s.same[c.ID()] {
			return 1 // for the answer alone
		}
		if s.inPairs() && s.base.has(c.ID()) {
			return s.base.pairs
		}
		return repeats[c.Suite]
	}
}

func (s *measuring) options() runner.Options {
	return runner.Options{
		Repeats:   s.repeats(),
		Retries:   s.Plan.retries,
		Device:    s.lanes.For,
		Group:     s.group,
		Earlier:   s.earlierOf,
		OutOfTime: s.outOfTime,
		Ready:     s.ready,
		Ends:      s.ends,
		Journal: func(r bench.Result, round int) error {
			if s.Plan.unjudged {
				s.finish(r)
			}
			return s.journal.Append(runner.Entry{Key: s.keys[r.Cell.ID()], Round: round, Result: r})
		},
		Optional: s.Plan.informational,
		Progress: s.progress(),
	}
}

// chooseBoth has both sides measure these cells next where a process measures several.
func (s *measuring) chooseBoth(cells []bench.Cell) {
	s.choose(cells)
	if !s.inPairs() {
		return
	}
	var old []bench.Cell
	for _, c := range cells {
		if s.base.has(c.ID()) {
			old = append(old, s.base.cells[c.ID()].cell)
		}
	}
	s.base.session.choose(old)
}

// finish notes a measurement, which an error may make the last one.
func (s *measuring) finish(r bench.Result) {
	s.finished = slices.DeleteFunc(s.finished, func(old bench.Result) bool { return old.Cell.ID() == r.Cell.ID() })
	s.finished = append(s.finished, r)
}

func (s *measuring) earlierOf(c bench.Cell, round int) (bench.Result, bool) {
	id := c.ID()
	e, ok := s.earlier[id][round]
	return e.Result, ok && e.Key == s.keys[id]
}

// jobIsOver reports whether the batch system will end this process soon.
func (s *measuring) jobIsOver() bool { return !s.ends.IsZero() && !s.Now().Before(s.ends) }

// outOfTime ends measuring when the budget or the time of the job is used up.
func (s *measuring) outOfTime() (string, bool) {
	if s.jobIsOver() {
		return jobOver, true
	}
	budget := s.Plan.File.Limits.Budget
	if s.Plan.Options.Budget > 0 {
		budget = s.Plan.Options.Budget
	}
	if budget == 0 || s.Now().Sub(s.started) < budget {
		return "", false
	}
	return fmt.Sprintf("over the budget of %v", budget), true
}
