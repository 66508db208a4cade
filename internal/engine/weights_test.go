package engine

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
)

// TestMix compares with the published sequence of splitmix64 for 1234567.
func TestMix(t *testing.T) {
	state := uint64(1234567)
	for _, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		state += goldenGamma
		if got := mix(state); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

// TestWeightsNeverChange holds the weights to what they were when the first
// baselines were recorded. A failure on a new platform means that its
// arithmetic differs; a failure after an edit means that every recorded answer
// is void.
func TestWeightsNeverChange(t *testing.T) {
	for _, c := range []struct {
		model string
		seed  uint64
		want  uint64
	}{
		{"tiny", 1, 0x6e29ee7699ad265b},
		{"tiny", 2, 0x4b08671be77c4c45},
		{"micro", 1, 0x754e9da0550682a1},
	} {
		m, err := New(options{Model: c.model, Seed: c.seed})
		if err != nil {
			t.Fatal(err)
		}
		if got := checksum(m); got != c.want {
			t.Errorf("%s with seed %d: checksum %#x, want %#x", c.model, c.seed, got, c.want)
		}
	}
}

// checksum covers every weight of a model on the scalar backend, in order.
func checksum(m *model) uint64 {
	sum := fnv.New64a()
	feed := func(weights []float32) {
		for _, w := range weights {
			sum.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(w)))
		}
	}
	feed(m.embedding)
	for _, l := range m.layers {
		feed(l.attentionNorm)
		feed(l.qkv.(scalar).weights)
		feed(l.out.(scalar).weights)
		feed(l.feedForwardNorm)
		feed(l.gateUp.(scalar).weights)
		feed(l.down.(scalar).weights)
	}
	feed(m.norm)
	feed(m.unembed.(scalar).weights)
	return sum.Sum64()
}

// TestWeightsAreNearlyNormal checks the first four moments. The sum of four
// uniform numbers has an excess kurtosis of -0.3.
func TestWeightsAreNearlyNormal(t *testing.T) {
	const n, fanIn = 1 << 18, 64
	g := newGenerator("model", "tensor", 7, fanIn)
	var moments [5]float64
	for i := range n {
		for k, x := 1, float64(g.at(i))*8; k <= 4; k++ {
			moments[k] += math.Pow(x, float64(k)) / n
		}
	}
	for k, want := range []float64{0, 0, 1, 0, 3 - 0.3} {
		if k > 0 && math.Abs(moments[k]-want) > 0.02 {
			t.Errorf("moment %d is %v, want %v", k, moments[k], want)
		}
	}
}

func TestTensorsDiffer(t *testing.T) {
	seen := map[float32]string{}
	for _, model := range []string{"tiny", "micro"} {
		for _, tensor := range []string{"a", "b"} {
			for _, seed := range []uint64{0, 1, 1 << 63} {
				g := newGenerator(model, tensor, seed, 1)
				name := model + tensor
				if other, ok := seen[g.at(0)]; ok {
					t.Errorf("%s with seed %d begins as %s does", name, seed, other)
				}
				seen[g.at(0)] = name
			}
		}
	}
}

func TestPresetsFitTheKernels(t *testing.T) {
	for _, p := range presets {
		for name, width := range map[string]int{"dim": p.dim, "queries": p.queryWidth(), "ffn": p.ffn} {
			if width%16 != 0 {
				t.Errorf("%s: %s is %d, not a multiple of 16", p.name, name, width)
			}
		}
		if p.kvWidth()%32 != 0 || p.heads%p.kvHeads != 0 || p.headDim%2 != 0 {
			t.Errorf("%s: %d heads, %d KV heads of %d", p.name, p.heads, p.kvHeads, p.headDim)
		}
	}
}
