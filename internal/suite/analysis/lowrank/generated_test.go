package lowrank_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func generate(t *testing.T) lowrank.Checkpoint {
	t.Helper()
	path, err := lowrank.Generate(t.TempDir(), 42)
	if err != nil {
		t.Fatal(err)
	}
	c, err := lowrank.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestGeneratedCheckpoint(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, err := lowrank.Generate(folder, 42)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(data)
	if got := hex.EncodeToString(digest[:]); got != "cd01210f618cde8f56066fcc0d8de29249f664de61f7eb6cbe20f32cf97d4b55" {
		t.Errorf("the digest is %s: results of other versions are no longer comparable", got)
	}
	c, err := lowrank.Open(folder) // as a folder
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, patterns := lowrank.Family("llama")
	if n := len(lowrank.Targets(c, patterns)); n != 12 || len(c.Names()) != 18 {
		t.Errorf("%d targets of %d tensors, want 12 of 18", n, len(c.Names()))
	}
	checkNormal(t, c)
}

// checkNormal looks at one weight's moments, and that no two are alike.
func checkNormal(t *testing.T, c lowrank.Checkpoint) {
	t.Helper()
	seen := map[string]bool{}
	for _, name := range c.Names() {
		w, err := c.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Shape) != 2 {
			continue
		}
		if seen[string(w.Data[:64])] {
			t.Errorf("%s begins like another weight", name)
		}
		seen[string(w.Data[:64])] = true
		var sum, squares float64
		for _, v := range values(w) {
			sum, squares = sum+v, squares+v*v
		}
		n := float64(w.Elements())
		if mean, variance := sum/n, squares/n; mean*mean > 16*4e-4/n || variance < 3.8e-4 || variance > 4.2e-4 || w.DType != tensor.BF16 {
			t.Errorf("%s has mean %g and variance %g", name, mean, variance)
		}
	}
}

// TestErrorLevels is the table that the method is known by: what the formats
// of computing and storing leave of a bfloat16 checkpoint. The tolerance 1e-5
// tells only the last row apart, bounds all three.
func TestErrorLevels(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	c := generate(t)
	for _, level := range []struct {
		compute, storage tensor.DType
		relative         [2]float64
		largest          [2]float64
		orthogonality    float64
		status           lowrank.Status
	}{
		{tensor.Float64, tensor.Float64, [2]float64{5e-16, 8e-15}, [2]float64{5e-17, 4e-15}, 2e-14, lowrank.Close},
		{tensor.Float32, tensor.Float32, [2]float64{7e-7, 3e-6}, [2]float64{5e-8, 5e-7}, 2e-6, lowrank.Close},
		{tensor.Float32, tensor.BF16, [2]float64{2.5e-3, 3.3e-3}, [2]float64{1e-4, 6e-4}, 4e-3, lowrank.Different},
	} {
		r := run(t, lowrank.Job{Original: c, Settings: with(level.compute, level.storage)})
		s := r.Summary
		t.Logf("%s/%s: max %.2g, mean %.2g, relative %.2g (worst %.2g), orthogonality %.2g (%.2g degrees), %.2g of the bound, outside %.3f, ULPs %v",
			level.compute, level.storage, s.Max, s.Mean, s.Relative, s.WorstRelative, s.Deviation, s.Degrees, s.WorstBound, float64(s.Outside)/float64(s.Elements), s.ULPs)
		if s.Total != 12 || s.Passed() != (level.status == lowrank.Close) || s.Failed != 0 {
			t.Errorf("%s/%s: %+v", level.compute, level.storage, s)
		}
		for _, p := range r.Parameters {
			d := p.Difference
			if p.Status != level.status || !within(d.Relative, level.relative) || !within(d.Max, level.largest) ||
				p.U.Deviation > level.orthogonality || p.V.Deviation > level.orthogonality {
				t.Errorf("%s/%s: %+v, %+v, %+v, %+v", level.compute, level.storage, p, d, p.U, p.V)
			}
		}
	}
}

func within(v float64, limits [2]float64) bool { return v >= limits[0] && v <= limits[1] }

// TestBoundTellsFormatsApart: what was computed or stored in less than was said
// is within upstream's tolerance or not, and beyond the bound always.
func TestBoundTellsFormatsApart(t *testing.T) {
	t.Parallel()
	m := model(tensor.BF16)
	for _, c := range []struct{ made, said lowrank.Settings }{
		{with(tensor.Float32, tensor.Float64), with(tensor.Float64, tensor.Float64)},
		{with(tensor.Float64, tensor.BF16), with(tensor.Float64, "")},
	} {
		factors := factorize(t, m, c.made)
		r := run(t, lowrank.Job{Original: m, Factors: factors, Settings: c.said})
		wantBeyond := c.said.Storage != "" // bfloat16 that is said to be so is right
		for _, p := range r.Parameters {
			if beyond := slices.ContainsFunc(p.Faults, func(f lowrank.Fault) bool { return f.Kind == lowrank.OutOfBound }); beyond != wantBeyond {
				t.Errorf("%s, made with %+v: %+v", p.Name, c.made, p.Faults)
			}
		}
	}
}
