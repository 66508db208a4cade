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

// OpenBLAS returns LAPACK's divide-and-conquer solver dgesdd from the OpenBLAS
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
		for _, symbol := range []string{"dgesdd_", "dgesdd_64_", "dgesdd_64"} {
			if address, err := purego.Dlsym(library, symbol); err == nil {
				s := new(openBLAS)
				purego.RegisterFunc(&s.dgesdd, address)
				return s, nil
			}
		}
		tried = append(tried, name+" (has no dgesdd)")
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
	mutex sync.Mutex
	// dgesdd is LAPACK's, with the length of jobz that Fortran adds. Integers
	// are passed as int64 whatever the library's are: on the little-endian
	// machines of this file a library with 32 bits reads the lower half, and
	// writes it to what is 0.
	dgesdd func(jobz *byte, m, n *int64, a *float64, lda *int64, s, u *float64, ldu *int64, vt *float64, ldvt *int64,
		work *float64, lwork, iwork, info *int64, jobzLength uintptr)
}

func (s *openBLAS) Name() string { return "openblas" }

func (s *openBLAS) Thin(a []float64, m, n int) (Factors, error) {
	return guard(a, m, n, s.thin)
}

// maxInt32 bounds sizes, since the library's integers may have 32 bits.
const maxInt32 = 1<<31 - 1

// thin decomposes what Fortran sees as the transposed matrix, since its order
// is by columns: its left factor is VT and its right one U, both in our order.
func (s *openBLAS) thin(a []float64, m, n int) (Factors, error) {
	if m > maxInt32 || n > maxInt32 || len(a) > maxInt32 {
		return Factors{}, errors.New("too large for LAPACK: use the solver in Go")
	}
	k := min(m, n)
	f := Factors{M: m, N: n, K: k, U: make([]float64, m*k), S: make([]float64, k), VT: make([]float64, k*n)}
	iwork := make([]int64, 8*k)
	size := []float64{0}
	if err := s.call(a, f, size, -1, iwork); err != nil {
		return Factors{}, err
	}
	work := make([]float64, max(1, int(size[0])))
	if err := s.call(a, f, work, len(work), iwork); err != nil {
		return Factors{}, err
	}
	return f, nil
}

func (s *openBLAS) call(a []float64, f Factors, work []float64, length int, iwork []int64) error {
	jobz := byte('S')
	rows, columns, k, lwork := int64(f.N), int64(f.M), int64(f.K), int64(length)
	var info int64
	s.mutex.Lock()
	s.dgesdd(&jobz, &rows, &columns, &a[0], &rows, &f.S[0], &f.VT[0], &rows, &f.U[0], &k, &work[0], &lwork, &iwork[0], &info, 1)
	s.mutex.Unlock()
	switch result := int32(info); {
	case result > 0:
		return errConvergence
	case result < 0:
		return fmt.Errorf("LAPACK refuses argument %d of dgesdd: use the solver in Go", -result)
	}
	return nil
}
