package engine

import (
	"context"
	"fmt"
	"slices"
)

// chunk is the number of prompt tokens that are computed together. It bounds
// the memory of the activations and does not change the result.
const chunk = 128

// Session is one conversation with a model: the KV cache and the position in
// it. It is for one goroutine at a time.
type Session struct {
	model        *Model
	capacity     int
	position     int // tokens seen
	rope         rope
	keys, values []kvRows // of each layer
	profile      profile

	// Activations of a chunk, one row for each token.
	stream   []float32 // the residual stream
	normed   []float32
	qkv      []float32
	gathered []float32 // by attention
	gateUp   []float32
	hidden   []float32
	update   []float32   // to be added to the stream
	logits   []float32   // of the last token only
	scores   [][]float32 // of each worker, for each position
}

// NewSession returns an empty session with room for capacity tokens, which is
// at least 1 and at most [MaxTokens].
func (m *Model) NewSession(capacity int) (*Session, error) {
	if capacity < 1 || capacity > MaxTokens {
		return nil, fmt.Errorf("a session of %d tokens: choose 1 to %d", capacity, MaxTokens)
	}
	rows := min(chunk, capacity)
	s := &Session{
		model: m, capacity: capacity, rope: newRope(m.headDim, capacity),
		stream: make([]float32, rows*m.dim), normed: make([]float32, rows*m.dim),
		qkv:      make([]float32, rows*(m.queryWidth()+2*m.kvWidth())),
		gathered: make([]float32, rows*m.queryWidth()),
		gateUp:   make([]float32, rows*2*m.ffn), hidden: make([]float32, rows*m.ffn),
		update: make([]float32, rows*m.dim), logits: make([]float32, vocabulary),
	}
	s.profile.now = m.options.Now
	keys, values := make([]float32, capacity*m.kvWidth()), make([]float32, capacity*m.kvWidth())
	for range m.layers {
		s.keys = append(s.keys, newKVRows(m.options.KVCache, capacity, m.kvWidth(), keys))
		s.values = append(s.values, newKVRows(m.options.KVCache, capacity, m.kvWidth(), values))
	}
	for range m.Threads() {
		s.scores = append(s.scores, make([]float32, capacity))
	}
	return s, nil
}

// Reset forgets all tokens and all times.
func (s *Session) Reset() {
	s.position = 0
	s.profile = profile{now: s.profile.now}
}

// Operators returns the time spent since the session began or was reset, the
// longest total first.
func (s *Session) Operators() []Operator { return s.profile.operators() }

// Prefill feeds a prompt and returns the logits after its last token. They are
// valid until the next call. Feeding a prompt at once or in parts gives the
// same logits, bit for bit. The context is looked at between chunks.
func (s *Session) Prefill(ctx context.Context, tokens []int) ([]float32, error) {
	if err := s.check(tokens); err != nil {
		return nil, err
	}
	s.profile.start()
	for part := range slices.Chunk(tokens, chunk) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.forward(part)
	}
	s.unembed((len(tokens) - 1) % chunk)
	return s.logits, nil
}

// Decode feeds one token and returns the logits after it, as [Session.Prefill]
// does.
func (s *Session) Decode(ctx context.Context, token int) ([]float32, error) {
	return s.Prefill(ctx, []int{token})
}

func (s *Session) check(tokens []int) error {
	if len(tokens) == 0 {
		return fmt.Errorf("no tokens to feed")
	}
	if free := s.capacity - s.position; len(tokens) > free {
		return fmt.Errorf("%d tokens fed to a session with room for %d more", len(tokens), free)
	}
	for _, token := range tokens {
		if token < 0 || token >= vocabulary {
			return fmt.Errorf("token %d is not in [0, %d]", token, vocabulary-1)
		}
	}
	return nil
}
