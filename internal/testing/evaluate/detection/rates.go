package detection

import (
	"fmt"
	"math"
)

// Rate counts how often something happened.
type Rate struct{ Hits, Of int }

// Add counts one more.
func (r *Rate) Add(hit bool) {
	r.Of++
	if hit {
		r.Hits++
	}
}

// Join counts what another rate did.
func (r *Rate) Join(other Rate) { r.Hits, r.Of = r.Hits+other.Hits, r.Of+other.Of }

// Percent is the share of hits; 0 of nothing.
func (r Rate) Percent() float64 {
	if r.Of == 0 {
		return 0
	}
	return 100 * float64(r.Hits) / float64(r.Of)
}

// Wilson is the interval of 95 % of Percent, as if all trials were independent,
// which those of one history are not.
func (r Rate) Wilson() (low, high float64) {
	if r.Of == 0 {
		return 0, 100
	}
	const z = 1.959963984540054
	n, p := float64(r.Of), float64(r.Hits)/float64(r.Of)
	center := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return 100 * max(0, center-half), 100 * min(1, center+half)
}

// String is the share with its interval.
func (r Rate) String() string {
	if r.Of == 0 {
		return "-"
	}
	low, high := r.Wilson()
	return fmt.Sprintf("%.2f [%.2f, %.2f]", r.Percent(), low, high)
}

// Short is String in whole percent, for power.
func (r Rate) Short() string {
	if r.Of == 0 {
		return "-"
	}
	low, high := r.Wilson()
	return fmt.Sprintf("%.0f [%.0f, %.0f]", r.Percent(), low, high)
}
