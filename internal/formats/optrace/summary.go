package optrace

import (
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// summary sums what a trace's events took.
type summary struct {
	total      int64 // in nanoseconds
	calls      []int64
	times      []int64
	order      []int32 // names as they first come
	start, end int64
}

// add charges nanoseconds and a call to the name of an event.
func (s *summary) add(t *trace, e event, ns int64) error {
	if e.length < 0 {
		return fmt.Errorf("event %s has no ts and dur that are numbers, dur 0 or more: see in the program's log what went wrong with it",
			quote([]byte(t.text(e.name))))
	}
	if e.name < 0 {
		return errors.New("an event has no name: see whether the file is of this profiler")
	}
	if s.calls == nil {
		s.calls, s.times = make([]int64, len(t.words)), make([]int64, len(t.words))
		s.start, s.end = e.start, e.end()
	}
	if s.calls[e.name] == 0 {
		s.order = append(s.order, e.name)
	}
	s.calls[e.name]++
	s.times[e.name] += ns
	s.start, s.end = min(s.start, e.start), max(s.end, e.end())
	if s.total += ns; s.total > maxSeconds*second {
		return fmt.Errorf("the events take more than %v s: see whether ts and dur are in microseconds", maxSeconds)
	}
	return nil
}

// charge adds the times of events, one for each.
func charge(t *trace, s *summary, events []event, times []int64) error {
	for i, e := range events {
		if err := s.add(t, e, times[i]); err != nil {
			return err
		}
	}
	return nil
}

func lengths(events []event) []int64 {
	list := make([]int64, len(events))
	for i, e := range events {
		list[i] = e.length
	}
	return list
}

// operators returns the sums by name.
func (s *summary) operators(t *trace) ([]bench.Entry, error) {
	var ops operators
	for _, name := range s.order {
		text, err := decode([]byte(t.words[name]))
		if err == nil {
			err = ops.add(text, seconds(s.times[name]), s.calls[name])
		}
		if err != nil {
			return nil, err
		}
	}
	entries, _ := ops.sorted()
	return entries, nil
}

// makespan is the time from the first start to the last end.
func (s *summary) makespan() (float64, error) {
	v := seconds(s.end - s.start)
	if err := inRange(v); err != nil {
		return 0, fmt.Errorf("the events span %w: see whether ts is in microseconds", err)
	}
	return v, nil
}

func seconds(ns int64) float64 { return float64(ns) / second }
