package engine

import (
	"sync/atomic"
	"time"
)

// generation is a prompt and the answer to it, while it comes.
type generation struct {
	prompt []int
	limit  int // tokens of the answer, at least 1
	queued time.Time
	// tokens holds a whole answer, so that a slow reader delays no other one.
	// It is closed when no more come.
	tokens chan byte
	err    error // why fewer tokens came than the limit; to be read once tokens is closed

	cancelled atomic.Bool
}

func newGeneration(prompt []int, limit int, queued time.Time) *generation {
	return &generation{prompt: prompt, limit: limit, queued: queued, tokens: make(chan byte, limit)}
}

// end closes the answer.
func (g *generation) end(err error) {
	g.err = err
	close(g.tokens)
}

// giveUp returns once no more tokens come, so that a new generation finds the slot of this one free.
func (g *generation) giveUp() {
	g.cancelled.Store(true)
	for range g.tokens {
	}
}

// slot is room for one sequence, and the generation that has it.
type slot struct {
	sequence
	*generation
	next     []int  // tokens to be fed: what is left of the prompt, or the last of the answer
	last     [1]int // what next is cut from once the prompt was fed
	answered int
	done     bool
}

func (s *slot) start(g *generation) {
	s.position, s.generation, s.next, s.answered, s.done = 0, g, g.prompt, 0, false
}

// take adds a token to the answer, or ends it because of an error.
func (s *slot) take(token int, err error) {
	if err != nil {
		s.done = true
		s.end(err)
		return
	}
	s.tokens <- byte(token)
	s.answered++
	s.last[0] = token
	s.next = s.last[:]
	if s.answered == s.limit {
		s.done = true
		s.end(nil)
	}
}
