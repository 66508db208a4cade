// Package search finds the highest load that a server holds, by bisection with
// repeats at the end points. It sends nothing and reads no clock: a probe does.
package search

import (
	"errors"
	"fmt"
	"math"
)

// Options say where to search. Min and Max are loads above 0, such as
// requests a second.
type Options struct {
	Min, Max float64
	// Whole allows whole loads only, such as requests at once.
	Whole bool
	// Precision is the relative distance of the end points at which the search
	// ends, above 0.
	Precision float64
	// Repeats is how often each end point is probed, at least once. The majority
	// counts.
	Repeats int
}

// Result is what a search found: Low <= Value <= High.
type Result struct {
	// Value is the highest load that most of its probes held.
	Value float64
	// Low is the highest load, up to Value, that every probe of it held, and High
	// the least above Value that none held. High is Value where nothing failed.
	Low, High float64
	Probes    int
	// Unbounded means that Most was held, so the limit is higher.
	Unbounded bool
	// Unfinished means that probing ended before the end points were as close and
	// as often repeated as asked for.
	Unfinished bool
}

// ErrNone means that even the least load was not held.
var ErrNone = errors.New("the least load is not held")

// ErrStop is for probes: returned by one, it ends a search with what was found so far.
var ErrStop = errors.New("no further probe")

// Find searches. probe applies a load and reports whether the server held it; it
// is called from one goroutine. An error of probe other than ErrStop ends the
// search with it.
func Find(o Options, probe func(load float64) (holds bool, err error)) (Result, error) {
	s := &seeker{Options: o, probe: probe, seen: map[float64]*votes{}}
	err := s.find()
	if err != nil && !errors.Is(err, ErrStop) {
		return s.result(), err
	}
	r := s.result()
	r.Unfinished = err != nil
	if r.Value == 0 {
		return r, fmt.Errorf("%w: %w", ErrNone, errors.Join(err))
	}
	return r, nil
}

type votes struct{ held, failed int }

func (v *votes) holds() bool { return v.held > v.failed }
func (v *votes) all() int    { return v.held + v.failed }

type seeker struct {
	Options
	probe  func(float64) (bool, error)
	seen   map[float64]*votes
	probes int
}

// maxSteps bounds a search whose server contradicts itself for ever.
const maxSteps = 200

func (s *seeker) find() error {
	for range maxSteps {
		low, high := s.ends()
		load, done := s.next(low, high)
		if done {
			return nil
		}
		if err := s.vote(load); err != nil {
			return err
		}
	}
	return ErrStop
}

func (s *seeker) vote(load float64) error {
	holds, err := s.probe(load)
	if err != nil {
		return err
	}
	s.probes++
	v := s.seen[load]
	if v == nil {
		v = &votes{}
		s.seen[load] = v
	}
	if holds {
		v.held++
	} else {
		v.failed++
	}
	return nil
}

// ends are the least load that failed and the highest below it that was held; 0
// where there is none.
func (s *seeker) ends() (low, high float64) {
	for load, v := range s.seen {
		if !v.holds() && (high == 0 || load < high) {
			high = load
		}
	}
	for load, v := range s.seen {
		if v.holds() && load > low && (high == 0 || load < high) {
			low = load
		}
	}
	return low, high
}

// next is the load to probe, or that the search is done.
func (s *seeker) next(low, high float64) (load float64, done bool) {
	switch {
	case low == 0 && high == 0:
		return s.Min, false
	case low == 0: // the least load failed
		return high, s.settled(high)
	case high == 0 && low >= s.Max:
		return low, s.settled(low)
	case high == 0:
		return s.round(min(2*low, s.Max)), false
	case !s.close(low, high):
		return s.between(low, high), false
	case !s.settled(low):
		return low, false
	}
	return high, s.settled(high)
}

// settled reports whether a load was probed often enough.
func (s *seeker) settled(load float64) bool {
	v := s.seen[load]
	return v.all() >= s.Repeats && v.held != v.failed
}

func (s *seeker) close(low, high float64) bool {
	return high/low <= 1+s.Precision || s.Whole && high-low <= 1
}

// between is the geometric mean, strictly between whole end points.
func (s *seeker) between(low, high float64) float64 {
	middle := math.Sqrt(low * high)
	if s.Whole {
		middle = min(max(math.Round(middle), low+1), high-1)
	}
	return max(middle, s.Min)
}

func (s *seeker) round(load float64) float64 {
	if s.Whole {
		return math.Round(load)
	}
	return load
}

func (s *seeker) result() Result {
	low, high := s.ends()
	r := Result{Value: low, Low: 0, High: high, Probes: s.probes}
	for load, v := range s.seen {
		if v.failed == 0 && load <= low && load > r.Low {
			r.Low = load
		}
	}
	for load, v := range s.seen {
		if v.held == 0 && load > low && (s.mixed(r.High) || load < r.High) {
			r.High = load
		}
	}
	if high == 0 {
		r.High, r.Unbounded = low, low > 0 && low >= s.Max
	}
	return r
}

// mixed reports whether some probes of a load held it.
func (s *seeker) mixed(load float64) bool {
	v := s.seen[load]
	return v != nil && v.held > 0
}
