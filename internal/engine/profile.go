package engine

import (
	"cmp"
	"slices"
	"time"
)

// operator names a part of the computation that is timed by itself.
type operator int

const (
	opEmbed operator = iota
	opNorm
	opQKV
	opRope
	opKVWrite
	opKVRead
	opAttention
	opOut
	opFeedForward
	opSiLU
	opAdd
	opLogits
	opSample
	opInjected
	operators // their number
)

var operatorNames = [operators]string{
	"embed", "rmsnorm", "matmul.qkv", "rope", "kv.write", "kv.read", "attention",
	"matmul.o", "matmul.ffn", "silu", "add", "matmul.logits", "sample", "injected",
}

// Operator is the time spent in one kind of operator.
type Operator struct {
	Name    string  `json:"name"`
	TotalMS float64 `json:"total_ms"`
	Calls   int64   `json:"calls"`
}

// profile charges time to operators. The clock is read once an operator, and
// what passes between two readings belongs to the operator that the second one
// names, so the totals add up to the whole.
type profile struct {
	now   func() time.Time
	last  time.Time
	total [operators]time.Duration
	calls [operators]int64
}

func (p *profile) start() { p.last = p.now() }

func (p *profile) lap(op operator) {
	now := p.now()
	p.total[op] += now.Sub(p.last)
	p.calls[op]++
	p.last = now
}

// operators returns what was called, the longest total first.
func (p *profile) operators() []Operator {
	var list []Operator
	for op, name := range operatorNames {
		if p.calls[op] > 0 {
			list = append(list, Operator{name, milliseconds(p.total[op]), p.calls[op]})
		}
	}
	slices.SortStableFunc(list, func(a, b Operator) int { return cmp.Compare(b.TotalMS, a.TotalMS) })
	return list
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
