package engine

import "context"

// repeat computes the beginning of the step again until as many multiply-adds
// have been repeated as the parts ask for. Nothing that the step yields changes:
// the stream starts anew from the tokens, and keys and values are stored again
// where they are. What is less than half of an attention is owed to the next step.
func (b *batch) repeat(ctx context.Context) {
	step := 0.0
	for _, p := range b.parts {
		work := b.model.work(p)
		step += work
		b.owed += float64(p.again * work)
	}
	if b.owed <= 0 || len(b.parts) == 0 {
		return
	}
	profile := b.profile
	for b.owed >= step && ctx.Err() == nil {
		b.compute()
		b.owed -= step
	}
	if ctx.Err() == nil {
		b.repeatRows()
		for b.owed >= b.model.attentionWork(b.parts[0].position)/2 {
			b.repeatRow()
		}
	}
	b.profile = profile
	b.profile.lap(opInjected)
}

// repeatRows repeats whole rows, which are computed together as in the step, so
// that they cost as much.
func (b *batch) repeatRows() {
	step, rows := b.parts, 0
	b.prefix = b.prefix[:0]
	for _, p := range step {
		n := 0
		for ; n < len(p.tokens); n++ {
			work := b.model.rowWork(p.position + n)
			if b.owed < work {
				break
			}
			b.owed -= work
		}
		if n > 0 {
			b.prefix = append(b.prefix, part{sequence: p.sequence, tokens: p.tokens[:n]})
		}
		rows += n
		if n < len(p.tokens) {
			break
		}
	}
	if rows > 0 {
		b.parts = b.prefix
		b.forward(2 * len(b.model.layers))
		b.parts = step
	}
}

// repeatRow repeats the first half layers of the first row: as many as come
// nearest to what is owed.
func (b *batch) repeatRow() {
	step, first, halves := b.parts, b.parts[0], 0
	for ; halves < 2*len(b.model.layers); halves++ {
		work := b.model.attentionWork(first.position)
		if halves%2 == 1 {
			work = b.model.feedForwardWork()
		}
		if b.owed < work/2 {
			break
		}
		b.owed -= work
	}
	if halves > 0 {
		b.prefix = append(b.prefix[:0], part{sequence: first.sequence, tokens: first.tokens[:1]})
		b.parts = b.prefix
		b.forward(halves)
		b.parts = step
	}
}

// work is the number of multiply-adds that a part takes.
func (m *model) work(p part) (sum float64) {
	for i := range p.tokens {
		sum += m.rowWork(p.position + i)
	}
	if p.ask {
		sum += float64(m.dim * vocabulary)
	}
	return sum
}

// rowWork is that of all layers for the token at a position.
func (m *model) rowWork(position int) float64 {
	return float64(float64(len(m.layers)) * (m.attentionWork(position) + m.feedForwardWork()))
}

func (m *model) attentionWork(position int) float64 {
	queries := m.queryWidth()
	return float64(m.dim*(queries+2*m.kvWidth()) + queries*m.dim + 2*queries*(position+1))
}

func (m *model) feedForwardWork() float64 { return float64(3 * m.dim * m.ffn) }
