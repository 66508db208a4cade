package lowrank

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/text"
)

// Kind describes what is wrong with a parameter or with its factors.
type Kind string

// The kinds of faults.
const (
	Unreadable    Kind = "unreadable"     // the weight or a factor cannot be read
	Missing       Kind = "missing"        // a factor is not there
	Extra         Kind = "extra"          // there are factors without a target
	Format        Kind = "format"         // a number format that is not wanted
	Shape         Kind = "shape"          // sizes that do not fit together
	Rank          Kind = "rank"           // triplets are lost, occur twice, or are split elsewhere
	NotFinite     Kind = "not-finite"     // NaN or infinite numbers
	Undecomposed  Kind = "undecomposed"   // the solver gave up
	Order         Kind = "order"          // singular values that are not sorted
	Negative      Kind = "negative"       // singular values below 0
	ZeroVector    Kind = "zero-vector"    // singular vectors without a length
	NotOrthogonal Kind = "not-orthogonal" // singular vectors that are not orthonormal
	Angle         Kind = "angle"          // frozen and trained vectors that are not at right angles
	OutOfBound    Kind = "out-of-bound"   // a larger error than rounding explains, see [Bound]
)

var kinds = []Kind{
	Unreadable,
	Missing,
	Extra,
	Format,
	Shape,
	Rank,
	NotFinite,
	Undecomposed,
	Order,
	Negative,
	ZeroVector,
	NotOrthogonal,
	Angle,
	OutOfBound,
}

// Fault is a reason for a parameter's failure, whatever its numbers are.
type Fault struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"` // for people; at most maxDetail bytes
}

const maxDetail = 1000

func fault(kind Kind, format string, args ...any) Fault {
	return Fault{Kind: kind, Detail: text.Cut(fmt.Sprintf(format, args...), maxDetail)}
}
