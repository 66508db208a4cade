// Package profile reads where a program's time went: the tables, metrics and
// traces of msmodeling's simulator and of PyTorch's profiler, and a plain JSON
// form that any program can print. It is pure and knows nothing of cells.
package profile

import (
	"errors"

	"github.com/accelgate/accelgate/internal/bench"
)

// Profile is a total and its parts. All times are in seconds.
type Profile struct {
	// Total is the sum over all operators and streams as the program says it, or
	// that of Operators where it says none.
	Total float64
	// Operators are sorted by total, descending, then by name; each name once.
	Operators []bench.Entry
	// Values are further metrics, sorted by name, each at most once.
	Values []Value
}

// Value is one further metric, in the unit that Metrics gives it.
type Value struct {
	Metric string
	Value  float64
}

// ErrNone is returned, wrapped, for text that holds nothing of a format, so
// that another source may be tried. Any other error means that what is there
// cannot be used.
var ErrNone = errors.New("holds no profile")

// Reader reads one format. It keeps nothing of data and may be called by
// several goroutines at once.
type Reader func(data []byte) (*Profile, error)
