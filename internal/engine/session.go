package engine

import (
	"context"
	"fmt"
)

// chunk is the number of prompt tokens that are computed together. It bounds
// the memory of the activations and does not change the result.
const chunk = 128

// session is one conversation with a model: the KV cache and the position in
// it. It is for one goroutine at a time.
type session struct {
	batch // of the sequence alone
	sequence
}

// newSession returns an empty session with room for capacity tokens, which is
// at least 1 and at most [maxTokens].
func (m *model) newSession(capacity int) (*session, error) {
	if capacity < 1 || capacity > maxTokens {
		return nil, fmt.Errorf("a session of %d tokens: choose 1 to %d", capacity, maxTokens)
	}
	keys, values := m.scratch(capacity)
	s := &session{m.newBatch(min(chunk, capacity), 1, capacity), m.newSequence(capacity, keys, values)}
	s.parts = []part{{sequence: &s.sequence}}
	return s, nil
}

// Reset forgets all tokens and all times.
func (s *session) Reset() {
	s.position, s.owed = 0, 0
	s.profile = profile{now: s.profile.now}
}

// operators returns the time spent since the session began or was reset, the
// longest total first.
func (s *session) operators() []Operator { return s.profile.operators() }

// prefill feeds a prompt and returns the logits after its last token. They are
// valid until the next call. Feeding a prompt at once or in parts gives the
// same logits, bit for bit. The context is looked at between chunks.
func (s *session) prefill(ctx context.Context, tokens []int) ([]float32, error) {
	if err := s.check(tokens); err != nil {
		return nil, err
	}
	s.profile.start()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(chunk, len(tokens))
		s.parts[0].tokens, s.parts[0].ask = tokens[:n], n == len(tokens)
		logits := s.step(ctx)
		if tokens = tokens[n:]; len(tokens) == 0 {
			return logits, nil
		}
	}
}
