package engine

// forward computes the residual stream of a chunk of tokens and stores their
// keys and values.
func (s *Session) forward(tokens []int) {
	n := len(tokens)
	for i, token := range tokens {
		copy(row(s.stream, i, s.model.dim), row(s.model.embedding, token, s.model.dim))
	}
	s.profile.lap(opEmbed)
	for i := range s.model.layers {
		s.attention(i, n)
		s.feedForward(&s.model.layers[i], n)
	}
	s.position += n
}

// attention adds to the stream what the heads of a layer gather.
func (s *Session) attention(layer, n int) {
	m, weights := s.model, &s.model.layers[layer]
	s.normalise(weights.attentionNorm, n)
	weights.qkv.mul(s.qkv, s.normed[:n*m.dim])
	s.profile.lap(opQKV)
	s.rotate(n)
	s.store(layer, n)
	s.gather(layer, n)
	weights.out.mul(s.update, s.gathered[:n*m.queryWidth()])
	s.profile.lap(opOut)
	s.addUpdate(n)
}

func (s *Session) feedForward(weights *layer, n int) {
	m := s.model
	s.normalise(weights.feedForwardNorm, n)
	weights.gateUp.mul(s.gateUp, s.normed[:n*m.dim])
	s.profile.lap(opFeedForward)
	m.team.split(n, n*m.ffn*expWork, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			swiGLU(row(s.hidden, i, m.ffn), row(s.gateUp, i, 2*m.ffn))
		}
	})
	s.profile.lap(opSiLU)
	weights.down.mul(s.update, s.hidden[:n*m.ffn])
	s.profile.lap(opFeedForward)
	s.addUpdate(n)
}

// expWork is about how many multiply-adds take as long as one exp.
const expWork = 16

func (s *Session) normalise(gain []float32, n int) {
	dim := s.model.dim
	for i := range n {
		rmsNorm(row(s.normed, i, dim), row(s.stream, i, dim), gain)
	}
	s.profile.lap(opNorm)
}

// rotate applies the positions to queries and keys, which lie side by side.
func (s *Session) rotate(n int) {
	for i := range n {
		q, k, _ := s.split(i)
		s.rope.rotate(q, s.position+i)
		s.rope.rotate(k, s.position+i)
	}
	s.profile.lap(opRope)
}

func (s *Session) store(layer, n int) {
	for i := range n {
		_, k, v := s.split(i)
		s.keys[layer].put(s.position+i, k)
		s.values[layer].put(s.position+i, v)
	}
	s.profile.lap(opKVWrite)
}

// gather lets every token attend to itself and those before it.
func (s *Session) gather(layer, n int) {
	m := s.model
	keys, values := s.keys[layer].rows(s.position+n), s.values[layer].rows(s.position+n)
	s.profile.lap(opKVRead)
	work := n * (s.position + n) * 2 * m.queryWidth()
	m.team.split(n*m.heads, work, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			token, head := i/m.heads, i%m.heads
			q, _, _ := s.split(token)
			shared := head / (m.heads / m.kvHeads) * m.headDim // the group's key and value head
			attend(row(s.gathered, i, m.headDim), row(q, head, m.headDim), keys[shared:], values[shared:],
				m.kvWidth(), s.scores[worker][:s.position+token+1])
		}
	})
	s.profile.lap(opAttention)
}

// split returns queries, keys and values of a token in the chunk.
func (s *Session) split(token int) (q, k, v []float32) {
	queries, width := s.model.queryWidth(), s.model.kvWidth()
	x := row(s.qkv, token, queries+2*width)
	return x[:queries], x[queries : queries+width], x[queries+width:]
}

func (s *Session) addUpdate(n int) {
	add(s.stream, s.update[:n*s.model.dim])
	s.profile.lap(opAdd)
}

// unembed computes the logits of a token in the chunk.
func (s *Session) unembed(token int) {
	dim := s.model.dim
	rmsNorm(s.normed[:dim], row(s.stream, token, dim), s.model.norm)
	s.profile.lap(opNorm)
	s.model.unembed.mul(s.logits, s.normed[:dim])
	s.profile.lap(opLogits)
}

func row(x []float32, i, width int) []float32 { return x[i*width:][:width] }
