package jsonl

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// Options say how trials are judged. The zero value has the defaults of package
// detect.
type Options struct {
	MinEffect float64 // relative; 0 is detect's, by mode
	Alpha     float64 // of cells that are judged alone; 0 is the calibrated one
	// FalseAlarms is the chance that a group of unchanged cells holds one that is
	// regressed; 0 is detect's.
	FalseAlarms float64
}

// Class is what is said of a cell.
type Class string

// The classes. Whatever is not known is Inconclusive.
const (
	Unchanged    Class = "unchanged"
	Improved     Class = "improved"
	Regressed    Class = "regressed"
	Inconclusive Class = "inconclusive"
)

// Verdict is a judged trial. A change is new/old - 1 in the sign of the values
// themselves: a time that grew is positive, and Better says that this is worse.
// What is not known of a cell that could not be tested is nil.
type Verdict struct {
	ID         string      `json:"id"`
	Group      string      `json:"group,omitempty"`
	Class      Class       `json:"class"`
	Change     *float64    `json:"change"`   // estimate of detect, not that of the medians
	Better     *bool       `json:"better"`   // nil for no change, too
	Interval   *[2]float64 `json:"interval"` // of 95 %, of Change
	P          *float64    `json:"p"`        // one-sided
	Q          *float64    `json:"q"`        // P corrected for the group; 1 where effect or separation forbid an alarm
	N          int         `json:"n"`        // samples of the candidate
	K          int         `json:"k"`        // samples of the base that were used
	Mode       detect.Mode `json:"mode"`
	NoiseFloor float64     `json:"noise_floor,omitempty"`
	MDE        float64     `json:"mde,omitempty"`
	// Pairs is how many pairs were used, where they were judged in stages, and Need
	// how many there would have to be to say more.
	Pairs int `json:"pairs,omitempty"`
	Need  int `json:"need,omitempty"`
	// Suspect means that the cell is worth measuring again: it is Inconclusive.
	Suspect bool `json:"suspect,omitempty"`
	// Shift is what moved all cells of the group alike, and is not in Change.
	Shift  float64 `json:"shift,omitempty"`
	Reason string  `json:"reason,omitempty"` // for people
}

// Judge judges all trials, groups at the same time, and returns the verdicts in the
// order of the lines.
func (s *Set) Judge() []Verdict {
	out := make([]Verdict, len(s.lines))
	groups := make(chan []int)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for at := range groups {
				s.judge(at, out)
			}
		})
	}
	for name, at := range s.groups {
		if name != "" {
			groups <- at
			continue
		}
		for part := range slices.Chunk(at, 1) {
			groups <- part
		}
	}
	close(groups)
	all.Wait()
	return out
}

// judge judges the lines of one group.
func (s *Set) judge(at []int, out []Verdict) {
	if s.lines[at[0]].group == "" {
		s.alone(at, out)
		return
	}
	cells := make([]detect.Cell, len(at))
	for i, n := range at {
		cells[i] = s.lines[n].cell
	}
	r, moved := s.report(at, cells)
	shift := 0.0
	if len(r.Shifts) > 0 {
		shift = r.Shifts[0]
	}
	for i, n := range at {
		l := &s.lines[n]
		v := l.sample.verdict(r.Cells[i])
		v.ID, v.Group = l.id, l.group
		if v.Mode == detect.History && v.N > 0 && v.N <= 3 {
			v.Shift = l.sample.change(shift)
		}
		if moved != "" && v.Mode == detect.History {
			v.Reason = text.Reasons(v.Reason, moved)
		}
		out[n] = v
	}
}

// alone judges lines without a group, each by itself, at Options.Alpha. P is not
// corrected for others.
func (s *Set) alone(at []int, out []Verdict) {
	for _, n := range at {
		l := &s.lines[n]
		e := detect.Judge(l.cell.Base, l.cell.Head, l.cell.Options)
		if e.Q = e.P; !e.Passes {
			e.Q = 1
		}
		out[n] = l.sample.verdict(e)
		out[n].ID = l.id
	}
}

// report judges a group as one run only where its lines can be of one: all have as
// many runs and values. moved says, for people, that all cells moved.
func (s *Set) report(at []int, cells []detect.Cell) (r detect.Report, moved string) {
	if !s.aligned(at) {
		return s.paired(cells, detect.JudgeApart(cells, s.Options.FalseAlarms)), ""
	}
	r = s.paired(cells, detect.JudgeGroup(cells, s.Options.FalseAlarms))
	if r.Host.Verdict != detect.Untested && len(r.Shifts) == 0 {
		moved = fmt.Sprintf("all cells of the group became %s by %.1f %%: look at what they share first, the host or a change",
			map[bool]string{true: "slower", false: "faster"}[r.Host.Estimate > 0], 100*math.Abs(r.Host.Estimate))
	}
	return r, moved
}

// paired replaces what is said of the pairs of a group by the stages that accelgate
// measures them in, where any line has more pairs than the first stage takes: only
// the pairs that would have been measured count. A group of which no line has
// enough for the last stage was not measured in stages, and is judged by all pairs.
func (s *Set) paired(cells []detect.Cell, r detect.Report) detect.Report {
	stages := detect.DefaultStages()
	var pairs []detect.Cell
	var at []int
	maximum := 0
	for i, c := range cells {
		if c.Options.Mode == detect.Interleaved {
			pairs, at = append(pairs, c), append(at, i)
			maximum = max(maximum, min(len(c.Base), len(c.Head)))
		}
	}
	if maximum < stages.Total() {
		return r
	}
	share := s.Options.FalseAlarms
	if share <= 0 {
		share = detect.DefaultFalseAlarms
	}
	if len(pairs) < len(cells) {
		share /= 2 // the others spend the rest
	}
	for j, e := range detect.JudgeStages(pairs, stages, share) {
		r.Cells[at[j]] = e
	}
	return r
}

// aligned reports that no line contradicts that all histories are of the same runs.
func (s *Set) aligned(at []int) bool {
	var first *sample
	for _, n := range at {
		l := &s.lines[n].sample
		switch {
		case l.cell.Options.Mode == detect.Interleaved:
		case first == nil:
			first = l
		case l.shape != first.shape:
			return false
		}
	}
	return true
}

// change turns a relative slow-down into the change of the values.
func (s *sample) change(slower float64) float64 {
	if s.cell.Options.HigherIsBetter {
		return 1/(1+slower) - 1
	}
	return slower
}

// changed fills in by how much the values changed.
func (v *Verdict) changed(e detect.Evidence, s *sample) {
	change, low, high := s.change(e.Estimate), s.change(e.Low), s.change(e.High)
	v.Change, v.Interval = &change, &[2]float64{min(low, high), max(low, high)}
	if e.Estimate != 0 {
		better := e.Estimate < 0
		v.Better = &better
	}
}

func (s *sample) verdict(e detect.Evidence) Verdict {
	v := Verdict{N: e.N, K: e.K, Mode: e.Mode, Reason: e.Reason, Class: Inconclusive}
	if e.Verdict == detect.Untested {
		return v
	}
	v.changed(e, s)
	v.P, v.Q = &e.P, &e.Q
	v.NoiseFloor, v.MDE, v.Pairs, v.Need = e.NoiseFloor, e.MDE, e.Used, e.Need
	switch {
	case e.Mode == detect.History && s.sessions < detect.MinRuns(e.N):
		v.Suspect = e.Verdict == detect.Suspect || e.Verdict == detect.Regressed
		v.Reason = fmt.Sprintf("the noise between runs takes %d runs to estimate, and there are %d: measure again, or in pairs",
			detect.MinRuns(e.N), s.sessions)
	case e.Verdict == detect.Suspect:
		v.Suspect = true
	case e.Verdict == detect.Improved && e.High >= 0: // it may be no better at all
		v.Class = Unchanged
	case e.Verdict != detect.Inconclusive:
		v.Class = Class(e.Verdict)
	}
	return v
}
