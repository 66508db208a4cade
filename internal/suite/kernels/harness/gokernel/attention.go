package gokernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// gqaDecode is attention of one query token per sequence to a paged cache, with
// fewer heads of keys than of queries. Inputs: q [batch, heads, dim], k_cache and
// v_cache [pages, page size, kv heads, dim], kv_indptr [batch+1], kv_indices, for
// pages of more than one token kv_last_page_len [batch], sm_scale. Outputs: the
// attention, and the logarithm to base 2 of each softmax's denominator: minus
// infinity where a sequence is empty, and the attention is zero then.
func gqaDecode(c call) error {
	a, err := c.attention()
	if err != nil {
		return err
	}
	q, row, out := make([]float32, a.dim), make([]float32, a.dim), make([]float32, a.dim)
	for b, tokens := range a.tokens {
		weights := make([]float32, len(tokens))
		for h := range a.heads {
			a.q.Floats(q, (b*a.heads+h)*a.dim)
			for i, token := range tokens {
				a.k.Floats(row, a.at(token, h/a.group))
				weights[i] = dot(q, row) * a.scale
			}
			sum, top := softmax(weights)
			clear(out)
			for i, token := range tokens {
				a.v.Floats(row, a.at(token, h/a.group))
				for d, v := range row {
					out[d] += float32(float32(float64(weights[i])/sum) * v)
				}
			}
			a.store(b, h, out, sum, top)
		}
	}
	return nil
}

// softmax replaces logits by exp(logit - top), and returns their sum and the top
// of the logits.
func softmax(logits []float32) (sum float64, top float32) {
	top = float32(math.Inf(-1))
	for _, l := range logits {
		top = max(top, l)
	}
	for i, l := range logits {
		logits[i] = float32(math.Exp(float64(l - top)))
		sum += float64(logits[i])
	}
	return sum, top
}

// attention is one call, its indices resolved.
type attention struct {
	heads, kvHeads, group, dim int
	scale                      float32
	q, k, v, out, lse          tensor.Tensor
	tokens                     [][]int // of each sequence: their places in the cache
}

// at returns where a token's keys or values of a head start.
func (a attention) at(token, kvHead int) int { return (token*a.kvHeads + kvHead) * a.dim }

func (a attention) store(b, h int, out []float32, sum float64, top float32) {
	at := b*a.heads + h
	a.out.SetFloats(out, at*a.dim)
	lse := math.Inf(-1)
	if len(a.tokens[b]) > 0 {
		lse = float64(top)*math.Log2E + math.Log2(sum)
	}
	a.lse.SetFloats64([]float64{lse}, at)
}

const tokenBlock = 32 // tokens whose keys and values are decoded at a time

// gqaDecodeBlocked is gqaDecode with sequences and heads of keys on all cores. It
// goes through the cache once, in blocks: all queries that share a head of keys
// use a block while it is decoded, and what was summed before is scaled down
// when a larger logit appears. It differs from gqaDecode by roundings of
// float32.
func gqaDecodeBlocked(c call) error {
	a, err := c.attention()
	if err != nil {
		return err
	}
	return parallel(len(a.tokens)*a.kvHeads, func(begin, end int) error {
		p := newPass(a)
		for i := begin; i < end; i++ {
			p.sequence(i/a.kvHeads, i%a.kvHeads)
		}
		return nil
	})
}

// pass holds what one core needs.
type pass struct {
	attention
	q, keys, values, out []float32
	logits               [tokenBlock]float32
	sum                  []float64
	top                  []float32
}

func newPass(a attention) *pass {
	return &pass{
		attention: a, q: make([]float32, a.group*a.dim), out: make([]float32, a.group*a.dim),
		keys: make([]float32, tokenBlock*a.dim), values: make([]float32, tokenBlock*a.dim),
		sum: make([]float64, a.group), top: make([]float32, a.group),
	}
}

// sequence computes all queries of a sequence that share a head of keys.
func (p *pass) sequence(b, kvHead int) {
	p.attention.q.Floats(p.q, (b*p.heads+kvHead*p.group)*p.dim)
	clear(p.out)
	clear(p.sum)
	for g := range p.top {
		p.top[g] = float32(math.Inf(-1))
	}
	for tokens := range slices.Chunk(p.tokens[b], tokenBlock) {
		for i, token := range tokens {
			p.k.Floats(p.keys[i*p.dim:][:p.dim], p.at(token, kvHead))
			p.v.Floats(p.values[i*p.dim:][:p.dim], p.at(token, kvHead))
		}
		for g := range p.group {
			p.add(g, len(tokens))
		}
	}
	for g := range p.group {
		out := p.out[g*p.dim:][:p.dim]
		if p.sum[g] > 0 {
			inverse := float32(1 / p.sum[g])
			for d := range out {
				out[d] *= inverse
			}
		}
		p.store(b, kvHead*p.group+g, out, p.sum[g], p.top[g])
	}
}

// add adds a block of n tokens to a query's sums.
func (p *pass) add(g, n int) {
	q, out, logits := p.q[g*p.dim:][:p.dim], p.out[g*p.dim:][:p.dim], p.logits[:n]
	i := 0
	for ; i+4 <= n; i += 4 {
		dots(logits[i:], q, p.keys[i*p.dim:][:4*p.dim])
	}
	for ; i < n; i++ {
		logits[i] = dot(q, p.keys[i*p.dim:][:p.dim])
	}
	top := p.top[g]
	for i := range logits {
		logits[i] *= p.scale
		top = max(top, logits[i])
	}
	if shrink := math.Exp(float64(p.top[g] - top)); shrink != 1 {
		p.sum[g] *= shrink
		for d := range out {
			out[d] *= float32(shrink)
		}
	}
	p.top[g] = top
	for i, l := range logits {
		weight := float32(math.Exp(float64(l - top)))
		p.sum[g] += float64(weight)
		for d, v := range p.values[i*p.dim:][:p.dim] {
			out[d] += float32(weight * v)
		}
	}
}

// attention checks the inputs, indices included: nothing outside of the cache is
// read.
func (c call) attention() (a attention, err error) {
	q, k, v, indptr, indices, scale := c.in[0], c.in[1], c.in[2], c.in[3], c.in[4], c.in[len(c.in)-1]
	ok := len(q.Shape) == 3 && len(k.Shape) == 4 && slices.Equal(k.Shape, v.Shape) && q.Shape[2] == k.Shape[3] &&
		k.Shape[2] > 0 && q.Shape[1]%k.Shape[2] == 0 && isVector(indptr, q.Shape[0]+1) && len(indices.Shape) == 1 &&
		scale.Elements() == 1 && floats(q, k, v, scale, c.out[0], c.out[1]) &&
		slices.Equal(c.out[0].Shape, q.Shape) && slices.Equal(c.out[1].Shape, q.Shape[:2])
	if !ok || len(c.in) == 7 && !isVector(c.in[5], q.Shape[0]) {
		return a, misfit("gqa_paged_decode", append(c.in, c.out...)...)
	}
	a = attention{
		heads: q.Shape[1], kvHeads: k.Shape[2], group: q.Shape[1] / k.Shape[2], dim: q.Shape[2],
		scale: all(scale)[0], q: q, k: k, v: v, out: c.out[0], lse: c.out[1],
	}
	last := make([]int64, q.Shape[0])
	for i := range last {
		last[i] = int64(k.Shape[1])
	}
	if len(c.in) == 7 {
		last = whole(c.in[5])
	}
	a.tokens, err = tokensOf(whole(indptr), whole(indices), last, k.Shape[0], k.Shape[1])
	return a, err
}

// tokensOf lists the tokens of each sequence. Of its last page only the first
// last tokens count.
func tokensOf(indptr, indices, last []int64, pages, pageSize int) ([][]int, error) {
	tokens := make([][]int, len(last))
	for b := range tokens {
		begin, end := indptr[b], indptr[b+1]
		if begin < 0 || end > int64(len(indices)) || last[b] < 0 || last[b] > int64(pageSize) {
			return nil, fmt.Errorf("sequence %d has the pages %d to %d of %d and %d tokens in the last of size %d",
				b, begin, end, len(indices), last[b], pageSize)
		}
		for i := begin; i < end; i++ {
			page, n := indices[i], int64(pageSize)
			if page < 0 || page >= int64(pages) {
				return nil, fmt.Errorf("sequence %d has the page %d of %d", b, page, pages)
			}
			if i == end-1 {
				n = last[b]
			}
			for t := range n {
				tokens[b] = append(tokens[b], int(page*int64(pageSize)+t))
			}
		}
	}
	return tokens, nil
}
