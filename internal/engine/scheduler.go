package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// scheduler answers generations with continuous batching: each step feeds one
// token of every answer under way and up to a chunk of the prompts that are
// still being read, the oldest first. Generations join and leave between
// steps. An answer is that of a [session] alone, bit for bit.
type scheduler struct {
	batch
	slow    Slowdown
	given   chan *generation // with a slot each, that have not joined yet
	stopped chan struct{}    // run has ended, or is about to
	ending  sync.Mutex       // of stopped, against push
	free    []*slot
	active  []*slot // in the order they joined
	fed     []*slot // one for each part of the step
	counts  counts
}

// newScheduler returns a scheduler for so many sequences at once, each of at
// most capacity tokens.
func newScheduler(m *model, slots, capacity int, slow Slowdown) *scheduler {
	s := &scheduler{
		batch: m.newBatch(slots+chunk, slots, capacity), slow: slow,
		given: make(chan *generation, slots), stopped: make(chan struct{}),
	}
	keys, values := m.scratch(capacity)
	for range slots {
		s.free = append(s.free, &slot{sequence: m.newSequence(capacity, keys, values)})
	}
	return s
}

// push begins a generation. Whoever calls it has one of the slots.
func (s *scheduler) push(g *generation) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	select {
	case <-s.stopped:
		return openai.ErrStopping
	default:
	}
	select {
	case s.given <- g:
		return nil
	default:
		return errors.New("more generations than slots: wait for a slot of the queue first")
	}
}

// close refuses further generations and ends those that have not joined.
func (s *scheduler) close() {
	s.ending.Lock()
	defer s.ending.Unlock()
	close(s.stopped)
	for len(s.given) > 0 {
		(<-s.given).end(openai.ErrStopping)
	}
}

// run computes until the context ends; then it ends what is under way and
// refuses what comes.
func (s *scheduler) run(ctx context.Context) {
	for ctx.Err() == nil {
		s.leave()
		s.join()
		if len(s.active) > 0 {
			s.advance(ctx)
			runtime.Gosched() // to those who send the tokens; on one processor they would wait for milliseconds
			continue
		}
		select {
		case g := <-s.given:
			s.start(g)
		case <-ctx.Done():
		}
	}
	s.close()
	for _, slot := range s.active {
		if !slot.done {
			slot.end(openai.ErrStopping)
		}
	}
}

// leave frees the slots of generations that are complete or given up.
func (s *scheduler) leave() {
	s.active = slices.DeleteFunc(s.active, func(slot *slot) bool {
		if !slot.done && !slot.cancelled.Load() {
			return false
		}
		if !slot.done {
			slot.end(context.Canceled)
		}
		slot.generation, slot.next = nil, nil
		s.free = append(s.free, slot)
		return true
	})
}

// join lets begin what was given meanwhile.
func (s *scheduler) join() {
	for len(s.free) > 0 && len(s.given) > 0 {
		s.start(<-s.given)
	}
}

func (s *scheduler) start(g *generation) {
	slot := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	slot.start(g)
	s.active = append(s.active, slot)
	s.counts.queued.Add(int64(s.profile.now().Sub(g.queued)))
}

// advance computes one step and hands out its tokens.
func (s *scheduler) advance(ctx context.Context) {
	start := s.profile.now()
	s.profile.start()
	prompt := s.assemble()
	logits := s.step(ctx)
	tokens := 0
	for i, slot := range s.fed {
		slot.next = slot.next[len(s.parts[i].tokens):]
		if s.parts[i].ask {
			token, err := greedy(row(logits, tokens, vocabulary))
			if err != nil {
				err = fmt.Errorf("model %s with seed %d: %w: try another seed", s.model.name, s.model.options.Seed, err)
			}
			slot.take(token, err)
			tokens++
		}
	}
	s.profile.lap(opSample)
	s.counts.step(s.profile.now().Sub(start), prompt, tokens)
}

// assemble chooses what the step feeds and returns how many tokens of it are
// of prompts.
func (s *scheduler) assemble() (prompt int) {
	s.parts, s.fed = s.parts[:0], s.fed[:0]
	for _, slot := range s.active {
		n, phase := len(slot.next), phaseDecode
		if slot.answered == 0 {
			n, phase = min(n, chunk-prompt), phasePrefill
			prompt += n
		}
		if n > 0 {
			s.parts = append(s.parts, part{&slot.sequence, slot.next[:n], n == len(slot.next), s.slow.again(phase)})
			s.fed = append(s.fed, slot)
		}
	}
	return prompt
}
