package gokernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func empty(d tensor.DType, shape ...int) tensor.Tensor {
	t := tensor.Tensor{DType: d, Shape: shape}
	t.Data = make([]byte, d.Size(t.Elements()))
	poison(t.Data)
	return t
}

func filled(seed uint64, d tensor.DType, shape ...int) tensor.Tensor {
	t := empty(d, shape...)
	if err := tensor.Random(t.Data, d, seed, 0); err != nil {
		panic(err)
	}
	return t
}

func ints(values ...int) tensor.Tensor {
	t := empty(tensor.Int32, len(values))
	for i, v := range values {
		t.SetInts([]int64{int64(v)}, i)
	}
	return t
}

func values(t tensor.Tensor) []float64 {
	v := make([]float64, t.Elements())
	t.Floats64(v, 0)
	return v
}

// near fails unless each number of got is within the larger of abs and rel times
// the wanted one. Infinities must be the same.
func near(t *testing.T, name string, got tensor.Tensor, want []float64, rel, abs float64) {
	t.Helper()
	for i, g := range values(got) {
		if !(math.Abs(g-want[i]) <= max(abs, rel*math.Abs(want[i]))) && g != want[i] {
			t.Fatalf("%s: element %d is %v, want %v", name, i, g, want[i])
		}
	}
}

// rounding is half a unit in the last place, relative.
var rounding = map[tensor.DType]float64{tensor.Float32: 0x1p-24, tensor.F16: 0x1p-11, tensor.BF16: 0x1p-8}

// versions runs both versions of a kernel on equal outputs.
func versions(t *testing.T, name string, c call) (plain, blocked []tensor.Tensor) {
	t.Helper()
	run := func(name string) []tensor.Tensor {
		mine := c
		mine.out = nil
		for _, o := range c.out {
			mine.out = append(mine.out, empty(o.DType, o.Shape...))
		}
		if err := builtins[name].run(mine); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return mine.out
	}
	plain, blocked = run(name), run(name+"_blocked")
	again := run(name + "_blocked")
	for i := range again {
		if !bytes.Equal(again[i].Data, blocked[i].Data) {
			t.Errorf("%s_blocked: output %d differs in a second call", name, i)
		}
	}
	return plain, blocked
}

func TestNorms(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	for _, d := range []tensor.DType{tensor.BF16, tensor.F16, tensor.Float32} {
		for _, shape := range [][]int{{1, 1}, {7, 128}, {3, 301}, {2, 3, 64}, {0, 64}} {
			h := shape[len(shape)-1]
			x, r, w := filled(1, d, shape...), filled(2, d, shape...), filled(3, d, h)
			for _, in := range [][]tensor.Tensor{{x, w}, {x, r, w}} {
				name := []string{"rmsnorm", "fused_add_rmsnorm"}[len(in)-2]
				want := values(x)
				for i := range want {
					if len(in) == 3 {
						want[i] += values(r)[i]
					}
				}
				for row := range slices.Chunk(want, h) {
					sum := 0.
					for _, v := range row {
						sum += v * v
					}
					for i := range row {
						row[i] *= values(w)[i] / math.Sqrt(sum/float64(h)+1e-6)
					}
				}
				plain, blocked := versions(t, name, call{in: in, out: []tensor.Tensor{empty(d, shape...)}, eps: 1e-6})
				near(t, name, plain[0], want, 1.01*rounding[d]+4e-7, 1e-7)
				near(t, name+"_blocked", blocked[0], want, 1.01*rounding[d]+4e-7, 1e-7)
			}
		}
	}
}

func TestGemm(t *testing.T) {
	t.Parallel()
	for _, d := range []tensor.DType{tensor.F16, tensor.BF16, tensor.Float32} {
		for _, s := range [][3]int{{1, 1, 1}, {6, 33, 40}, {9, 70, 31}, {4, 2, 256}, {0, 5, 8}, {5, 3, 0}} {
			m, n, k := s[0], s[1], s[2]
			a, b := filled(4, d, m, k), filled(5, d, n, k)
			x, y := values(a), values(b)
			want, magnitude := make([]float64, m*n), 0.
			for i := range m {
				for j := range n {
					sum := 0.
					for l := range k {
						want[i*n+j] += x[i*k+l] * y[j*k+l]
						sum += math.Abs(x[i*k+l] * y[j*k+l])
					}
					magnitude = max(magnitude, sum)
				}
			}
			plain, blocked := versions(t, "gemm", call{in: []tensor.Tensor{a, b}, out: []tensor.Tensor{empty(d, m, n)}})
			near(t, fmt.Sprint("gemm ", d, s), plain[0], want, 1.01*rounding[d], float64(k)*0x1p-24*magnitude)
			if !bytes.Equal(plain[0].Data, blocked[0].Data) {
				t.Errorf("gemm %s %v: the versions differ", d, s)
			}
		}
	}
}

// paged makes a cache whose pages are used in a random order, with an empty
// sequence.
func paged(random *rand.Rand, lengths []int, pageSize int) (indptr, indices, last []int, pages int) {
	indptr = []int{0}
	for _, n := range lengths {
		indptr = append(indptr, indptr[len(indptr)-1]+(n+pageSize-1)/pageSize)
		last = append(last, (n+pageSize-1)%pageSize+1)
	}
	pages = indptr[len(indptr)-1] + 2
	return indptr, random.Perm(pages)[:indptr[len(indptr)-1]], last, pages
}

func TestGQADecode(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 7))
	for _, pageSize := range []int{1, 16} {
		lengths := []int{1, 0, 33, 100, 64}
		indptr, indices, last, pages := paged(random, lengths, pageSize)
		const heads, kvHeads, dim = 6, 2, 32
		q := filled(8, tensor.BF16, len(lengths), heads, dim)
		k, v := filled(9, tensor.BF16, pages, pageSize, kvHeads, dim), filled(10, tensor.BF16, pages, pageSize, kvHeads, dim)
		scale := tensor.Tensor{DType: tensor.Float32, Data: make([]byte, 4)}
		scale.SetFloats([]float32{0.3}, 0)
		in := []tensor.Tensor{q, k, v, ints(indptr...), ints(indices...), ints(last...), scale}
		if pageSize == 1 {
			in = slices.Delete(in, 5, 6)
		}
		out := []tensor.Tensor{empty(tensor.BF16, len(lengths), heads, dim), empty(tensor.Float32, len(lengths), heads)}
		wantOut, wantLSE := attend(lengths, indptr, indices, pageSize, heads, kvHeads, dim, float64(float32(0.3)), values(q), values(k), values(v))
		plain, blocked := versions(t, "gqa_paged_decode", call{in: in, out: out})
		for name, got := range map[string][]tensor.Tensor{"plain": plain, "blocked": blocked} {
			near(t, name, got[0], wantOut, 1.01*rounding[tensor.BF16], 1e-6)
			near(t, name+" lse", got[1], wantLSE, 1e-6, 1e-6)
		}
	}
}

// attend is attention in float64.
func attend(lengths, indptr, indices []int, pageSize, heads, kvHeads, dim int, scale float64, q, k, v []float64) (out, lse []float64) {
	for b, n := range lengths {
		for h := range heads {
			kv := h / (heads / kvHeads)
			row, sum := make([]float64, dim), 0.
			for i := range n {
				at := ((indices[indptr[b]+i/pageSize]*pageSize+i%pageSize)*kvHeads + kv) * dim
				logit := 0.
				for d := range dim {
					logit += q[(b*heads+h)*dim+d] * k[at+d]
				}
				w := math.Exp(logit * scale)
				sum += w
				for d := range dim {
					row[d] += w * v[at+d]
				}
			}
			for d := range row {
				if n > 0 {
					row[d] /= sum
				}
			}
			out, lse = append(out, row...), append(lse, math.Log2(sum))
		}
	}
	return out, lse
}

func TestAttentionReadsNothingOutsideOfTheCache(t *testing.T) {
	t.Parallel()
	q, cache := filled(1, tensor.BF16, 1, 2, 8), filled(2, tensor.BF16, 4, 2, 1, 8)
	scale := filled(3, tensor.Float32, 1)
	for _, c := range []struct {
		indptr, indices, last []int
		wrong                 string
	}{
		{[]int{0, 2}, []int{0, 4}, []int{1}, "page 4 of 4"},
		{[]int{0, 2}, []int{0, -1}, []int{1}, "page -1"},
		{[]int{0, 3}, []int{0, 1}, []int{1}, "pages 0 to 3 of 2"},
		{[]int{-1, 2}, []int{0, 1}, []int{1}, "pages -1"},
		{[]int{0, 2}, []int{0, 1}, []int{3}, "3 tokens"},
		{[]int{0, 2, 3}, []int{0, 1}, []int{3}, "does not take these tensors"},
	} {
		in := []tensor.Tensor{q, cache, cache, ints(c.indptr...), ints(c.indices...), ints(c.last...), scale}
		for _, name := range []string{"gqa_paged_decode", "gqa_paged_decode_blocked"} {
			err := builtins[name].run(call{in: in, out: []tensor.Tensor{empty(tensor.BF16, 1, 2, 8), empty(tensor.Float32, 1, 2)}})
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %q", name, err, c.wrong)
			}
		}
	}
}

func TestRope(t *testing.T) {
	t.Parallel()
	const tokens, dim, rotated, positions = 5, 16, 8, 9
	q, k := filled(11, tensor.BF16, tokens, 3, dim), filled(12, tensor.BF16, tokens, 1, dim)
	cache, at := filled(13, tensor.Float32, positions, rotated), ints(0, 8, 3, 3, 1)
	c := call{in: []tensor.Tensor{q, k, cache, at}, out: []tensor.Tensor{empty(tensor.BF16, q.Shape...), empty(tensor.BF16, k.Shape...)}}
	plain, blocked := versions(t, "rope", c)
	for i, x := range []tensor.Tensor{q, k} {
		want, angles := values(x), values(cache)
		for r := range len(want) / dim {
			row := want[r*dim:][:dim]
			cs := angles[int(whole(at)[r/x.Shape[1]])*rotated:][:rotated]
			for j := range rotated / 2 {
				a, b := row[j], row[j+rotated/2]
				row[j], row[j+rotated/2] = a*cs[j]-b*cs[j+rotated/2], b*cs[j]+a*cs[j+rotated/2]
			}
		}
		near(t, "rope", plain[i], want, 1.01*rounding[tensor.BF16], 1e-6)
		if !bytes.Equal(plain[i].Data, blocked[i].Data) {
			t.Errorf("output %d: the versions differ", i)
		}
	}
	c.in[3] = ints(0, 9, 0, 0, 0)
	if err := rope(c); err == nil || !strings.Contains(err.Error(), "position 9 of 9") {
		t.Errorf("position 9 of 9: %v", err)
	}
}

// support is what a definition keeps, with its probability, in float64.
func support(row []float64, k int, p float64) map[int]float64 {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmpFloat(row[a], row[b]) })
	if 0 < k && k < len(row) {
		order = order[:k]
	}
	norm := 1.
	if len(order) < len(row) {
		norm = 0
		for _, i := range order {
			norm += row[i]
		}
	}
	if p < 1 {
		sum := 0.
		for n, i := range order {
			if sum += row[i] / norm; sum > p {
				order = order[:n+1]
				break
			}
		}
	}
	kept, sum := map[int]float64{}, 0.
	for _, i := range order {
		sum += row[i]
	}
	for _, i := range order {
		kept[i] = row[i] / sum
	}
	return kept
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestSampling(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	const rows, size, draws = 8, 40, 4000
	probs := empty(tensor.Float32, rows, size)
	p := make([]float32, rows*size)
	if err := tensor.Probabilities(p, 14, 0, size); err != nil {
		t.Fatal(err)
	}
	probs.SetFloats(p, 0)
	ks, ps := ints(1, 3, 39, 40, 0, -1, 100, 10), empty(tensor.Float32, rows)
	ps.SetFloats([]float32{0.5, 0, 1, 0.1, 0.9, 2, -1, 0.75}, 0)
	for name, c := range map[string]struct {
		in     []tensor.Tensor
		hasK   bool
		hasP   bool
		plain  func(call) error
		second func(call) error
	}{
		"top_k":       {[]tensor.Tensor{probs, ks}, true, false, topK, topKBlocked},
		"top_p":       {[]tensor.Tensor{probs, ps}, false, true, topP, topPBlocked},
		"top_k_top_p": {[]tensor.Tensor{probs, ks, ps}, true, true, topKTopP, topKTopPBlocked},
	} {
		var counts [rows]map[int]int
		for r := range counts {
			counts[r] = map[int]int{}
		}
		for draw := range draws {
			a, b := empty(tensor.Int64, rows), empty(tensor.Int64, rows)
			if err := c.plain(call{in: c.in, out: []tensor.Tensor{a}, draw: uint64(draw)}); err != nil {
				t.Fatal(err)
			}
			if err := c.second(call{in: c.in, out: []tensor.Tensor{b}, draw: uint64(draw)}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Data, b.Data) {
				t.Fatalf("%s draw %d: the versions drew %v and %v", name, draw, whole(a), whole(b))
			}
			for r, i := range whole(a) {
				counts[r][int(i)]++
			}
		}
		for r := range rows {
			k, limit := 0, 1.
			if c.hasK {
				k = int(whole(ks)[r])
			}
			if c.hasP {
				limit = values(ps)[r]
			}
			checkDraws(t, fmt.Sprint(name, " row ", r), counts[r], support(values(probs)[r*size:][:size], k, limit), draws)
		}
	}
}

// checkDraws fails if a count is five standard deviations off. The draws are the
// same in each run of the test.
func checkDraws(t *testing.T, name string, counts map[int]int, want map[int]float64, draws int) {
	t.Helper()
	for i := range counts {
		if want[i] == 0 {
			t.Errorf("%s: %d was drawn, which is left out", name, i)
		}
	}
	for i, p := range want {
		mean, deviation := p*float64(draws), math.Sqrt(p*(1-p)*float64(draws))
		if math.Abs(float64(counts[i])-mean) > 5*deviation+1 {
			t.Errorf("%s: %d was drawn %d times, want about %.0f", name, i, counts[i], mean)
		}
	}
}

func TestSamplingTiesAndExtremes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  []float32
		k    int
		p    float64
		want []int // that can be drawn
	}{
		{[]float32{0.25, 0.25, 0.25, 0.25}, 2, 1, []int{0, 1}},
		{[]float32{0.1, 0.2, 0.7}, 0, 0, []int{2}},
		{[]float32{0.4, 0.6}, 0, 0.6, []int{1}}, // 0.6 as float32 is above 0.6
		{[]float32{0.5, 0.5}, 0, 0.5, []int{0, 1}},
		{[]float32{0, 0, 1, 0}, 0, 0.99, []int{2}},
		{[]float32{0, 1, 0}, 2, 1, []int{1}},
	} {
		for name, order := range map[string]func([]float32, int, float64) []candidate{"sorted": sorted, "candidates": candidates} {
			seen := map[int]bool{}
			for i := range 100 {
				seen[pick(c.row, c.k, c.p, float64(i)/100, order)] = true
			}
			for i := range c.row {
				if seen[i] != slices.Contains(c.want, i) {
					t.Errorf("%s of %v, k %d, p %v: drawn %v, want %v", name, c.row, c.k, c.p, seen, c.want)
				}
			}
		}
	}
	for _, row := range [][]float32{{0, 0}, {float32(math.NaN()), 1}, {-1, 2}, {float32(math.Inf(1)), 1}} {
		if checkRow(row, 0) == nil {
			t.Errorf("%v is taken for probabilities", row)
		}
	}
}

func TestMisfitsAreRefused(t *testing.T) {
	t.Parallel()
	for name, b := range builtins {
		in, out := []tensor.Tensor{}, []tensor.Tensor{}
		for i := range b.minimum {
			in = append(in, filled(1, tensor.Int8, i+1))
		}
		for range b.outputs {
			out = append(out, empty(tensor.Int8, 3))
		}
		if err := b.run(call{in: in, out: out}); err == nil {
			t.Errorf("%s takes tensors of no supported shape", name)
		}
	}
}

func TestEntryPoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		definition, query string
		eps               float32
	}{
		{"rmsnorm_h4096", "", 1e-5}, {"fused_add_rmsnorm_h4096", "_blocked", 1e-5}, {"rmsnorm_h128", "", 1e-6},
		{"rmsnorm_h4096", "?eps=1e-3", 1e-3}, {"gemm_n128_k2048", "_blocked", 1e-6},
	} {
		entry, ok := EntryPoint(c.definition)
		if _, eps, err := lookup(entry+c.query, c.definition); !ok || err != nil || eps != c.eps {
			t.Errorf("%s%s: eps %v, error %v, want %v", c.definition, c.query, eps, err, c.eps)
		}
	}
	for _, entry := range []string{"gemm", "builtin::nothing", "builtin::rmsnorm?eps=x", "builtin::rmsnorm?eps=NaN", "builtin::rmsnorm?top=1"} {
		if _, _, err := lookup(entry, ""); err == nil {
			t.Errorf("%q is an entry point", entry)
		}
	}
	if _, ok := EntryPoint("moe_fp8"); ok {
		t.Error("a kernel that is not there has an entry point")
	}
}

func BenchmarkKernels(b *testing.B) {
	indptr, indices, last, pages := paged(rand.New(rand.NewPCG(1, 1)), []int{500, 700, 900}, 64)
	cache := filled(1, tensor.BF16, pages, 64, 8, 128)
	probs := empty(tensor.Float32, 4, 128256)
	p := make([]float32, 4*128256)
	_ = tensor.Probabilities(p, 14, 0, 128256)
	probs.SetFloats(p, 0)
	for name, c := range map[string]call{
		"rmsnorm": {
			in:  []tensor.Tensor{filled(1, tensor.BF16, 64, 4096), filled(2, tensor.BF16, 4096)},
			out: []tensor.Tensor{empty(tensor.BF16, 64, 4096)},
		},
		"gemm": {
			in:  []tensor.Tensor{filled(1, tensor.F16, 32, 2048), filled(2, tensor.F16, 256, 2048)},
			out: []tensor.Tensor{empty(tensor.F16, 32, 256)},
		},
		"gqa_paged_decode": {
			in: []tensor.Tensor{filled(1, tensor.BF16, 3, 32, 128), cache, cache,
				ints(indptr...), ints(indices...), ints(last...), filled(3, tensor.Float32, 1)},
			out: []tensor.Tensor{empty(tensor.BF16, 3, 32, 128), empty(tensor.Float32, 3, 32)},
		},
		"top_k_sampling": {in: []tensor.Tensor{probs, ints(50, 50, 50, 50)}, out: []tensor.Tensor{empty(tensor.Int64, 4)}},
	} {
		for _, version := range []string{"", "_blocked"} {
			b.Run(name+version, func(b *testing.B) {
				for b.Loop() {
					if err := builtins[name+version].run(c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
