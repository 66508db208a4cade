package lowrank_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

// BenchmarkGenerated compares the generated checkpoint, as the quickstart does.
func BenchmarkGenerated(b *testing.B) {
	path, err := lowrank.Generate(b.TempDir(), 42)
	if err != nil {
		b.Fatal(err)
	}
	c, err := lowrank.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		r, err := lowrank.Job{Original: c, Settings: lowrank.Defaults(), Solver: svd.Go()}.Run(b.Context())
		if err != nil || !r.Summary.Passed() {
			b.Fatal(err, r.Summary)
		}
	}
}

// BenchmarkMeasure verifies given factors of 1024 x 1024: products only.
func BenchmarkMeasure(b *testing.B) {
	const n = 1024
	w := normal(source(3), tensor.BF16, n, n, .02)
	f, err := lowrank.Decompose(svd.Go(), w, n/2, tensor.Float64, tensor.Float64)
	if err != nil {
		b.Fatal(err)
	}
	m := lowrank.Measure(w, f, lowrank.Defaults())
	b.Logf("relative %g, orthogonality %g and %g, bound %g", m.Difference.Relative, m.U.Deviation, m.V.Deviation, m.Bound)
	for _, compute := range []tensor.DType{tensor.Float64, tensor.Float32} {
		b.Run(string(compute), func(b *testing.B) {
			s := with(compute, tensor.Float64)
			for b.Loop() {
				lowrank.Measure(w, f, s)
			}
		})
	}
}
