package evaluator_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func golden(t *testing.T) string {
	t.Helper()
	data := testtier.Data(t, "golden outputs were NOT read", "flashinfer/golden")
	return filepath.Join(data, "flashinfer", "golden")
}

// read decodes a file of JSON into v.
func read(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// outputs reads a safetensors file, which stays open until the test ends.
func outputs(t *testing.T, path string) (all []evaluator.Output) {
	t.Helper()
	file, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for _, name := range file.Names() {
		x, err := file.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, evaluator.Output{Name: name, Tensor: x})
	}
	return all
}

// stats are upstream's statistics of an output under some tolerances.
type stats struct {
	Atol                 float64          `json:"atol"`
	Rtol                 float64          `json:"rtol"`
	RequiredMatchedRatio float64          `json:"required_matched_ratio"`
	MaxAbsoluteError     evaluator.Number `json:"max_absolute_error"`
	MaxRelativeError     evaluator.Number `json:"max_relative_error"`
	ExceedCount          int              `json:"exceed_count"`
	MatchedRatio         float64          `json:"matched_ratio"`
	ExceedsTol           bool             `json:"exceeds_tol"`
}

func (s stats) params(mode evaluator.Mode) evaluator.Params {
	return evaluator.Params{Mode: mode, Atol: s.Atol, Rtol: s.Rtol, RequiredMatchedRatio: s.RequiredMatchedRatio}
}

func same(a, b evaluator.Number) bool { return a == b || a != a && b != b }

func (s stats) check(t *testing.T, o evaluator.OutputResult) {
	t.Helper()
	if !same(o.MaxAbsoluteError, s.MaxAbsoluteError) || !same(o.MaxRelativeError, s.MaxRelativeError) || o.MatchedRatio != s.MatchedRatio {
		t.Errorf("errors %v and %v, ratio %v; want %v, %v and %v",
			o.MaxAbsoluteError, o.MaxRelativeError, o.MatchedRatio, s.MaxAbsoluteError, s.MaxRelativeError, s.MatchedRatio)
	}
}

// TestGoldenOutputs compares saved outputs with what upstream's code said of
// them. Strict, which adds the two tolerances up, must find the same largest
// absolute error, the place of an error, and come to the count that the rule
// gives when it is written down naively.
func TestGoldenOutputs(t *testing.T) {
	t.Parallel()
	folder := golden(t)
	var cases map[string]json.RawMessage
	read(t, filepath.Join(folder, "expected.json"), &cases)
	found := 0
	for name, text := range cases {
		if name[0] == '_' {
			continue
		}
		var c struct {
			Outputs map[string]map[string]stats `json:"outputs"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		reference := outputs(t, filepath.Join(folder, name, "reference.safetensors"))
		candidate := outputs(t, filepath.Join(folder, name, "candidate.safetensors"))
		for output, tolerances := range c.Outputs {
			for tolerance, want := range tolerances {
				t.Run(name+"/"+output+"/"+tolerance, func(t *testing.T) {
					t.Parallel()
					fib := find(t, judge(t, reference, candidate, want.params(evaluator.Fib)), output)
					want.check(t, fib)
					if failed := fib.Status == evaluator.IncorrectNumerical; failed != want.ExceedsTol {
						t.Errorf("status %s, want exceeds_tol %v", fib.Status, want.ExceedsTol)
					}
					strict := find(t, judge(t, reference, candidate, want.params(evaluator.Strict)), output)
					i := slices.IndexFunc(reference, func(o evaluator.Output) bool { return o.Name == output })
					slow(reference[i].Tensor, candidate[i].Tensor, strict.Tolerance, fib.Tolerance).check(t, strict)
				})
				found++
			}
		}
	}
	if found < 6 {
		t.Errorf("%d comparisons, want at least 6", found)
	}
}

func judge(t *testing.T, reference, candidate []evaluator.Output, p evaluator.Params) evaluator.Result {
	t.Helper()
	r, err := evaluator.Elementwise(reference, candidate, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t *testing.T, r evaluator.Result, output string) evaluator.OutputResult {
	t.Helper()
	for _, o := range r.Outputs {
		if o.Name == output {
			return o
		}
	}
	t.Fatalf("no output %q in %+v", output, r)
	return evaluator.OutputResult{}
}

func floats(values ...float64) tensor.Tensor {
	t := tensor.Tensor{DType: tensor.Float32, Shape: []int{len(values)}, Data: make([]byte, 4*len(values))}
	t.SetFloats64(values, 0)
	return t
}

func named(name string, t tensor.Tensor) []evaluator.Output {
	return []evaluator.Output{{Name: name, Tensor: t}}
}

// TestGoldenNonFinite has the pairs with NaN and infinities. In Strict mode
// exactly those pass that are the same or close.
func TestGoldenNonFinite(t *testing.T) {
	t.Parallel()
	var cases struct {
		NonFinite []struct {
			Output    evaluator.Number `json:"output"`
			Reference evaluator.Number `json:"reference"`
			Stats     stats            `json:"compute_error_stats"`
			Status    evaluator.Status `json:"upstream_default_status"`
		} `json:"_nonfinite_cases"`
	}
	read(t, filepath.Join(golden(t), "expected.json"), &cases)
	if len(cases.NonFinite) < 9 {
		t.Fatalf("%d cases, want at least 9", len(cases.NonFinite))
	}
	for _, c := range cases.NonFinite {
		y, x := named("y", floats(float64(c.Reference))), named("y", floats(float64(c.Output)))
		r := judge(t, y, x, c.Stats.params(evaluator.Fib))
		c.Stats.check(t, r.Outputs[0])
		if r.Status != c.Status {
			t.Errorf("%v for %v: %s, want %s", c.Output, c.Reference, r.Status, c.Status)
		}
		want := evaluator.IncorrectNumerical
		if same(c.Output, c.Reference) || math.Abs(float64(c.Output-c.Reference)) < 0.01 {
			want = evaluator.Passed
		}
		if r := judge(t, y, x, c.Stats.params(evaluator.Strict)); r.Status != want {
			t.Errorf("strict: %v for %v: %s, want %s", c.Output, c.Reference, r.Status, want)
		}
	}
}

// TestGoldenDecoding checks the values of 16-bit formats as the comparison
// sees them: an output that has the value must be off by nothing.
func TestGoldenDecoding(t *testing.T) {
	t.Parallel()
	var cases struct {
		Decode map[string][][2]evaluator.Number `json:"_dtype_decode"`
	}
	read(t, filepath.Join(golden(t), "expected.json"), &cases)
	for name, pairs := range cases.Decode {
		d, ok := tensor.FromSafetensors(name)
		if !ok || len(pairs) == 0 {
			t.Fatalf("format %q has %d pairs", name, len(pairs))
		}
		for _, pair := range pairs {
			y := tensor.Tensor{DType: d, Shape: []int{1}, Data: binary.LittleEndian.AppendUint16(nil, uint16(pair[0]))}
			x := tensor.Tensor{DType: d, Shape: []int{1}, Data: make([]byte, 2)}
			x.SetFloats64([]float64{float64(pair[1])}, 0)
			if r := judge(t, named("y", y), named("y", x), evaluator.Params{}); r.Status != evaluator.Passed || r.MaxAbsoluteError != 0 {
				t.Errorf("%s %v is not %v: %s", name, pair[0], pair[1], r.Log)
			}
		}
	}
}

// TestGoldenSampling compares both rules with what upstream's code and the
// datasets' references do.
func TestGoldenSampling(t *testing.T) {
	t.Parallel()
	var cases struct {
		Sampling []struct {
			Method            evaluator.Method `json:"method"`
			Probs             []float64        `json:"probs"`
			TopK              int              `json:"top_k"`
			TopP              float64          `json:"top_p"`
			UpstreamMask      []bool           `json:"upstream_mask"`
			UpstreamExpected  []float64        `json:"upstream_expected"`
			ReferenceExpected []float64        `json:"reference_expected"`
		} `json:"sampling_cases"`
	}
	read(t, filepath.Join(golden(t), "golden_extra.json"), &cases)
	if len(cases.Sampling) < 9 {
		t.Fatalf("%d cases, want at least 9", len(cases.Sampling))
	}
	close := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
	for _, c := range cases.Sampling {
		if got := evaluator.FibMask(c.Method, c.Probs, c.TopK, c.TopP); !slices.Equal(got, c.UpstreamMask) {
			t.Errorf("%+v: mask is %v", c, got)
		}
		if got := evaluator.FibExpected(c.Method, c.Probs, c.TopK, c.TopP); !slices.EqualFunc(got, c.UpstreamExpected, close) {
			t.Errorf("%+v: upstream would expect %v", c, got)
		}
		if got := evaluator.Expected(c.Method, c.Probs, c.TopK, c.TopP); !slices.EqualFunc(got, c.ReferenceExpected, close) {
			t.Errorf("%+v: the reference would draw %v", c, got)
		}
	}
}
