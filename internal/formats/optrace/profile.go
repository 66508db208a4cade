// Package optrace reads where a program's time went: the tables, metrics and
// traces of msmodeling's simulator and of PyTorch's profiler, and a plain JSON
// form that any program can print. It is pure and independent of cells.
package optrace

import (
	"errors"

	"github.com/accelgate/accelgate/internal/bench"
)

// Profile is a total and its parts. All times are in seconds.
type Profile struct {
	// Total is the sum over all operators and streams as the program says it, or
	// that of Operators where it says none.
	Total float64
	// Operators are sorted by total, descending; equal totals stay in the order
	// of the source. Each name stands once: what the source lists under one name
	// is summed, and so are names that are equal in their first 200 bytes.
	//
	// Those of msmodeling-table are the rows of the table, in its order: a name
	// may stand several times, and msmodeling's own checker takes the first rows
	// for the largest.
	Operators []bench.Entry
	// CriticalPath charges the time of a chain of operators, each of which began
	// when the one before it ended, to their names, each once and the largest
	// first. The sum is critical_path_s. Only msmodeling-trace has it; it is nil
	// elsewhere.
	CriticalPath []bench.Entry
	// Values are further metrics, sorted by name, each at most once.
	Values []Value
}

// Value is one further metric, in the unit that Metrics gives it.
type Value struct {
	Metric string
	Value  float64
}

// ErrNone is returned, wrapped, for text that holds nothing of a format, so
// that another source may be tried where the text is the output of a program,
// in which anything may stand. Any other error means that what is there cannot
// be used.
var ErrNone = errors.New("holds no profile")

// Reader reads one format. It keeps nothing of data and may be called by
// several goroutines at once.
//
// A time that is negative, not finite or above 1e9 s is an error, and so are
// more than 4,096 operators: which of them are left out is the program's choice
// and not ours.
type Reader func(data []byte) (*Profile, error)
