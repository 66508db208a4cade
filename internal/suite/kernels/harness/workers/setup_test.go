package workers_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// sums are of the parts of values that indptr separates. That and bias come from a file.
func sums(t *testing.T, fromFile ...string) (c harness.Case, file map[string]tensor.Tensor) {
	t.Helper()
	c = harness.Case{
		Definition: "segment_sums", Workload: "w",
		Inputs: []harness.Input{
			{Name: "values", DType: tensor.Float32, Shape: []int{12}}, {Name: "indptr", DType: tensor.Int32, Shape: []int{4}},
			{Name: "bias", DType: tensor.Float32, Shape: []int{3}}, {Name: "scale", DType: tensor.Float32, Scalar: "0.5"},
		},
		Outputs: []harness.Output{{Name: "y", DType: tensor.Float32, Shape: []int{3}}},
	}
	file, path := map[string]tensor.Tensor{}, filepath.Join(t.TempDir(), "w.safetensors")
	var named []safetensors.Named
	for i := range c.Inputs {
		in := &c.Inputs[i]
		if !slices.Contains(fromFile, in.Name) {
			continue
		}
		x, err := harness.Case{Secret: harness.NewSecret()}.Random(*in, 0, 0)
		if in.Name == "indptr" {
			x.Data = []byte{0, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 12, 0, 0, 0}
		}
		if err != nil {
			t.Fatal(err)
		}
		file[in.Name], in.File = x, &harness.File{Path: path, Key: in.Name}
		named = append(named, safetensors.Named{Name: in.Name, Tensor: x})
	}
	if err := safetensors.Write(path, named); err != nil {
		t.Fatal(err)
	}
	return c, file
}

// planned measures a program with a setup, in dir, against reference.py.
func planned(t *testing.T, c harness.Case, file, dir string) harness.Measurement {
	t.Helper()
	return against(t, c, "testdata/setup/reference.py", file, dir)
}

func against(t *testing.T, c harness.Case, plain, file, dir string) harness.Measurement {
	t.Helper()
	reference, solution := open(t.Context(), t, "numpy", true, harness.Limits{}), open(t.Context(), t, "numpy", false, harness.Limits{})
	settings := harness.Settings{Warmup: 1, Iterations: 4, Trials: 2, MaxIterations: 8, MaxFresh: 4, MinTime: time.Hour, Dir: t.TempDir(), Judge: equal}
	m, err := harness.Measure(t.Context(), c, program(t, reference, plain, t.TempDir(), ""), program(t, solution, file, dir, ""), settings)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// seen is what a setup or a call got: tensors as their bytes.
type seen struct {
	What, Values, Bias string
	Indptr             []int
	Scale              float64
}

func lookedAt(t *testing.T, dir string) (all []seen) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "seen.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s seen
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestSetupSeesIndicesOnly: setup is called before all calls, gets the indices and the number of the workload, and neither
// random values nor values of files that any call gets.
func TestSetupSeesIndicesOnly(t *testing.T) {
	t.Parallel()
	c, file := sums(t, "indptr", "bias")
	dir := filepath.Join(t.TempDir(), "solution")
	m := planned(t, c, "testdata/setup/planned.py", dir)
	if m.Status != evaluator.Passed {
		t.Fatalf("status %s, reason %q", m.Status, m.Reason)
	}
	calls, before := map[string]bool{}, 0
	all := lookedAt(t, dir)
	for i, s := range all {
		if !slices.Equal(s.Indptr, []int{0, 2, 7, 12}) || s.Scale != 0.5 {
			t.Fatalf("a %s got the indices %v and the scale %v", s.What, s.Indptr, s.Scale)
		}
		if s.What == "setup" {
			if before++; before != i+1 {
				t.Errorf("setup was called after %d calls", i+1-before)
			}
			continue
		}
		calls[s.Values] = true
		if s.Bias != hex.EncodeToString(file["bias"].Data) {
			t.Fatal("a call did not get the bias of the file")
		}
	}
	if before < 1 || before > 5 || len(m.Setup) != before || len(calls) < 3 {
		t.Fatalf("%d calls of setup, %d times of them, %d different values in calls", before, len(m.Setup), len(calls))
	}
	for i, s := range all[:before] {
		if calls[s.Values] || s.Bias == hex.EncodeToString(file["bias"].Data) {
			t.Errorf("call %d of setup got values that a call gets", i)
		}
	}
}

// TestDocumentedSetup measures the example of the documentation.
func TestDocumentedSetup(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../../docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Setup\n")
	_, code, _ := strings.Cut(section, "```python\n")
	code, _, found := strings.Cut(code, "```\n")
	file := filepath.Join(t.TempDir(), "example.py")
	if err := os.WriteFile(file, []byte(code), 0o644); err != nil || !found || !strings.Contains(code, "def setup(") {
		t.Fatalf("no example: %v\n%s", err, code)
	}
	c, _ := sums(t, "indptr")
	c.Inputs = c.Inputs[:2]
	if m := against(t, c, "testdata/setup/documented.py", file, t.TempDir()); m.Status != evaluator.Passed || len(m.Setup) == 0 {
		t.Errorf("status %s, reason %q, times of setup %v", m.Status, m.Reason, m.Setup)
	}
}

// TestSetupIsRefusedWhereAllIsKnown: with all inputs in files setup could compute the outputs, and is not called.
func TestSetupIsRefusedWhereAllIsKnown(t *testing.T) {
	t.Parallel()
	c, _ := sums(t, "values", "indptr", "bias")
	dir := filepath.Join(t.TempDir(), "solution")
	m := planned(t, c, "testdata/setup/planned.py", dir)
	if m.Status != evaluator.RuntimeError || !strings.Contains(m.Reason, "no input of the workload is random") || !strings.Contains(m.Reason, "remove setup") {
		t.Errorf("status %s, reason %q", m.Status, m.Reason)
	}
	if all := lookedAt(t, dir); len(all) != 0 || m.Setup != nil {
		t.Errorf("%d calls were made, times %v", len(all), m.Setup)
	}
	// Without a setup such a workload is measured, with a warning.
	m = planned(t, c, "testdata/setup/reference.py", t.TempDir())
	if m.Status != evaluator.Passed || m.Setup != nil || !strings.Contains(strings.Join(m.Warnings, "\n"), "no input is random") {
		t.Errorf("without a setup: status %s, reason %q, warnings %q", m.Status, m.Reason, m.Warnings)
	}
}

// TestSetupUnderATool: what tools watch is a call after a setup, with other values.
func TestSetupUnderATool(t *testing.T) {
	t.Parallel()
	c, _ := sums(t, "indptr", "bias")
	c.Secret = harness.NewSecret()
	dir := filepath.Join(t.TempDir(), "solution")
	s := open(t.Context(), t, "numpy", false, harness.Limits{})
	if err := harness.Once(t.Context(), c, program(t, s, "testdata/setup/planned.py", dir, ""), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	all := lookedAt(t, dir)
	if len(all) != 2 || all[0].What != "setup" || all[1].What != "run" || all[0].Values == all[1].Values || all[0].Bias == all[1].Bias {
		t.Errorf("the solution was called as %v", all)
	}
}

// TestSetupOfReference is not called: references have none.
func TestSetupOfReference(t *testing.T) {
	t.Parallel()
	reference, solution := open(t.Context(), t, "numpy", true, harness.Limits{}), open(t.Context(), t, "numpy", false, harness.Limits{})
	r, s := program(t, reference, "testdata/cheats/setup_hangs.py", t.TempDir(), ""), program(t, solution, "testdata/cheats/plain.py", t.TempDir(), "")
	r.Build.Setup = false
	m, err := harness.Measure(t.Context(), sum, r, s, harness.Settings{Trials: 1, MaxIterations: 8, MinTime: time.Hour, MaxFresh: 4, Dir: t.TempDir(), Judge: equal})
	if err != nil || m.Status != evaluator.Passed || m.Setup != nil {
		t.Errorf("status %s, reason %q, setup %v, %v", m.Status, m.Reason, m.Setup, err)
	}
}
