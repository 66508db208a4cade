//go:build !unix && !windows

package load

import "math"

// cpuTime is not known here.
func cpuTime() float64 { return math.NaN() }
