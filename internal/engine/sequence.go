package engine

import "fmt"

// sequence is what a model remembers of one text: the keys and values of its
// tokens.
type sequence struct {
	capacity     int
	position     int      // tokens seen
	keys, values []kvRows // of each layer
}

// newSequence returns an empty sequence with room for capacity tokens. The
// scratch holds that many rows of keys and of values; sequences that are not
// computed at once can share it.
func (m *model) newSequence(capacity int, keys, values []float32) sequence {
	s := sequence{capacity: capacity}
	for range m.layers {
		s.keys = append(s.keys, newKVRows(m.options.KVCache, capacity, m.kvWidth(), keys))
		s.values = append(s.values, newKVRows(m.options.KVCache, capacity, m.kvWidth(), values))
	}
	return s
}

// scratch returns what [model.newSequence] asks for. A cache that keeps
// float32 is read in place and needs none.
func (m *model) scratch(capacity int) (keys, values []float32) {
	if m.options.KVCache == kvFloat32 {
		return nil, nil
	}
	return make([]float32, capacity*m.kvWidth()), make([]float32, capacity*m.kvWidth())
}

// check returns an error where the tokens are none, unknown or too many.
func (s *sequence) check(tokens []int) error {
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
