package engine

import (
	"fmt"
	"hash/fnv"
	"math"
)

// generator yields the weights of one tensor. Weight i depends on the model,
// the seed, the tensor's name and i alone, never on what was drawn before it.
type generator struct {
	key   uint64
	scale float64
}

// newGenerator returns a generator of standard deviation 1/sqrt(fanIn).
func newGenerator(model, tensor string, seed uint64, fanIn int) generator {
	name := fnv.New64a()
	fmt.Fprintf(name, "%s/%s", model, tensor)
	return generator{
		key:   mix(seed ^ mix(name.Sum64())),
		scale: 1 / math.Sqrt(float64(sumVariance*float64(fanIn))),
	}
}

// sumVariance is the variance of the sum of four independent uniform integers
// in [0, 65535].
const sumVariance = (1<<32 - 1) / 3.

// at returns weight i. The sum of four uniform numbers is close to a normal
// one, and being a sum of integers it is exact, which a transform by log and
// cos would not be on every platform.
func (g generator) at(i int) float32 {
	bits := mix(g.key + uint64(i+1)*goldenGamma)
	sum := int64(bits&0xffff) + int64(bits>>16&0xffff) + int64(bits>>32&0xffff) + int64(bits>>48)
	return float32(float64(sum-2*0xffff) * g.scale)
}

// goldenGamma and mix are those of splitmix64: G. Steele, D. Lea and C. Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014.
const goldenGamma = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// load draws all weights.
func (m *model) load() {
	p := m.preset
	m.embedding = m.draw("embedding", vocabulary*p.dim, 1)
	m.layers = make([]layer, p.layers)
	for i := range m.layers {
		name := func(tensor string) string { return fmt.Sprintf("layer.%d.%s", i, tensor) }
		m.layers[i] = layer{
			attentionNorm:   m.gain(name("attention_norm")),
			qkv:             m.linear(name("qkv"), p.dim, p.queryWidth()+2*p.kvWidth()),
			out:             m.linear(name("out"), p.queryWidth(), p.dim),
			feedForwardNorm: m.gain(name("feed_forward_norm")),
			gateUp:          m.linear(name("gate_up"), p.dim, 2*p.ffn),
			down:            m.linear(name("down"), p.ffn, p.dim),
		}
	}
	m.norm = m.gain("norm")
	m.unembed = m.linear("unembed", p.dim, vocabulary)
}

func (m *model) draw(tensor string, n, fanIn int) []float32 {
	g := newGenerator(m.name, tensor, m.options.Seed, fanIn)
	weights := make([]float32, n)
	for i := range weights {
		weights[i] = g.at(i)
	}
	return weights
}

// gain draws the weights of an RMSNorm, which lie around 1.
func (m *model) gain(tensor string) []float32 {
	weights := m.draw(tensor, m.dim, 100)
	for i := range weights {
		weights[i] += 1
	}
	return weights
}

func (m *model) linear(tensor string, in, out int) matrix {
	weights := m.draw(tensor, in*out, in)
	if m.options.Backend == backendParallel {
		return newBlocked(weights, in, out, m.team)
	}
	return newScalar(weights, in, out)
}
