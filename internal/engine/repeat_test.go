package engine

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// counting counts the multiply-adds of a matrix.
type counting struct {
	matrix
	in, out int
	work    *atomic.Int64
}

func (c counting) mul(y, x []float32) {
	c.work.Add(int64(len(x) * c.out))
	c.matrix.mul(y, x)
}

// countingRows counts the multiply-adds of the tokens that attend to all keys
// before them, when the keys are read.
type countingRows struct {
	kvRows
	width  int // of the queries
	tokens int // keys since the last reading: one for each token that attends
	work   *atomic.Int64
}

func (c *countingRows) put(row int, x []float32) {
	c.tokens++
	c.kvRows.put(row, x)
}

func (c *countingRows) rows(n int) []float32 {
	for ; c.tokens > 0; c.tokens-- {
		c.work.Add(int64(2 * c.width * (n - c.tokens + 1)))
	}
	return c.kvRows.rows(n)
}

// attention counts what the sequences of a session or of a scheduler attend to.
func attention(m *model, sequences ...*sequence) {
	work := m.unembed.(counting).work
	for _, s := range sequences {
		for i, keys := range s.keys {
			s.keys[i] = &countingRows{keys, m.queryWidth(), 0, work}
		}
	}
}

// counted returns a model whose clock shows the multiply-adds of its matrix
// products as nanoseconds, so that rates are of work and the host is no part of them.
func counted(t *testing.T, o options) *model {
	t.Helper()
	work := new(atomic.Int64)
	o.Now = func() time.Time { return time.Unix(0, work.Load()) }
	m := newModel(t, o)
	width := m.queryWidth() + 2*m.kvWidth()
	for i := range m.layers {
		l := &m.layers[i]
		l.qkv = counting{l.qkv, m.dim, width, work}
		l.out = counting{l.out, m.queryWidth(), m.dim, work}
		l.gateUp = counting{l.gateUp, m.dim, 2 * m.ffn, work}
		l.down = counting{l.down, m.ffn, m.dim, work}
	}
	m.unembed = counting{m.unembed, m.dim, vocabulary, work}
	return m
}

// within is by how many points a rate may fall by more or less than was asked.
const within = 2.0

// TestInjectedSlowdownIsAShareOfTheWork is about a slow-down of 10 % that was 30
// to 46 % on a busy host, because it waited.
func TestInjectedSlowdownIsAShareOfTheWork(t *testing.T) {
	shareOfTheWork(t, []options{{Backend: backendParallel, Threads: 2}, {Model: "micro", KVCache: "f16"}}, [][2]int{{16, 8}}, []percentages{{0, 10}, {20, 75}})
}

func TestInjectedSlowdownIsAShareOfTheWorkThorough(t *testing.T) {
	testtier.Thorough(t)
	shareOfTheWork(t, []options{{}, {Backend: backendParallel, Threads: 2}, {KVCache: "q8_0"}, {Model: "micro", KVCache: "f16"}},
		[][2]int{{16, 8}, {140, 4}}, []percentages{{0, 10}, {10, 0}, {0, 30}, {20, 75}, {95, 1}})
}

type percentages struct{ prefill, decode float64 }

func shareOfTheWork(t *testing.T, options []options, lengths [][2]int, slowdowns []percentages) {
	t.Helper()
	for _, o := range options {
		for _, tokens := range lengths {
			base := measured(t, o, tokens, nil)
			for _, c := range slowdowns {
				slow := Slowdown{phasePrefill: c.prefill, phaseDecode: c.decode}
				t.Run(fmt.Sprintf("%s %s %s %v %s", o.Model, o.Backend, o.KVCache, tokens, slow), func(t *testing.T) {
					got := measured(t, o, tokens, slow)
					near(t, "prefill", base.prefill, got.prefill, c.prefill)
					near(t, "decode", base.decode, got.decode, c.decode)
					if !slices.Equal(got.tokens, base.tokens) {
						t.Error("the answer changed")
					}
				})
			}
		}
	}
}

// measured is one run of so many tokens of prompt and answer.
func measured(t *testing.T, o options, tokens [2]int, slow Slowdown) run {
	t.Helper()
	m := counted(t, o)
	p := plan{options: m.options, prompt: make([]int, tokens[0]), answer: tokens[1], runs: 1, slow: slow}
	s := newSession(t, m, tokens[0]+tokens[1])
	attention(m, &s.sequence)
	runs, err := p.repeat(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

// near checks that a rate fell by the percentage.
func near(t *testing.T, phase string, plain, slow time.Duration, percent float64) {
	t.Helper()
	fell := 100 * (1 - float64(plain)/float64(slow))
	if math.Abs(fell-percent) > within {
		t.Errorf("%s fell by %.2f %%, want %v %%", phase, fell, percent)
	}
}

// TestSchedulerRepeatsAShareOfTheWork slows one phase of steps that hold both.
func TestSchedulerRepeatsAShareOfTheWork(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	work := func(slow Slowdown) time.Duration {
		m := counted(t, options{})
		s := newScheduler(m, 3, 200, slow)
		for _, slot := range s.free {
			attention(m, &slot.sequence)
		}
		for _, prompt := range []int{1, 2, 140} {
			if err := s.push(newGeneration(make([]int, prompt), 30, time.Time{})); err != nil {
				t.Fatal(err)
			}
		}
		for s.join(); len(s.active) > 0; s.join() {
			s.advance(t.Context())
			s.leave()
		}
		return time.Duration(s.counts.computing.Load())
	}
	plain, both := work(nil), Slowdown{phasePrefill: 30, phaseDecode: 30}
	near(t, "both phases", plain, work(both), 30)
	more := work(Slowdown{phasePrefill: 30}) - plain + work(Slowdown{phaseDecode: 30}) - plain
	near(t, "one phase and the other", plain, plain+more, 30)
}
