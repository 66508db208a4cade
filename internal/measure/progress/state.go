package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Stage is a part of measuring.
type Stage struct {
	Name string         // "measure", "measure again"
	Todo map[string]int // measurements of each cell, by id
	// Later is how many measurements of each cell are expected after this part, by id.
	Later map[string]float64
	// Lanes is how many cells are measured at once; 0 counts as 1.
	Lanes int
}

func (s *Stage) total() (n int) {
	for _, todo := range s.Todo {
		n += todo
	}
	return n
}

func (s *Stage) title() string {
	return fmt.Sprintf("%s: %s, %s", s.Name, text.Plural(len(s.Todo), "cell"), text.Plural(s.total(), "measurement"))
}

// Measurement is one that is finished.
type Measurement struct {
	Result        bench.Result
	Round, Rounds int  // of this cell, from 1
	Skipped       bool // not measured, because an earlier round did not pass
	Reused        bool // taken from an earlier run
}

// cell is what was measured of a cell so far.
type cell struct {
	id      string
	outcome bench.Outcome
	reason  string
	order   []string // metrics
	values  map[string][]float64
	n       int // measurements in this stage
	timed   int // measurements of all stages that spent counts
	spent   time.Duration
	reused  bool // all of them
	told    bool // its line was written
}

type running struct {
	cell  string
	since time.Time
}

// state is what is known of the progress. It has no lock of its own.
type state struct {
	activities []string // begun and not ended, the oldest first
	current    *Stage
	since      time.Time // of the activity or the stage
	begun      time.Time // of the first one of all
	running    []running
	detail     string
	round      int
	rounds     int
	done       int // measurements of this stage
	total      int // those that it is to have
	at         int // cells whose lines were written
	cells      map[string]*cell
	order      []string
	failed     int
	expected   map[string]time.Duration // of one measurement, by earlier runs
	rest       estimate
}

func newState() state { return state{cells: map[string]*cell{}} }

func (s *state) idle() bool { return s.current == nil && len(s.activities) == 0 }

func (s *state) begin(activity string, now time.Time) {
	if s.idle() {
		s.since = now
	}
	if s.begun.IsZero() {
		s.begun = now
	}
	s.activities = append(s.activities, activity)
}

func (s *state) end(activity string) {
	if i := slices.Index(s.activities, activity); i >= 0 {
		s.activities = slices.Delete(s.activities, i, i+1)
	}
}

func (s *state) stage(stage Stage, now time.Time) {
	if s.begun.IsZero() {
		s.begun = now
	}
	s.current, s.since, s.done, s.total, s.at, s.running, s.detail = &stage, now, 0, stage.total(), 0, nil, ""
	s.round, s.rounds = 1, slices.Max(append(slices.Collect(maps.Values(stage.Todo)), 1))
	for id := range stage.Todo {
		if c := s.cells[id]; c != nil {
			c.told, c.n = false, 0
		}
	}
}

func (s *state) endStage() { s.current, s.running, s.detail = nil, nil, "" }

func (s *state) started(id string, now time.Time) {
	s.ended(id)
	s.running = append(s.running, running{id, now})
}

// ended returns when the measurement of a cell began.
func (s *state) ended(id string) (since time.Time) {
	if i := slices.IndexFunc(s.running, func(r running) bool { return r.cell == id }); i >= 0 {
		since = s.running[i].since
		s.running = slices.Delete(s.running, i, i+1)
	}
	return since
}

// finished adds a measurement. last says that the cell has no other in this stage.
func (s *state) finished(m Measurement, now time.Time) (c *cell, last bool) {
	id := m.Result.Cell.ID()
	if c = s.cells[id]; c == nil {
		c = &cell{id: id, values: map[string][]float64{}, reused: true}
		s.cells[id] = c
		s.order = append(s.order, id)
	}
	if since := s.ended(id); !since.IsZero() {
		c.spent, c.timed = c.spent+now.Sub(since), c.timed+1
	}
	s.done++
	c.n++
	s.round, s.rounds = m.Round, max(m.Rounds, 1)
	if m.Skipped {
		return c, false
	}
	if m.Result.Outcome != bench.Passed && c.outcome != m.Result.Outcome {
		s.failed++
	}
	c.outcome, c.reason, c.reused = m.Result.Outcome, m.Result.Reason, c.reused && m.Reused
	for _, sample := range m.Result.Samples {
		if len(sample.Values) == 0 {
			continue
		}
		if c.values[sample.Metric] == nil {
			c.order = append(c.order, sample.Metric)
		}
		c.values[sample.Metric] = append(c.values[sample.Metric], sample.Values[len(sample.Values)-1])
	}
	last = !c.told && (c.outcome != bench.Passed || m.Round >= m.Rounds)
	if last {
		s.at++
	}
	return c, last
}

// unfinished are the lines of cells that a budget or an error left without some of
// their measurements.
func (s *state) unfinished() (lines []string) {
	for _, id := range s.order {
		c := s.cells[id]
		if s.current == nil || s.current.Todo[id] == 0 || c.told || c.n == 0 {
			continue
		}
		s.at++
		c.told = true
		lines = append(lines, s.cellLine(c, func(string) bool { return true }))
	}
	return lines
}

// share is how much of the stage is done.
func (s *state) share() (done, total int64) {
	if s.current == nil {
		return 0, 0
	}
	return int64(s.done), int64(max(s.total, s.done+1)) // a full bar would end
}

// estimate is how long the measurements take that are not finished.
type estimate struct {
	done  int // measurements when it was made
	stage *Stage
	time  time.Duration
	ok    bool
}

// left is how long the rest takes, that of the stages that are expected included, without
// what the present measurements have already taken.
func (s *state) left(now time.Time) (left time.Duration, ok bool) {
	if s.current == nil {
		return 0, false
	}
	// A run of 100,000 cells must not be slowed down by what it shows.
	if few := s.total / 200; s.rest.stage != s.current || s.done-s.rest.done > few || !s.rest.ok {
		s.rest = estimate{done: s.done, stage: s.current}
		s.rest.time, s.rest.ok = s.unmeasured()
	}
	left = s.rest.time
	for _, r := range s.running {
		left -= min(now.Sub(r.since), s.expected[r.cell])
	}
	return max(0, left/time.Duration(max(1, s.current.Lanes))), s.rest.ok
}

// unmeasured is how long the measurements take that are not finished: by those of each
// cell in this run, else by earlier runs, else by the mean of this run.
func (s *state) unmeasured() (left time.Duration, ok bool) {
	var sum time.Duration
	n := 0
	for _, c := range s.cells {
		sum, n = sum+c.spent, n+c.timed
	}
	for id, todo := range s.current.Todo {
		done, each := 0, s.expected[id]
		if c := s.cells[id]; c != nil {
			done = c.n
			if c.timed > 0 {
				each = c.spent / time.Duration(c.timed)
			}
			if c.outcome != "" && c.outcome != bench.Passed {
				continue
			}
		}
		if each == 0 && n > 0 {
			each = sum / time.Duration(n)
		}
		if each == 0 && todo > done {
			return 0, false
		}
		left += time.Duration(float64(each) * (float64(max(0, todo-done)) + s.current.Later[id]))
	}
	return left, true
}

// status is what happens now, in one line without control characters. The cell is last,
// because a narrow terminal cuts the end.
func (s *state) status(now time.Time) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch n := len(s.activities); {
	case s.current != nil:
		add("%s: %d of %s", s.current.Name, s.at, text.Plural(len(s.current.Todo), "cell"))
		add("round %d/%d", s.round, s.rounds)
	case n > 0:
		add("%s", s.activities[n-1])
	}
	elapsed := short(now.Sub(s.begun))
	if left, ok := s.left(now); ok && left > 0 {
		elapsed += ", about " + short(left) + " left"
	}
	add("%s", elapsed)
	if s.failed > 0 {
		add("%d failed", s.failed)
	}
	switch {
	case s.detail != "":
		add("%s", s.detail)
	case len(s.running) > 0:
		r := s.running[0]
		add("%s %s", text.OneLine(r.cell), short(now.Sub(r.since)))
	}
	return strings.Join(parts, " · ")
}

// short writes a time as "0.4s", "12s" or "3m40s".
func short(t time.Duration) string {
	if t < time.Second {
		return fmt.Sprintf("%.1fs", t.Seconds())
	}
	return t.Round(time.Second).String()
}
