package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// startScheduler computes until the test ends.
func startScheduler(t *testing.T, s *scheduler) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { s.run(ctx) })
	t.Cleanup(func() {
		stop()
		group.Wait()
	})
}

// await returns the whole answer.
func await(g *generation) (tokens []int, err error) {
	for token := range g.tokens {
		tokens = append(tokens, int(token))
	}
	return tokens, g.err
}

func randomPrompt(random *rand.Rand, n int) []int {
	prompt := make([]int, n)
	for i := range prompt {
		prompt[i] = random.IntN(vocabulary)
	}
	return prompt
}

// alone answers a prompt in a session by itself.
func alone(t *testing.T, m *model, prompt []int, n int) []int {
	tokens, _ := answer(t, m, decode(prompt), n)
	return tokens
}

// TestBatchAnswersAsSession mixes prompts that are shorter and longer than a
// chunk, joins while others are under way, and cancellations. Whatever the
// company, an answer must be that of a session alone.
func TestBatchAnswersAsSession(t *testing.T) {
	t.Parallel()
	for _, backend := range backends() {
		dtypes := kvCacheDTypes()
		if testtier.Race { // they have the same goroutines
			dtypes = dtypes[:1]
		}
		for _, dtype := range dtypes {
			t.Run(backend+"/"+dtype, func(t *testing.T) {
				t.Parallel()
				m := newModel(t, options{Model: "micro", Seed: 5, Backend: backend, KVCache: dtype})
				s := newScheduler(m, 4, 256, nil)
				startScheduler(t, s)
				q := openai.NewQueue(4, 100, s.stopped)
				random := rand.New(rand.NewPCG(1, 2))
				var group sync.WaitGroup
				for range 8 {
					prompt, n := randomPrompt(random, 1+random.IntN(220)), 1+random.IntN(30)
					quit, late := random.IntN(4) == 0, time.Duration(random.IntN(20))*time.Millisecond
					group.Go(func() { oneOfMany(t, s, q, prompt, n, quit, late) })
				}
				group.Wait()
			})
		}
	}
}

func oneOfMany(t *testing.T, s *scheduler, q *openai.Queue, prompt []int, n int, quit bool, late time.Duration) {
	time.Sleep(late)
	leave, err := q.Enter(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	defer leave()
	g := newGeneration(prompt, n, time.Now())
	if err := s.push(g); err != nil {
		t.Error(err)
		return
	}
	if quit {
		<-g.tokens
		g.giveUp()
		return
	}
	got, err := await(g)
	if want := alone(t, s.model, prompt, n); err != nil || !slices.Equal(got, want) {
		t.Errorf("a prompt of %d tokens: got %v, %v, want %v", len(prompt), got, err, want)
	}
}

// TestBatchSharesSteps counts the steps of prompts that arrive together: 8
// answers in hardly more steps than one takes, and prompts chunk by chunk.
func TestBatchSharesSteps(t *testing.T) {
	const slots, n = 8, 20
	s := newScheduler(newModel(t, options{Model: "micro"}), slots, 64, nil)
	var all []*generation
	for i := range slots {
		all = append(all, newGeneration(encode(fmt.Sprintf("prompt %d of thirty-two bytes....", i)), n, time.Now()))
		if err := s.push(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	startScheduler(t, s)
	for _, g := range all {
		if got, err := await(g); len(got) != n || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
	// 8 prompts of 32 tokens are two chunks, and each gives its first token.
	if got := s.counts.steps.Load(); got > n+1 {
		t.Errorf("%d answers of %d tokens took %d steps, want %d", slots, n, got, n+1)
	}
}

func TestSchedulerStopsWithTheContext(t *testing.T) {
	s := newScheduler(newModel(t, options{Model: "micro"}), 1, maxTokens, nil)
	ctx, stop := context.WithCancel(t.Context())
	active, waiting := newGeneration([]int{1}, 8000, time.Now()), newGeneration([]int{1}, 1, time.Now())
	var group sync.WaitGroup
	group.Go(func() { s.run(ctx) })
	for _, g := range []*generation{active, waiting} {
		if err := s.push(g); err != nil {
			t.Fatal(err)
		}
		if g == active {
			<-g.tokens
		}
	}
	stop()
	group.Wait()
	for name, g := range map[string]*generation{"active": active, "waiting": waiting} {
		if _, err := await(g); err != openai.ErrStopping {
			t.Errorf("%s: got %v, want %v", name, err, openai.ErrStopping)
		}
	}
	if err := s.push(newGeneration([]int{1}, 1, time.Now())); err != openai.ErrStopping {
		t.Errorf("afterwards: got %v, want %v", err, openai.ErrStopping)
	}
}

// TestStepsDoNotAllocate covers a step of all phases at once.
func TestStepsDoNotAllocate(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	for _, dtype := range kvCacheDTypes() {
		s := newScheduler(newModel(t, options{Model: "micro", KVCache: dtype}), 3, maxTokens, Slowdown{})
		for range 3 {
			if err := s.push(newGeneration(make([]int, 300), 2000, time.Now())); err != nil {
				t.Fatal(err)
			}
		}
		s.join()
		if got := testing.AllocsPerRun(20, func() { s.leave(); s.advance(t.Context()) }); got != 0 {
			t.Errorf("%s: %v allocations a step", dtype, got)
		}
	}
}
