//go:build ((linux && (cgo || openblas)) || darwin) && (amd64 || arm64)

package svd

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// OpenBLAS returns LAPACK's divide-and-conquer solvers dgesdd and sgesdd from the OpenBLAS
// library of this machine, which is loaded once, and an error where there is
// none. Nothing is linked at build time and cgo is not needed. The reference
// liblapack is not looked for: the solver in Go is as fast.
//
// What can load libraries is itself linked dynamically, so a Linux build
// without cgo, which is what containers without a C library run, has this only
// with the build tag openblas.
func OpenBLAS() (Solver, error) {
	s, err := load()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// load is done once: a library is never unloaded.
var load = sync.OnceValues(func() (*openBLAS, error) {
	var tried []string
	for _, name := range libraries() {
		library, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			tried = append(tried, name)
			continue
		}
		for _, suffix := range []string{"_", "_64_", "_64"} {
			double, err := purego.Dlsym(library, "dgesdd"+suffix)
			if err != nil {
				continue
			}
			if single, err := purego.Dlsym(library, "sgesdd"+suffix); err == nil {
				s := new(openBLAS)
				purego.RegisterFunc(&s.dgesdd, double)
				purego.RegisterFunc(&s.sgesdd, single)
				return s, nil
			}
		}
		tried = append(tried, name+" (has no dgesdd and sgesdd)")
	}
	return nil, fmt.Errorf("no OpenBLAS among %s: install libopenblas0 (Debian, Ubuntu), openblas (Fedora, Homebrew), or use the solver in Go",
		strings.Join(tried, ", "))
})

// libraries lists what may be there, best first. Only names without a folder
// are searched for by the system's rules; Homebrew's are outside those.
func libraries() []string {
	if runtime.GOOS == "darwin" {
		return []string{"libopenblas.dylib", "/opt/homebrew/opt/openblas/lib/libopenblas.dylib", "/usr/local/opt/openblas/lib/libopenblas.dylib"}
	}
	return []string{"libopenblas.so.0", "libopenblas.so", "libopenblas64.so.0", "libopenblas64_.so.0"}
}

type openBLAS struct {
	// mutex, because OpenBLAS built without threads has no locks of its own.
	mutex  sync.Mutex
	dgesdd gesdd[float64]
	sgesdd gesdd[float32]
}

// gesdd is LAPACK's, with the length of jobz that Fortran adds. Integers
// are passed as int64 whatever the library's are: on the little-endian
// machines of this file a library with 32 bits reads the lower half, and
// writes it to what is 0.
type gesdd[F float] func(jobz *byte, m, n *int64, a *F, lda *int64, s, u *F, ldu *int64, vt *F, ldvt *int64,
	work *F, lwork, iwork, info *int64, jobzLength uintptr)

func (s *openBLAS) Name() string { return "openblas" }

func (s *openBLAS) Thin(a []float64, m, n int) (Factors, error) {
	return guard(a, m, n, extreme, func(a []float64, m, n int) (Factors, error) {
		u, values, vt, err := s.dgesdd.thin(&s.mutex, a, m, n)
		return Factors{M: m, N: n, K: min(m, n), U: u, S: values, VT: vt}, err
	})
}

func (s *openBLAS) ThinSingle(a []float64, m, n int) (Factors, error) {
	return guardSingle(a, m, n, func(a []float32, m, n int) (Factors, error) {
		u, values, vt, err := s.sgesdd.thin(&s.mutex, a, m, n)
		return Factors{M: m, N: n, K: min(m, n), U: widened(u), S: widened(values), VT: widened(vt)}, err
	})
}

// maxInt32 bounds sizes, since the library's integers may have 32 bits.
const maxInt32 = 1<<31 - 1

// thin decomposes what Fortran sees as the transposed matrix, since its order
// is by columns: its left factor is VT and its right one U, both in our order.
func (g gesdd[F]) thin(mutex *sync.Mutex, a []F, m, n int) (u, s, vt []F, err error) {
	if m > maxInt32 || n > maxInt32 || len(a) > maxInt32 {
		return nil, nil, nil, errors.New("too large for LAPACK: use the solver in Go")
	}
	k := min(m, n)
	u, s, vt = make([]F, m*k), make([]F, k), make([]F, k*n)
	jobz, rows, columns, triplets := byte('S'), int64(n), int64(m), int64(k)
	iwork := make([]int64, 8*k)
	call := func(work []F, length int64) error {
		var info int64
		mutex.Lock()
		g(&jobz, &rows, &columns, &a[0], &rows, &s[0], &vt[0], &rows, &u[0], &triplets, &work[0], &length, &iwork[0], &info, 1)
		mutex.Unlock()
		switch result := int32(info); {
		case result > 0:
			return errConvergence
		case result < 0:
			return fmt.Errorf("LAPACK refuses argument %d of gesdd: use the solver in Go", -result)
		}
		return nil
	}
	size := []F{0}
	if err = call(size, -1); err == nil {
		// Of float32 the size may be rounded down.
		length := max(1, int64(float64(size[0])*(1+0x1p-22)))
		err = call(make([]F, length), length)
	}
	return u, s, vt, err
}
