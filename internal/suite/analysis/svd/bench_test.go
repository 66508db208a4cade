//go:build unix

package svd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// BenchmarkThin compares solvers by the CPU time of this process, which other
// load on the host hardly changes: cpu-s/op, and gonum-ratio, how many times
// gonum's CPU time that of the solver is contained in. ACCELGATE_BENCH_SVD is
// the size for another one, as 2048.
func BenchmarkThin(b *testing.B) {
	sizes := []int{256, 512, 1024}
	if n, err := strconv.Atoi(os.Getenv("ACCELGATE_BENCH_SVD")); err == nil {
		sizes = []int{n}
	}
	for _, n := range sizes {
		r := rand.New(rand.NewPCG(1, 2))
		a := make([]float64, n*n)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		reference := 0.0
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			reference = perOp(b, func() error {
				var s mat.SVD
				if !s.Factorize(mat.NewDense(n, n, a), mat.SVDThin) {
					return fmt.Errorf("gonum does not converge")
				}
				return nil
			})
		})
		b.Run(fmt.Sprintf("%s/%d", solver.Name(), n), func(b *testing.B) {
			cpu := perOp(b, func() error {
				_, err := solver.Thin(a, n, n)
				return err
			})
			if reference > 0 {
				b.ReportMetric(reference/cpu, "gonum-ratio")
			}
		})
	}
}

// perOp runs the benchmark and returns the CPU seconds of one call.
func perOp(b *testing.B, work func() error) float64 {
	before, calls := cpuSeconds(b), 0
	for b.Loop() {
		if err := work(); err != nil {
			b.Fatal(err)
		}
		calls++
	}
	cpu := (cpuSeconds(b) - before) / float64(calls)
	b.ReportMetric(cpu, "cpu-s/op")
	return cpu
}

func cpuSeconds(b testing.TB) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
