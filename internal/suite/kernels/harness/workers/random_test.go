package workers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestRandom holds the random numbers of each worker against those of package
// tensor, bit for bit, for every dtype that the worker has.
func TestRandom(t *testing.T) {
	t.Parallel()
	random(t, map[string]int{"numpy": 10, "c": 13}, 42)
}

func TestRandomThorough(t *testing.T) {
	testtier.Thorough(t)
	random(t, map[string]int{"torch": 11, "numpy": 10, "c": 13}, 0, 42, 1<<63, 1<<64-1)
}

// random takes the least number of dtypes of each kind of worker.
func random(t *testing.T, kinds map[string]int, seeds ...uint64) {
	all := []tensor.DType{tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16, tensor.Float8E4M3FN, tensor.Float8E5M2, tensor.Float4E2M1,
		tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool}
	for kind, minimum := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind)
			has, _ := p.must(`{"op":"hello","proto":"fib-worker/1","device":"cpu"}`)["dtypes"].([]any)
			tested := 0
			for _, d := range all {
				if slices.Contains(has, any(string(d))) {
					sameNumbers(p, d, seeds)
					tested++
				}
			}
			if tested < minimum || tested != len(has) {
				t.Errorf("%d dtypes of %d were tested, want at least %d", tested, len(has), minimum)
			}
		})
	}
}

func sameNumbers(p *process, d tensor.DType, seeds []uint64) {
	p.Helper()
	const n = 1<<18 + 6 // more than the workers make at a time
	for _, seed := range seeds {
		want := make([]byte, d.Size(n))
		if err := tensor.Random(want, d, seed, 0); err != nil {
			p.Fatal(err)
		}
		got := p.must(`{"op":"tensor","name":"x","dtype":%q,"shape":[%d],"random":{"seed":%d},"digest":true}`, d, n, seed)
		if sum := digest(want); got["digest"] != sum || got["bytes"] != float64(len(want)) {
			p.Errorf("%s, seed %d: got %v, want %d bytes, %s", d, seed, got, len(want), sum)
		}
	}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestProbabilities(t *testing.T) {
	t.Parallel()
	probabilities(t, []string{"numpy", "c"}, [][2]int{{3, 5}, {2, 40_000}, {7000, 7}})
}

func TestProbabilitiesThorough(t *testing.T) {
	testtier.Thorough(t)
	probabilities(t, []string{"torch", "numpy", "c"}, [][2]int{{3, 5}, {2, 128256}, {40000, 7}})
}

func probabilities(t *testing.T, kinds []string, shapes [][2]int) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind)
			p.must(`{"op":"hello","proto":"fib-worker/1","device":"cpu"}`)
			for _, shape := range shapes {
				rows := make([]float32, shape[0]*shape[1])
				if err := tensor.Probabilities(rows, 99, 0, shape[1]); err != nil {
					t.Fatal(err)
				}
				want := tensor.Tensor{DType: tensor.Float32, Shape: shape[:], Data: make([]byte, 4*len(rows))}
				want.SetFloats(rows, 0)
				got := p.must(`{"op":"tensor","name":"p","dtype":"float32","shape":[%d,%d],"random":{"seed":99,"dist":"probabilities"},"digest":true}`,
					shape[0], shape[1])
				if sum := digest(want.Data); got["digest"] != sum {
					t.Errorf("%v: got %v, want %s", shape, got["digest"], sum)
				}
			}
			bad := `{"op":"tensor","name":"p","dtype":"float16","shape":[2,2],"random":{"seed":1,"dist":"probabilities"}}`
			if reply := p.ask(bad); reply["ok"] != false {
				t.Errorf("%s: got %v, want an error", bad, reply)
			}
		})
	}
}

// TestRecordedVectors uses digests that another program computed.
func TestRecordedVectors(t *testing.T) {
	t.Parallel()
	recordedVectors(t, "numpy", "c")
}

func TestRecordedVectorsThorough(t *testing.T) {
	testtier.Thorough(t)
	recordedVectors(t, "torch")
}

func recordedVectors(t *testing.T, kinds ...string) {
	text, err := os.ReadFile(filepath.Join(data(t), "golden", "golden_extra.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		RNG struct {
			Seed, N int
			F32     string `json:"sha256_f32_le"`
			BF16    string `json:"sha256_bf16_le"`
			F16     string `json:"sha256_f16_le"`
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, r := start(t, kind), golden.RNG
			p.must(`{"op":"hello","proto":"fib-worker/1","device":"cpu"}`)
			for d, want := range map[tensor.DType]string{tensor.Float32: r.F32, tensor.BF16: r.BF16, tensor.F16: r.F16} {
				got := p.must(`{"op":"tensor","name":"x","dtype":%q,"shape":[%d],"random":{"seed":%d},"digest":true}`, d, r.N, r.Seed)
				if got["digest"] != want {
					t.Errorf("%s: got %v, want %s", d, got["digest"], want)
				}
			}
		})
	}
}

// data is the folder with real definitions.
func data(t testing.TB) string {
	t.Helper()
	return filepath.Join(testtier.Data(t, "recorded data were NOT read", "flashinfer/golden"), "flashinfer")
}
