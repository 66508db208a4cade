package engine

// vocabulary is the number of tokens: one for every byte.
const vocabulary = 256

// preset is the shape of a model. Every width is a multiple of 16, which the
// blocked kernels rely on, and a row of keys is one of 32, which q8_0 relies
// on.
type preset struct {
	name    string
	dim     int // width of the residual stream
	layers  int
	heads   int // of the queries
	kvHeads int // of the keys and values; divides heads
	headDim int // even, since RoPE turns pairs
	ffn     int // width inside the feed-forward block
}

// presets lists the models; the first is the default. The quickstart runs tiny
// many times over, so one run of it takes a fraction of a second; micro keeps
// unit tests fast; small is large enough for threads to pay in decoding.
var presets = []preset{
	{name: "tiny", dim: 128, layers: 3, heads: 4, kvHeads: 2, headDim: 32, ffn: 352},
	{name: "micro", dim: 32, layers: 2, heads: 4, kvHeads: 2, headDim: 16, ffn: 64},
	{name: "small", dim: 256, layers: 4, heads: 8, kvHeads: 2, headDim: 32, ffn: 704},
}

// models lists the names of the presets, the default first.
func models() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

func (p preset) queryWidth() int { return p.heads * p.headDim }
func (p preset) kvWidth() int    { return p.kvHeads * p.headDim }
