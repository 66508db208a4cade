//go:build !(((linux && (cgo || openblas)) || darwin) && (amd64 || arm64))

package svd

import "errors"

// OpenBLAS returns an error in this build.
func OpenBLAS() (Solver, error) {
	return nil, errors.New("this build cannot load OpenBLAS: on Linux and macOS (amd64, arm64) build with -tags openblas, elsewhere use the solver in Go")
}
