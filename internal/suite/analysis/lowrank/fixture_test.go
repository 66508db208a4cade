package lowrank_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// memory is a checkpoint without files.
type memory map[string]tensor.Tensor

func (m memory) Names() []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (m memory) Tensor(name string) (tensor.Tensor, error) {
	t, ok := m[name]
	if !ok {
		return t, fmt.Errorf("no tensor %q", name)
	}
	return t, nil
}

// clone copies the data too, so that a test can plant faults in it.
func (m memory) clone() memory {
	c := memory{}
	for name, t := range m {
		t.Data = slices.Clone(t.Data)
		c[name] = t
	}
	return c
}

func store(d tensor.DType, values []float64, shape ...int) tensor.Tensor {
	t := tensor.Tensor{DType: d, Shape: shape, Data: make([]byte, d.Size(len(values)))}
	t.SetFloats64(values, 0)
	return t
}

func values(t tensor.Tensor) []float64 {
	v := make([]float64, t.Elements())
	t.Floats64(v, 0)
	return v
}

func normal(r *rand.Rand, d tensor.DType, n, m int, deviation float64) tensor.Tensor {
	v := make([]float64, n*m)
	for i := range v {
		v[i] = deviation * r.NormFloat64()
	}
	return store(d, v, n, m)
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

const (
	wide   = "model.layers.0.self_attn.q_proj.weight"
	tall   = "model.layers.0.self_attn.k_proj.weight"
	square = "model.layers.0.mlp.up_proj.weight"
)

// model has three small targets and what is none.
func model(d tensor.DType) memory {
	r := source(1)
	return memory{
		wide:                              normal(r, d, 12, 30, .02),
		tall:                              normal(r, d, 31, 9, .02),
		square:                            normal(r, d, 16, 16, .02),
		"model.norm.weight":               store(d, make([]float64, 8), 8),
		"model.embed_tokens.weight":       normal(r, d, 20, 8, 1),
		"model.layers.0.mlp.up_proj.bias": store(d, make([]float64, 16), 16),
	}
}

// factorize returns the factors of a model as a checkpoint, and settings that
// they fit.
func factorize(t *testing.T, m memory, s lowrank.Settings) memory {
	t.Helper()
	factors := memory{}
	for _, name := range lowrank.Targets(m, []string{"proj"}) {
		w := m[name]
		f, err := lowrank.Decompose(svd.Go(), w, lowrank.TopK(w.Shape[0], w.Shape[1], s.RankRatio), s.Compute, s.Storage)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range f.Tensors(name) {
			factors[named.Name] = named.Tensor
		}
	}
	return factors
}

func run(t *testing.T, j lowrank.Job) lowrank.Report {
	t.Helper()
	if j.Solver == nil && j.Factors == nil {
		j.Solver = svd.Go()
	}
	r, err := j.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func with(d tensor.DType, storage tensor.DType) lowrank.Settings {
	s := lowrank.Defaults()
	s.Compute, s.Storage = d, storage
	return s
}
