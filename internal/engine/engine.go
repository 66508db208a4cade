// Package engine is the embedded default of accelgate: a small decoder-only
// transformer that runs on the CPU, so that a newcomer has something real to
// measure before a real engine is configured. It embeds bytes, normalises with
// RMSNorm, rotates with RoPE, attends with grouped queries over a KV cache,
// feeds forward with SwiGLU and samples greedily.
//
// It is not a language model: its weights are drawn from a seed, and its
// answers mean nothing. What they are is reproducible. A (model, seed, prompt,
// KV cache dtype) has one answer, on every backend, thread count, operating
// system and processor, which makes it a reference for correctness:
//
//   - Weights come from integer arithmetic and one correctly rounded product.
//   - Every product is rounded before it is added, by writing float32(a*b) or
//     float64(a*b). Without the conversion the compiler may fuse product and
//     sum into one instruction where the processor has it, as it does on arm64,
//     and the last bits would differ between platforms.
//   - A dot product is summed in index order by one accumulator, whatever else
//     a backend interleaves or distributes. The backends are therefore equal
//     bit for bit.
//   - exp, sin and cos are the package's own, because those of package math
//     differ between processors in the last bit.
package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The limits of requests. They keep a mistyped number from
// filling the memory of a shared runner.
const (
	maxTokens  = 8192 // of one prompt and its answer together
	maxThreads = 1024
)

// options selects what [New] builds. The zero value is the tiny model with
// seed 0 on the scalar backend.
type options struct {
	Model   string // preset, see [models]; "" is tiny
	Seed    uint64 // of the weights
	Backend string // see [backends]; "" is cpu
	// Threads bounds the goroutines of cpu_parallel; 0 is GOMAXPROCS. The
	// backend cpu has one.
	Threads int
	KVCache string // dtype of the KV cache, see [kvCacheDTypes]; "" is f32
	// Now times the operators; nil is time.Now. Every session calls it from
	// the goroutine that uses the session.
	Now func() time.Time
}

// model holds weights. It does not change once built and may be shared by
// any number of sessions at once.
type model struct {
	preset
	options options // with the defaults filled in
	team    team

	embedding []float32 // vocabulary rows of dim
	layers    []layer
	norm      []float32
	unembed   matrix
}

// layer holds the weights of one transformer layer.
type layer struct {
	attentionNorm   []float32
	qkv, out        matrix
	feedForwardNorm []float32
	gateUp, down    matrix
}

// New draws the weights of a model. It returns an error where the options name
// something that does not exist; the message says what does.
func New(o options) (*model, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &model{options: o, team: team(o.Threads)}
	m.preset = presets[slices.IndexFunc(presets, func(p preset) bool { return p.name == o.Model })]
	m.load()
	return m, nil
}

// threads returns how many goroutines compute at most.
func (m *model) threads() int { return int(m.team) }

func (o options) withDefaults() (options, error) {
	for _, choice := range []struct {
		value   *string
		what    string
		choices []string // the first is the default
	}{
		{&o.Model, "model", models()},
		{&o.Backend, "backend", backends()},
		{&o.KVCache, "KV cache dtype", kvCacheDTypes()},
	} {
		if *choice.value == "" {
			*choice.value = choice.choices[0]
		}
		if !slices.Contains(choice.choices, *choice.value) {
			return o, fmt.Errorf("unknown %s %q: choose one of %s",
				choice.what, *choice.value, strings.Join(choice.choices, ", "))
		}
	}
	if err := o.setThreads(); err != nil {
		return o, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

func (o *options) setThreads() error {
	switch {
	case o.Threads < 0 || o.Threads > maxThreads:
		return fmt.Errorf("%d threads: choose 0 (all processors) to %d", o.Threads, maxThreads)
	case o.Backend == backendScalar && o.Threads > 1:
		return fmt.Errorf("%d threads on backend %s, which has one: choose backend %s",
			o.Threads, backendScalar, backendParallel)
	case o.Backend == backendScalar:
		o.Threads = 1
	case o.Threads == 0:
		o.Threads = min(runtime.GOMAXPROCS(0), maxThreads)
	}
	return nil
}
