package evaluator_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
)

// index is a small problem for the indexer, and its scores computed naively.
type index struct {
	in     evaluator.IndexerInputs
	size   int64
	table  [][]int64
	lens   []int64
	scores []map[int64]float64 // by row and token
}

func ints(values []int64, shape ...int) tensor.Tensor {
	t := tensor.Tensor{DType: tensor.Int32, Shape: shape, Data: make([]byte, 4*len(values))}
	t.SetInts(values, 0)
	return t
}

func newIndex(seed uint64) *index {
	const rows, heads, dims, pages, size, perRow = 3, 4, 8, 9, 4, 3
	r := rand.New(rand.NewPCG(seed, 0))
	normal := func(d tensor.DType, shape ...int) (tensor.Tensor, []float32) {
		t := tensor.Tensor{DType: d, Shape: shape}
		values := make([]float32, t.Elements())
		for i := range values {
			values[i] = float32(r.NormFloat64())
		}
		t.Data = make([]byte, d.Size(len(values)))
		t.SetFloats(values, 0)
		t.Floats(values, 0)
		return t, values
	}
	q, query := normal(tensor.Float8E4M3FN, rows, heads, dims)
	w, weights := normal(tensor.Float32, rows, heads)
	x := &index{size: size, lens: []int64{12, 6, 0}, table: [][]int64{{3, 8, 0}, {8, 1, 2}, {4, 5, 6}}}
	var cache []byte
	keys := make([][]float64, pages*size)
	for page := range pages {
		values, floats := normal(tensor.Float8E4M3FN, size, dims)
		cache = append(cache, values.Data...)
		for at := range size {
			scale := float32(0.5 + r.Float64())
			cache = binary.LittleEndian.AppendUint32(cache, math.Float32bits(scale))
			for d := range dims {
				keys[page*size+at] = append(keys[page*size+at], float64(floats[at*dims+d]*scale))
			}
		}
	}
	x.in = evaluator.IndexerInputs{
		Query: q, Weights: w, SeqLens: ints(x.lens, rows), BlockTable: ints(slices.Concat(x.table...), rows, perRow),
		Cache: tensor.Tensor{DType: tensor.Int8, Shape: []int{pages, size, 1, dims + 4}, Data: cache},
	}
	for row, length := range x.lens {
		scores := map[int64]float64{}
		for at := range length {
			token := x.table[row][at/size]*size + at%size
			for h := range heads {
				dot := 0.0
				for d := range dims {
					dot += float64(query[(row*heads+h)*dims+d]) * keys[token][d]
				}
				scores[token] += max(dot, 0) * float64(weights[row*heads+h])
			}
		}
		x.scores = append(x.scores, scores)
	}
	return x
}

// best returns the tokens of a row from the largest score on, padded to k.
func (x *index) best(row, k int) []int64 {
	var tokens []int64
	for token := range x.scores[row] {
		tokens = append(tokens, token)
	}
	slices.SortFunc(tokens, func(a, b int64) int {
		if x.scores[row][a] > x.scores[row][b] {
			return -1
		}
		return 1
	})
	tokens = tokens[:min(k, len(tokens))]
	return append(tokens, slices.Repeat([]int64{-1}, k-len(tokens))...)
}

func TestIndexerJudgesByScores(t *testing.T) {
	t.Parallel()
	const k = 8
	x := newIndex(1)
	want := slices.Concat(x.best(0, k), x.best(1, k), x.best(2, k))
	worst := x.best(0, 12)[11] // of row 0, which chooses 8 of 12
	changed := func(at int, token int64) []int64 {
		c := slices.Clone(want)
		c[at] = token
		return c
	}
	reversed := slices.Clone(want)
	slices.Reverse(reversed[:k])
	for _, c := range []struct {
		name   string
		tokens []int64
		want   evaluator.Status
		log    string
	}{
		{"the same", want, evaluator.Passed, ""},
		{"in another order", reversed, evaluator.Passed, ""},
		{"the worst instead of the best", changed(0, worst), evaluator.IncorrectNumerical, "of 24 elements are off"},
		{"padding instead of the best", changed(0, -1), evaluator.IncorrectNumerical, "of 24 elements are off"},
		{"one twice", changed(0, want[1]), evaluator.IncorrectNumerical, "is chosen twice"},
		{"of another row's page", changed(0, 4), evaluator.IncorrectNumerical, "token 4 is on no page of the row"},
		{"beyond the end", changed(k, 7), evaluator.IncorrectNumerical, "token 7 is beyond the sequence of 6"},
		{"beyond all pages", changed(0, math.MaxInt32), evaluator.IncorrectNumerical, "is on no page"},
		{"negative", changed(0, -2), evaluator.IncorrectNumerical, "token -2 is on no page"},
		{"some for no sequence", changed(2*k, 16), evaluator.IncorrectNumerical, "token 16 is on no page"},
	} {
		for _, mode := range []evaluator.Mode{evaluator.Strict, evaluator.Fib} {
			r, err := evaluator.Indexer(x.in, named("topk_indices", ints(want, 3, k)), named("topk_indices", ints(c.tokens, 3, k)), evaluator.Params{Mode: mode})
			if err != nil || r.Status != c.want || !strings.Contains(r.Log, c.log) {
				t.Errorf("%s, %s: %s %q %v, want %s %q", c.name, mode, r.Status, r.Log, err, c.want, c.log)
			}
			if strings.Contains(c.log, "token") && !math.IsInf(float64(r.MaxAbsoluteError), 1) {
				t.Errorf("%s, %s: error %v, want infinite", c.name, mode, r.MaxAbsoluteError)
			}
		}
	}
}

// TestIndexerComputesScores swaps one token for another and expects the
// difference of their naive scores.
func TestIndexerComputesScores(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		x := newIndex(seed)
		one := func(token int64) []evaluator.Output {
			return named("topk_indices", ints([]int64{token, -1, -1}, 3, 1))
		}
		for token, score := range x.scores[0] {
			for other, otherScore := range x.scores[0] {
				for _, mode := range []evaluator.Mode{evaluator.Strict, evaluator.Fib} {
					r, err := evaluator.Indexer(x.in, one(token), one(other), evaluator.Params{Mode: mode, Rtol: 10, Atol: 1e3})
					if got, want := float64(r.MaxAbsoluteError), math.Abs(score-otherScore); err != nil || math.Abs(got-want) > 1e-4 {
						t.Fatalf("%s, %d for %d: %v %v, want %v", mode, other, token, got, err, want)
					}
				}
			}
		}
	}
}

func TestIndexerOtherFindings(t *testing.T) {
	t.Parallel()
	x := newIndex(1)
	want := named("topk_indices", ints(slices.Repeat([]int64{-1}, 6), 3, 2))
	long := tensor.Tensor{DType: tensor.Int64, Shape: []int{3, 2}, Data: make([]byte, 48)}
	for _, c := range []struct {
		candidate []evaluator.Output
		want      evaluator.Status
	}{
		{want, evaluator.Passed},
		{nil, evaluator.IncorrectShape},
		{append(want, want...), evaluator.IncorrectShape},
		{named("topk_indices", ints(make([]int64, 6), 2, 3)), evaluator.IncorrectShape},
		{named("topk_indices", long), evaluator.IncorrectDType},
		{named("topk_indices", tensor.Tensor{DType: tensor.Int32, Shape: []int{3, 2}}), evaluator.IncorrectShape},
	} {
		if r, err := evaluator.Indexer(x.in, want, c.candidate, evaluator.Params{}); err != nil || r.Status != c.want {
			t.Errorf("%+v %v, want %s", r, err, c.want)
		}
	}
}

func TestIndexerRefusesInputs(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*evaluator.IndexerInputs){
		"query is":                   func(in *evaluator.IndexerInputs) { in.Query.DType = tensor.Int8 },
		"query: ":                    func(in *evaluator.IndexerInputs) { in.Query.Data = nil },
		"key cache is":               func(in *evaluator.IndexerInputs) { in.Cache.Shape = []int{9 * 4 * 12} },
		"do not fit each other":      func(in *evaluator.IndexerInputs) { in.Cache.Shape = []int{9, 12, 1, 4} },
		"names page 9 of 9":          func(in *evaluator.IndexerInputs) { in.BlockTable.SetInts([]int64{9}, 1) },
		"names page -1":              func(in *evaluator.IndexerInputs) { in.BlockTable.SetInts([]int64{-1}, 0) },
		"a sequence of 13 tokens":    func(in *evaluator.IndexerInputs) { in.SeqLens.SetInts([]int64{13}, 0) },
		"a sequence of -5 tokens":    func(in *evaluator.IndexerInputs) { in.SeqLens.SetInts([]int64{-5}, 0) },
		"row 0, place 0: token 12 i": func(in *evaluator.IndexerInputs) { in.SeqLens.SetInts([]int64{0}, 0) },
	} {
		x := newIndex(1)
		change(&x.in)
		want := named("topk_indices", ints([]int64{12, -1, -1}, 3, 1))
		if _, err := evaluator.Indexer(x.in, want, want, evaluator.Params{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
