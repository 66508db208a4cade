package engine

import "context"

// batch computes tokens of several sequences in one step. All rows share the
// matrix products; each sequence attends to its own cache. What a row becomes
// does not depend on the rows beside it, bit for bit. It is for one goroutine
// at a time.
type batch struct {
	model   *model
	rope    rope
	profile profile
	parts   []part  // of the step
	prefix  []part  // of the step, that is computed again
	owed    float64 // multiply-adds to compute again, below 0 where too many were

	// Activations of a step, one row for each token.
	stream   []float32 // the residual stream
	normed   []float32
	qkv      []float32
	gathered []float32 // by attention
	gateUp   []float32
	hidden   []float32
	update   []float32   // to be added to the stream
	logits   []float32   // one row for each part that asked for them
	scores   [][]float32 // of each worker, for each position
}

// part is tokens of one sequence, which follow those that it has seen.
type part struct {
	*sequence
	tokens []int
	ask    bool // for the logits after the last token
	// again is how often its work is done again, for demonstrations; see [Slowdown].
	again float64
}

// newBatch returns a batch with room for so many tokens a step, of which so
// many may ask for logits, in sequences of at most capacity tokens.
func (m *model) newBatch(rows, logits, capacity int) batch {
	b := batch{
		model: m, rope: newRope(m.headDim, capacity),
		stream: make([]float32, rows*m.dim), normed: make([]float32, max(rows, logits)*m.dim),
		qkv:      make([]float32, rows*(m.queryWidth()+2*m.kvWidth())),
		gathered: make([]float32, rows*m.queryWidth()),
		gateUp:   make([]float32, rows*2*m.ffn), hidden: make([]float32, rows*m.ffn),
		update: make([]float32, rows*m.dim), logits: make([]float32, logits*vocabulary),
	}
	b.profile.now = m.options.Now
	for range m.threads() {
		b.scores = append(b.scores, make([]float32, capacity))
	}
	return b
}

// step feeds the parts, which are of different sequences, and returns the
// logits of those that ask for them, in order. They are valid until the next
// step. The context is looked at where work is repeated.
func (b *batch) step(ctx context.Context) []float32 {
	logits := b.compute()
	b.repeat(ctx)
	for _, p := range b.parts {
		p.position += len(p.tokens)
	}
	return logits
}

// compute is a step without its effect on the positions, so that computing it
// again changes nothing.
func (b *batch) compute() []float32 {
	b.forward(2 * len(b.model.layers))
	return b.unembed()
}

// forward computes the first so many half layers: attentions and feed-forward
// blocks alternately.
func (b *batch) forward(halves int) {
	n := b.embed()
	for i := range halves {
		if i%2 == 0 {
			b.attention(i/2, n)
		} else {
			b.feedForward(&b.model.layers[i/2], n)
		}
	}
}
