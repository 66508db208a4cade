package tensor_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var dtypes = []tensor.DType{
	tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16, tensor.Float8E4M3FN, tensor.Float8E5M2, tensor.Float4E2M1,
	tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool,
}

func random(t testing.TB, d tensor.DType, seed uint64, from, n int) tensor.Tensor {
	t.Helper()
	x := tensor.Tensor{DType: d, Shape: []int{n}, Data: make([]byte, d.Size(n))}
	if err := tensor.Random(x.Data, d, seed, from); err != nil {
		t.Fatal(err)
	}
	return x
}

// splitmix follows the comment in integers without a size.
func splitmix(seed, index uint64) *big.Int {
	number := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	modulus := new(big.Int).Lsh(big.NewInt(1), 64)
	z := number(index)
	z.Add(z, big.NewInt(1)).Mul(z, number(0x9E3779B97F4A7C15)).Add(z, number(seed)).Mod(z, modulus)
	z.Xor(z, new(big.Int).Rsh(z, 30)).Mul(z, number(0xBF58476D1CE4E5B9)).Mod(z, modulus)
	z.Xor(z, new(big.Int).Rsh(z, 27)).Mul(z, number(0x94D049BB133111EB)).Mod(z, modulus)
	return z.Xor(z, new(big.Int).Rsh(z, 31))
}

// wantNormal computes s, and x with one rounding of an exact product.
func wantNormal(seed, index uint64) (s int64, x float32) {
	z := splitmix(seed, index).Uint64()
	s = int64(z&0xffff + z>>16&0xffff + z>>32&0xffff + z>>48)
	product, _ := new(big.Rat).Mul(big.NewRat(s-131070, 1), new(big.Rat).SetFloat64(float64(float32(2.642895e-05)))).Float32()
	return s, product
}

func TestRandomIsAsDocumented(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	const n = 2000
	for _, start := range []struct{ seed, from uint64 }{{42, 0}, {0, 1 << 20}, {math.MaxUint64, 7 << 40}} {
		for _, d := range dtypes {
			got := random(t, d, start.seed, int(start.from), n)
			want := tensor.Tensor{DType: d, Shape: got.Shape, Data: make([]byte, len(got.Data))}
			for i := range n {
				z := splitmix(start.seed, start.from+uint64(i)).Uint64()
				_, x := wantNormal(start.seed, start.from+uint64(i))
				switch {
				case d.Bits() <= 8 && d.IsFloat():
					x = min(max(x, -2), 2)
					fallthrough
				case d.IsFloat():
					want.SetFloats([]float32{x}, i)
				case d == tensor.Bool, d == tensor.Uint8:
					want.SetInts([]int64{int64(z % uint64(map[tensor.DType]int{tensor.Bool: 2, tensor.Uint8: 256}[d]))}, i)
				case d == tensor.Int8:
					want.SetInts([]int64{int64(z%256) - 128}, i)
				default:
					want.SetInts([]int64{int64(z%2048) - 1024}, i)
				}
			}
			if !bytes.Equal(got.Data, want.Data) {
				t.Errorf("%s, seed %d, from %d: not the documented numbers", d, start.seed, start.from)
			}
		}
	}
}

// TestRandomSlicesAreEqualToTheWhole: whatever is generated alone, on however
// many cores, has the bits that it has in the whole tensor.
func TestRandomSlicesAreEqualToTheWhole(t *testing.T) {
	t.Parallel()
	const n = 300_000 // more than one goroutine's work, and no multiple of a block
	for _, d := range dtypes {
		whole := random(t, d, 1, 0, n)
		for _, s := range []struct{ from, n int }{{0, 2}, {1022, 4}, {99_998, 150_002}, {n - 2, 2}, {10, 0}} {
			got := random(t, d, 1, s.from, s.n)
			if want := whole.Data[d.Size(s.from):d.Size(s.from+s.n)]; !bytes.Equal(got.Data, want) {
				t.Errorf("%s [%d, %d) differs from the whole tensor", d, s.from, s.from+s.n)
			}
		}
	}
}

func TestRandomRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    tensor.DType
		size int
		from int
	}{{"float128", 16, 0}, {"", 16, 0}, {tensor.Float32, 7, 0}, {tensor.Float32, 8, -1}, {tensor.Float4E2M1, 8, 1}, {tensor.Int64, 8, math.MaxInt}} {
		if err := tensor.Random(make([]byte, c.size), c.d, 0, c.from); err == nil {
			t.Errorf("%d bytes of %q from %d are not refused", c.size, c.d, c.from)
		}
	}
	for _, c := range []struct{ n, from, columns int }{{6, 0, 4}, {4, -1, 4}, {4, 0, 0}, {4, 0, -4}, {4, math.MaxInt, 4}, {4, 0, math.MaxInt}} {
		if err := tensor.Probabilities(make([]float32, c.n), 0, c.from, c.columns); err == nil {
			t.Errorf("%d probabilities from row %d of %d are not refused", c.n, c.from, c.columns)
		}
	}
}

// TestProbabilities computes rows alone, from the definition, and holds them
// against a softmax in float64.
func TestProbabilities(t *testing.T) {
	t.Parallel()
	const rows, columns, seed = 7, 20_001, 5
	got := make([]float32, rows*columns)
	if err := tensor.Probabilities(got, seed, 0, columns); err != nil {
		t.Fatal(err)
	}
	for row := range rows {
		alone := make([]float32, columns)
		if err := tensor.Probabilities(alone, seed, row, columns); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone, got[row*columns:(row+1)*columns]) {
			t.Errorf("row %d differs when it is made alone", row)
		}
	}
	var integers [columns]int64
	var sum int64
	var exact float64
	for i := range integers {
		_, x := wantNormal(seed, uint64(2*columns+i))
		integers[i] = int64(math.RoundToEven(math.Exp(float64(x)) * (1 << 24)))
		sum += integers[i]
		exact += math.Exp(float64(x))
	}
	for i, e := range integers {
		p := got[2*columns+i]
		if want := float32(float64(e) / float64(sum)); p != want {
			t.Fatalf("p[2, %d] = %v, want %v", i, p, want)
		}
		_, x := wantNormal(seed, uint64(2*columns+i))
		if soft := math.Exp(float64(x)) / exact; math.Abs(float64(p)/soft-1) > 2e-6 {
			t.Fatalf("p[2, %d] = %v, a softmax is %v", i, p, soft)
		}
	}
}

// TestExponentialsAreFarFromTies is why Probabilities has the same bits
// wherever exp is off by a few units in its last place.
func TestExponentialsAreFarFromTies(t *testing.T) {
	t.Parallel()
	for s := range 4*0xffff + 1 {
		v := math.Exp(float64(float32(s-131070)*float32(2.642895e-05))) * (1 << 24)
		unit := math.Nextafter(v, math.Inf(1)) - v
		if _, fraction := math.Modf(v); math.Abs(fraction-0.5) < 190*unit {
			t.Errorf("s = %d: %v is close to a tie", s, v)
		}
	}
}

// dataFile reads a file of the recorded data of flashinfer-bench.
func dataFile(t *testing.T, name string, into any) {
	t.Helper()
	dir := testtier.Data(t, "recorded vectors were NOT compared", "flashinfer/golden")
	data, err := os.ReadFile(filepath.Join(dir, "flashinfer", "golden", name))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRandomAgreesWithTorch compares with what PyTorch generated by the same
// rule.
func TestRandomAgreesWithTorch(t *testing.T) {
	t.Parallel()
	var golden struct {
		RNG struct {
			Seed   uint64    `json:"seed"`
			N      int       `json:"n"`
			F32    string    `json:"sha256_f32_le"`
			F16    string    `json:"sha256_f16_le"`
			BF16   string    `json:"sha256_bf16_le"`
			First8 []float32 `json:"first8"`
		} `json:"rng"`
	}
	dataFile(t, "golden_extra.json", &golden)
	for d, want := range map[tensor.DType]string{tensor.Float32: golden.RNG.F32, tensor.F16: golden.RNG.F16, tensor.BF16: golden.RNG.BF16} {
		x := random(t, d, golden.RNG.Seed, 0, golden.RNG.N)
		sum := sha256.Sum256(x.Data)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: sha256 %s, want %s", d, got, want)
		}
		if first := make([]float32, 8); d == tensor.Float32 && (x.Floats(first, 0) != 8 || !slices.Equal(first, golden.RNG.First8)) {
			t.Errorf("first numbers %v, want %v", first, golden.RNG.First8)
		}
	}
}

// BenchmarkRandom states bytes per second; "copy" is the same memory copied.
func BenchmarkRandom(b *testing.B) {
	const size = 16 << 20
	dst := make([]byte, size)
	b.Run("copy", func(b *testing.B) {
		src := bytes.Repeat([]byte{1}, size)
		b.SetBytes(size)
		for b.Loop() {
			copy(dst, src)
		}
	})
	for _, d := range dtypes {
		b.Run(string(d), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				_ = tensor.Random(dst, d, 42, 0)
			}
		})
	}
	b.Run("probabilities", func(b *testing.B) {
		p := make([]float32, size/4)
		b.SetBytes(size)
		for b.Loop() {
			_ = tensor.Probabilities(p, 42, 0, 1<<17)
		}
	})
}
