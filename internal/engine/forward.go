package engine

// embed starts the residual stream of every token and returns their number.
func (b *batch) embed() (n int) {
	dim := b.model.dim
	for _, p := range b.parts {
		for _, token := range p.tokens {
			copy(row(b.stream, n, dim), row(b.model.embedding, token, dim))
			n++
		}
	}
	b.profile.lap(opEmbed)
	return n
}

// attention adds to the stream what the heads of a layer gather.
func (b *batch) attention(layer, n int) {
	m, weights := b.model, &b.model.layers[layer]
	b.normalise(weights.attentionNorm, n)
	weights.qkv.mul(b.qkv, b.normed[:n*m.dim])
	b.profile.lap(opQKV)
	b.rotate()
	b.store(layer)
	b.gather(layer)
	weights.out.mul(b.update, b.gathered[:n*m.queryWidth()])
	b.profile.lap(opOut)
	b.addUpdate(n)
}

func (b *batch) feedForward(weights *layer, n int) {
	m := b.model
	b.normalise(weights.feedForwardNorm, n)
	weights.gateUp.mul(b.gateUp, b.normed[:n*m.dim])
	b.profile.lap(opFeedForward)
	b.activate(n)
	b.profile.lap(opSiLU)
	weights.down.mul(b.update, b.hidden[:n*m.ffn])
	b.profile.lap(opFeedForward)
	b.addUpdate(n)
}

// expWork is about how many multiply-adds take as long as one exp.
const expWork = 16

func (b *batch) activate(n int) {
	t, work := b.model.team, n*b.model.ffn*expWork
	if t.alone(n, work) {
		b.activateSome(0, n)
		return
	}
	t.split(n, work, func(_, lo, hi int) { b.activateSome(lo, hi) })
}

func (b *batch) activateSome(lo, hi int) {
	ffn := b.model.ffn
	for i := lo; i < hi; i++ {
		swiGLU(row(b.hidden, i, ffn), row(b.gateUp, i, 2*ffn))
	}
}

func (b *batch) normalise(gain []float32, n int) {
	dim := b.model.dim
	for i := range n {
		rmsNorm(row(b.normed, i, dim), row(b.stream, i, dim), gain)
	}
	b.profile.lap(opNorm)
}

// rotate applies the positions to queries and keys, which lie side by side.
func (b *batch) rotate() {
	first := 0 // row of the part
	for _, p := range b.parts {
		for i := range p.tokens {
			q, k, _ := b.split(first + i)
			b.rope.rotate(q, p.position+i)
			b.rope.rotate(k, p.position+i)
		}
		first += len(p.tokens)
	}
	b.profile.lap(opRope)
}

func (b *batch) store(layer int) {
	first := 0
	for _, p := range b.parts {
		for i := range p.tokens {
			_, k, v := b.split(first + i)
			p.keys[layer].put(p.position+i, k)
			p.values[layer].put(p.position+i, v)
		}
		first += len(p.tokens)
	}
	b.profile.lap(opKVWrite)
}

// gather lets every token attend to itself and those before it.
func (b *batch) gather(layer int) {
	first := 0
	for _, p := range b.parts {
		n := p.position + len(p.tokens)
		keys, values := p.keys[layer].rows(n), p.values[layer].rows(n)
		b.profile.lap(opKVRead)
		b.attendAll(p, first, keys, values)
		b.profile.lap(opAttention)
		first += len(p.tokens)
	}
}

// attendAll computes all heads of all tokens of a part, the first of which is
// in the given row.
func (b *batch) attendAll(p part, first int, keys, values []float32) {
	t, heads := b.model.team, len(p.tokens)*b.model.heads
	work := len(p.tokens) * (p.position + len(p.tokens)) * 2 * b.model.queryWidth()
	if t.alone(heads, work) {
		b.attendSome(p, first, keys, values, 0, 0, heads)
		return
	}
	t.split(heads, work, func(worker, lo, hi int) { b.attendSome(p, first, keys, values, worker, lo, hi) })
}

// attendSome computes heads lo to hi-1, counted over the tokens of a part.
func (b *batch) attendSome(p part, first int, keys, values []float32, worker, lo, hi int) {
	m := b.model
	for i := lo; i < hi; i++ {
		token, head := i/m.heads, i%m.heads
		q, _, _ := b.split(first + token)
		shared := head / (m.heads / m.kvHeads) * m.headDim // the group's key and value head
		attend(row(b.gathered, first*m.heads+i, m.headDim), row(q, head, m.headDim), keys[shared:], values[shared:],
			m.kvWidth(), b.scores[worker][:p.position+token+1])
	}
}

// split returns queries, keys and values of a row.
func (b *batch) split(token int) (q, k, v []float32) {
	queries, width := b.model.queryWidth(), b.model.kvWidth()
	x := row(b.qkv, token, queries+2*width)
	return x[:queries], x[queries : queries+width], x[queries+width:]
}

func (b *batch) addUpdate(n int) {
	add(b.stream, b.update[:n*b.model.dim])
	b.profile.lap(opAdd)
}

// unembed computes the logits after the last token of each part that asks.
func (b *batch) unembed() []float32 {
	dim, next, n := b.model.dim, 0, 0
	for _, p := range b.parts {
		next += len(p.tokens)
		if p.ask {
			rmsNorm(row(b.normed, n, dim), row(b.stream, next-1, dim), b.model.norm)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	b.profile.lap(opNorm)
	b.model.unembed.mul(b.logits, b.normed[:n*dim])
	b.profile.lap(opLogits)
	return b.logits[:n*vocabulary]
}

func row(x []float32, i, width int) []float32 { return x[i*width:][:width] }
