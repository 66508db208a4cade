package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"time"
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
func alone(t *testing.T, m *Model, prompt []int, n int) []int {
	tokens, _ := answer(t, m, decode(prompt), n)
	return tokens
}

// TestBatchAnswersAsSession mixes prompts that are shorter and longer than a
// chunk, joins while others are under way, and cancellations. Whatever the
// company, an answer must be that of a session alone.
func TestBatchAnswersAsSession(t *testing.T) {
	t.Parallel()
	for _, backend := range Backends() {
		dtypes := kvCacheDTypes()
		if testtier.Race { // they have the same goroutines
			dtypes = dtypes[:1]
		}
		for _, dtype := range dtypes {
			t.Run(backend+"/"+dtype, func(t *testing.T) {
				t.Parallel()
				m := newModel(t, Options{Model: "micro", Seed: 5, Backend: backend, KVCache: dtype})
				s := newScheduler(m, 4, 256, 100, nil)
				startScheduler(t, s)
				random := rand.New(rand.NewPCG(1, 2))
				var group sync.WaitGroup
				for range 8 {
					prompt, n := randomPrompt(random, 1+random.IntN(220)), 1+random.IntN(30)
					quit, late := random.IntN(4) == 0, time.Duration(random.IntN(20))*time.Millisecond
					group.Go(func() { oneOfMany(t, s, prompt, n, quit, late) })
				}
				group.Wait()
			})
		}
	}
}

func oneOfMany(t *testing.T, s *scheduler, prompt []int, n int, quit bool, late time.Duration) {
	time.Sleep(late)
	g := newGeneration(prompt, n, time.Now())
	if err := s.push(g); err != nil {
		t.Error(err)
		return
	}
	if quit {
		<-g.tokens
		s.cancel(g)
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
	s := newScheduler(newModel(t, Options{Model: "micro"}), slots, 64, slots, nil)
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

func TestQueueIsFirstInFirstOut(t *testing.T) {
	q := newQueue(3)
	var all []*generation
	for range 3 {
		g := newGeneration([]int{1}, 1, time.Now())
		all = append(all, g)
		if err := q.push(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.push(newGeneration([]int{1}, 1, time.Now())); err != errBusy {
		t.Errorf("a full queue: got %v, want %v", err, errBusy)
	}
	q.remove(all[1])
	if q.pop() != all[0] || q.pop() != all[2] || q.pop() != nil {
		t.Error("the order is not that of arrival")
	}
	last := newGeneration([]int{1}, 1, time.Now())
	if err := q.push(last); err != nil {
		t.Fatal(err)
	}
	q.close()
	if _, err := await(last); err != errStopping {
		t.Errorf("one that waits when the queue closes: got %v, want %v", err, errStopping)
	}
	if err := q.push(last); err != errStopping {
		t.Errorf("a closed queue: got %v, want %v", err, errStopping)
	}
}

func TestSchedulerStopsWithTheContext(t *testing.T) {
	s := newScheduler(newModel(t, Options{Model: "micro"}), 1, maxTokens, 2, nil)
	ctx, stop := context.WithCancel(t.Context())
	active, waiting := newGeneration([]int{1}, 8000, time.Now()), newGeneration([]int{1}, 1, time.Now())
	for _, g := range []*generation{active, waiting} {
		if err := s.push(g); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	group.Go(func() { s.run(ctx) })
	<-active.tokens
	stop()
	group.Wait()
	for name, g := range map[string]*generation{"active": active, "waiting": waiting} {
		if _, err := await(g); err != errStopping {
			t.Errorf("%s: got %v, want %v", name, err, errStopping)
		}
	}
}

// TestStepsDoNotAllocate covers a step of all phases at once.
func TestStepsDoNotAllocate(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	for _, dtype := range kvCacheDTypes() {
		s := newScheduler(newModel(t, Options{Model: "micro", KVCache: dtype}), 3, maxTokens, 3, Slowdown{})
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
