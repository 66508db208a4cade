package suite

import (
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
)

// Sessions keep what processes yielded for several cells each, until the last one of these has taken it. Each cell takes each
// session once, so every value of a cell is one process. A session that failed is followed by others only as often as
// one cell is measured again. The zero value is ready.
type Sessions[T any] struct {
	mu sync.Mutex
	of map[session]*sessions[T]
}

// session is where processes are alike: what they run, and the device.
type session struct {
	process string
	device  bench.Device
}

// sessions are those since the last one that passed, the oldest first.
type sessions[T any] struct {
	kept   []T
	first  int // number of the first of these
	passed bool
	next   map[string]int // number of the session that a cell takes next, by id
}

// Take returns the next session of a cell, and whether run has made it. run reports whether the process passed. The process ""
// is of the cell alone.
func (s *Sessions[T]) Take(process string, c bench.Cell, d bench.Device, run func() (T, bool, error)) (yield T, fresh bool, err error) {
	if process == "" {
		yield, _, err = run()
		return yield, true, err
	}
	of := s.at(process, d)
	id := c.ID()
	n := max(of.next[id], of.first)
	if n == of.first+len(of.kept) {
		made, passed, err := run()
		if err != nil {
			return made, true, err
		}
		if of.passed {
			of.first, of.kept = n, nil
		}
		of.kept, of.passed, fresh = append(of.kept, made), passed, true
	}
	of.next[id] = n + 1
	return of.kept[n-of.first], fresh, nil
}

// Ready reports whether Take would run nothing.
func (s *Sessions[T]) Ready(process string, c bench.Cell, d bench.Device) bool {
	if process == "" {
		return false
	}
	of := s.at(process, d)
	return max(of.next[c.ID()], of.first) < of.first+len(of.kept)
}

// at is what one goroutine uses at a time: a device measures one cell.
func (s *Sessions[T]) at(process string, d bench.Device) *sessions[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := session{process, d}
	if s.of[at] == nil {
		if s.of == nil {
			s.of = map[session]*sessions[T]{}
		}
		s.of[at] = &sessions[T]{next: map[string]int{}}
	}
	return s.of[at]
}
