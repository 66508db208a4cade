package evaluator

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/accelgate/accelgate/internal/tensor"
)

// IndexerInputs are the inputs of the top-k indexer of DSA, as in its
// definition (B rows, H heads, D dimensions, P pages of S tokens).
type IndexerInputs struct {
	Query      tensor.Tensor // [B, H, D] float8_e4m3fn
	Cache      tensor.Tensor // [P, S, 1, D+4] int8: per page S x D float8_e4m3fn, then S float32 scales
	Weights    tensor.Tensor // [B, H] float32
	SeqLens    tensor.Tensor // [B] int32
	BlockTable tensor.Tensor // [B, pages per row] int32
}

// Indexer judges the tokens that a top-k indexer chose, [B, K] int32 with -1 as
// padding, by their scores: other tokens that are as good are as right.
//
// Each token must lie on a page of its row's block table, before the end of
// its sequence, and stand only once. The scores of the chosen tokens, the sum
// over heads of weight * relu(query . key), are computed anew for both sides,
// sorted from the largest on, padding being minus infinity, and compared rank
// by rank as [Elementwise] compares float32, where minus infinity on both
// sides is equal in Fib mode as well. In Strict mode sums are in float64, and
// both tolerances are 2^-10 by default, that of small scores of their mean:
// matrix units add products of float8 with about 14 bits. In Fib mode they are
// in float32, in an order of our own, because upstream's is that of its
// libraries.
//
// An error says that the inputs, the reference or p are unusable.
func Indexer(in IndexerInputs, reference, candidate []Output, p Params) (Result, error) {
	p, err := p.valid()
	if err != nil {
		return Result{}, err
	}
	if len(reference) != 1 {
		return Result{}, errors.New("the reference of the indexer has one output, topk_indices: correct the definition")
	}
	if err := usable(reference, p); err != nil {
		return Result{}, err
	}
	x, err := newIndexer(in)
	if err != nil {
		return Result{}, err
	}
	want := reference[0]
	if err := x.valid(want.Tensor); err != nil {
		return Result{}, fmt.Errorf("reference output %q: %w", want.Name, err)
	}
	return x.judge(want, candidate, p)
}

func (x *indexer) judge(want Output, candidate []Output, p Params) (Result, error) {
	r := Result{}
	o := OutputResult{Name: want.Name, WorstFlat: -1}
	switch got, err := candidateOf(want, candidate); {
	case err != nil:
		o.Status, o.Message = IncorrectShape, err.Error()
	case !slices.Equal(got.Shape, want.Tensor.Shape) || got.DType != want.Tensor.DType || got.Validate() != nil:
		o.judge(want.Tensor, got, p, 1)
	default:
		x.compare(&o, want.Tensor, got, p)
	}
	r.Outputs = []OutputResult{o}
	r.finish()
	return r, nil
}

func candidateOf(want Output, candidate []Output) (tensor.Tensor, error) {
	if len(candidate) != 1 || candidate[0].Name != want.Name {
		return tensor.Tensor{}, errors.New(countMessage([]Output{want}, candidate))
	}
	return candidate[0].Tensor, nil
}

// indexer has the inputs decoded, but for the keys, of which few are needed.
type indexer struct {
	rows, heads, dims   int
	pages, size, perRow int // pages, tokens of a page, entries of the block table per row
	query               []float32
	weights             []float32
	lens, table         []int64
	cache               []byte
}

func newIndexer(in IndexerInputs) (*indexer, error) {
	for _, t := range []struct {
		name  string
		t     tensor.Tensor
		axes  int
		dtype tensor.DType
	}{
		{"query", in.Query, 3, tensor.Float8E4M3FN}, {"key cache", in.Cache, 4, tensor.Int8}, {"weights", in.Weights, 2, tensor.Float32},
		{"sequence lengths", in.SeqLens, 1, tensor.Int32}, {"block table", in.BlockTable, 2, tensor.Int32},
	} {
		if err := t.t.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		if len(t.t.Shape) != t.axes || t.t.DType != t.dtype {
			return nil, fmt.Errorf("%s is %s, want %d axes of %s: correct the workload", t.name, describe(t.t), t.axes, t.dtype)
		}
	}
	q, c := in.Query.Shape, in.Cache.Shape
	x := &indexer{rows: q[0], heads: q[1], dims: q[2], pages: c[0], size: c[1], perRow: in.BlockTable.Shape[1], cache: in.Cache.Data}
	if c[2] != 1 || c[3] != x.dims+4 || !slices.Equal(in.Weights.Shape, q[:2]) || in.SeqLens.Shape[0] != x.rows ||
		in.BlockTable.Shape[0] != x.rows {
		return nil, errors.New("the shapes of the inputs do not fit each other: correct the workload")
	}
	x.query, x.weights = make([]float32, x.rows*x.heads*x.dims), make([]float32, x.rows*x.heads)
	x.lens, x.table = make([]int64, x.rows), make([]int64, x.rows*x.perRow)
	in.Query.Floats(x.query, 0)
	in.Weights.Floats(x.weights, 0)
	in.SeqLens.Ints(x.lens, 0)
	in.BlockTable.Ints(x.table, 0)
	return x, x.fits()
}

// fits checks the values that other inputs are indexed with.
func (x *indexer) fits() error {
	for row, n := range x.lens {
		used := (n + int64(x.size) - 1) / int64(max(x.size, 1))
		if n < 0 || used > int64(x.perRow) || n > 0 && x.size == 0 {
			return fmt.Errorf("row %d has a sequence of %d tokens, which its block table does not hold: correct the workload", row, n)
		}
		for _, page := range x.table[row*x.perRow:][:used] {
			if page < 0 || page >= int64(x.pages) {
				return fmt.Errorf("row %d names page %d of %d: correct the workload", row, page, x.pages)
			}
		}
	}
	return nil
}

// valid checks the tokens of a whole output, which has passed Validate.
func (x *indexer) valid(t tensor.Tensor) error {
	if len(t.Shape) != 2 || t.Shape[0] != x.rows || t.DType != tensor.Int32 {
		return fmt.Errorf("%s is not %d rows of int32: run it again", describe(t), x.rows)
	}
	chosen := make([]int64, t.Shape[1])
	for row := range x.rows {
		t.Ints(chosen, row*len(chosen))
		if at, err := x.row(row).valid(chosen); err != nil {
			return fmt.Errorf("row %d, place %d: %w", row, at, err)
		}
	}
	return nil
}

// sequence describes which tokens a row may choose.
type sequence struct {
	size   int64
	length int64
	starts map[int64]int64 // by page: where in the sequence it begins, first
}

func (x *indexer) row(i int) sequence {
	s := sequence{int64(x.size), x.lens[i], map[int64]int64{}}
	for at := int64(0); at < s.length; at += s.size {
		page := x.table[int64(i*x.perRow)+at/s.size]
		if _, known := s.starts[page]; !known {
			s.starts[page] = at
		}
	}
	return s
}

// valid returns where chosen is wrong, and why.
func (s sequence) valid(chosen []int64) (at int, err error) {
	seen := make(map[int64]bool, len(chosen))
	for at, token := range chosen {
		if token == -1 {
			continue
		}
		start, known := s.starts[token/max(s.size, 1)]
		switch {
		case token < 0 || !known:
			return at, fmt.Errorf("token %d is on no page of the row: use its block table", token)
		case start+token%s.size >= s.length:
			return at, fmt.Errorf("token %d is beyond the sequence of %d: stop at its end", token, s.length)
		case seen[token]:
			return at, fmt.Errorf("token %d is chosen twice: choose each once", token)
		}
		seen[token] = true
	}
	return 0, nil
}

// compare judges outputs of one shape and format.
func (x *indexer) compare(o *OutputResult, want, got tensor.Tensor, p Params) {
	o.Elements = want.Elements()
	if err := x.valid(got); err != nil {
		o.Status, o.Message = IncorrectNumerical, err.Error()
		o.MaxAbsoluteError, o.MaxRelativeError = infinite, infinite
		return
	}
	y, z := x.scores(want, p.Mode), x.scores(got, p.Mode)
	t := p.tolerance(o.Name)
	t.RequiredMatchedRatio = firstSet(t.RequiredMatchedRatio, 1)
	var all *tally
	if p.Mode == Fib {
		t.Rtol, t.Atol = firstSet(t.Rtol, fibTolerance), firstSet(t.Atol, fibTolerance)
		all = fibScores(y, z, t)
	} else {
		mean, count := sumFinite(y)
		t.Rtol = firstSet(t.Rtol, scoreTolerance)
		t.Atol = firstSet(t.Atol, scoreTolerance*mean/downscale/float64(max(count, 1)))
		all = strictScores(y, z, t, p.upstream(o.Name))
	}
	o.Tolerance = t
	// The errors are of scores, whose infinities are padding.
	p.Mode = Strict
	o.report(all, want.Shape, p)
}

const scoreTolerance = 0x1p-10

func strictScores(y, x []float64, t, upstream Tolerance) *tally {
	j := &strictJob{format: formats[tensor.Float32], tolerance: t, upstream: upstream}
	j.block(y, x, 0)
	return &j.tally
}

// fibScores takes equal infinities for equal; all else that is not finite is
// bad, and an infinite error.
func fibScores(y, x []float64, t Tolerance) *tally {
	j := &fibJob{format: formats[tensor.Float32], tolerance: t}
	var u, v [1]float32
	for i := range y {
		if u[0], v[0] = float32(y[i]), float32(x[i]); u[0]-u[0] == 0 && v[0]-v[0] == 0 {
			j.block(u[:], v[:], i)
			continue
		}
		if matched := j.nonFinite.count(y[i], x[i]); matched && y[i] == x[i] {
			continue
		}
		j.bad++
		j.maxAbs, j.maxRel = math.Inf(1), math.Inf(1)
		j.worse(math.Inf(1), i)
	}
	return &j.tally
}

// scores returns the scores of all chosen tokens, each row sorted from the
// largest on; padding comes last.
func (x *indexer) scores(t tensor.Tensor, mode Mode) []float64 {
	k := t.Shape[1]
	scores := make([]float64, x.rows*k)
	var taken atomic.Int64
	work := func() {
		chosen, key := make([]int64, k), make([]float32, x.dims)
		for row := int(taken.Add(1)) - 1; row < x.rows; row = int(taken.Add(1)) - 1 {
			t.Ints(chosen, row*k)
			out := scores[row*k:][:k]
			for i, token := range chosen {
				out[i] = math.Inf(-1)
				if token >= 0 {
					out[i] = x.score(row, token, key, mode)
				}
			}
			slices.Sort(out)
			slices.Reverse(out)
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), x.rows) {
		group.Go(work)
	}
	group.Wait()
	return scores
}

// score computes the score of one token; key is scratch.
func (x *indexer) score(row int, token int64, key []float32, mode Mode) float64 {
	x.key(token, key)
	var sum float64
	var sum32 float32
	for h := range x.heads {
		head := row*x.heads + h
		q, w := x.query[head*x.dims:][:x.dims], x.weights[head]
		if mode == Fib {
			sum32 += float32(max(dot[float32](q, key), 0) * w)
		} else {
			sum += float64(max(dot[float64](q, key), 0) * float64(w))
		}
	}
	if mode == Fib {
		return float64(sum32)
	}
	return sum
}

// key dequantises the key of a token, rounding to float32 as the reference.
func (x *indexer) key(token int64, key []float32) {
	page, at := token/int64(x.size), int(token)%x.size
	bytes := x.cache[int(page)*x.size*(x.dims+4):][:x.size*(x.dims+4)]
	values := tensor.Tensor{DType: tensor.Float8E4M3FN, Shape: []int{x.dims}, Data: bytes[at*x.dims:][:x.dims]}
	values.Floats(key, 0)
	scale := math.Float32frombits(binary.LittleEndian.Uint32(bytes[x.size*x.dims+4*at:]))
	for i := range key {
		key[i] *= scale
	}
}

// dot adds up in four sums, which do not wait for each other.
func dot[F float](a, b []float32) F {
	var sums [4]F
	b = b[:len(a)]
	for ; len(a) >= 4; a, b = a[4:], b[4:] {
		sums[0] += F(F(a[0]) * F(b[0]))
		sums[1] += F(F(a[1]) * F(b[1]))
		sums[2] += F(F(a[2]) * F(b[2]))
		sums[3] += F(F(a[3]) * F(b[3]))
	}
	for i := range a {
		sums[0] += F(F(a[i]) * F(b[i]))
	}
	return sums[0] + sums[1] + (sums[2] + sums[3])
}
