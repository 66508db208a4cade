package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Health describes the host while something was measured.
type Health struct {
	Status HealthStatus `json:"status"`
	// Reasons explain, for people, why it was unhealthy, or what could not be read.
	// They may quote what a vendor's tool printed.
	Reasons  []string  `json:"reasons,omitempty"`
	Readings []Reading `json:"readings,omitempty"`
}

// SameReason reports whether two reasons differ in their numbers only: what is
// reported for each of many measurements, with another number, is printed once.
func SameReason(a, b string) bool {
	words := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r == '.' {
				return -1
			}
			return r
		}, s)
	}
	return words(a) == words(b)
}

// HealthStatus is a Health in a word.
type HealthStatus string

// The statuses. Unknown is not Healthy: no look was possible.
const (
	Healthy       HealthStatus = "ok"
	Unhealthy     HealthStatus = "unhealthy"
	HealthUnknown HealthStatus = "unknown"
)

// HealthStatuses are those above.
var HealthStatuses = []HealthStatus{Healthy, Unhealthy, HealthUnknown}

// Reading is what was read of one quantity over a span of time, such as the
// clock of a device.
type Reading struct {
	Name string  `json:"name"` // "nvidia:0 sm_clock"
	Unit string  `json:"unit,omitempty"`
	N    int     `json:"n"` // how often it was read, at least 1
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// Calibration holds the times of a fixed piece of work that accelgate brings along, before
// and after all cells: where it takes longer, the host has changed and not the code under
// test. Runs on virtual machines have no calibration.
type Calibration struct {
	Before []float64 `json:"before"` // ms
	After  []float64 `json:"after,omitempty"`
}

const maxReadings = 1000

// validate refuses what cannot have been read.
func (h *Health) validate() error {
	if !slices.Contains(HealthStatuses, h.Status) {
		return fmt.Errorf("unknown health %.80q", h.Status)
	}
	if h.Status == Unhealthy && len(h.Reasons) == 0 {
		return errors.New("was unhealthy without a reason")
	}
	if len(h.Reasons) > MaxFacts || len(h.Readings) > maxReadings {
		return fmt.Errorf("has more than %d reasons or %d readings of its health", MaxFacts, maxReadings)
	}
	for _, r := range h.Reasons {
		if len(r) > MaxFact {
			return fmt.Errorf("has a reason of more than %d bytes for its health", MaxFact)
		}
	}
	for _, r := range h.Readings {
		if len(r.Name) > maxName || len(r.Unit) > maxName || r.N < 1 || r.N > maxCount || !Finite(r.Min) || !Finite(r.Mean) ||
			!Finite(r.Max) {
			return fmt.Errorf("has a reading %.80q of its health that cannot be", r.Name)
		}
	}
	return nil
}

// join joins the times of two runs on one host.
func (c *Calibration) join(more *Calibration) *Calibration {
	if c == nil || more == nil {
		if c == nil {
			return more
		}
		return c
	}
	both := Calibration{Before: slices.Concat(c.Before, more.Before), After: slices.Concat(c.After, more.After)}
	both.Before, both.After = both.Before[:min(len(both.Before), maxValues)], both.After[:min(len(both.After), maxValues)]
	return &both
}

func (c *Calibration) validate() error {
	if len(c.Before) == 0 || len(c.Before) > maxValues || len(c.After) > maxValues {
		return fmt.Errorf("the calibration has %d values before and %d after", len(c.Before), len(c.After))
	}
	for _, values := range [][]float64{c.Before, c.After} {
		for _, v := range values {
			if !Finite(v) || v <= 0 {
				return fmt.Errorf("the calibration took %v ms", v)
			}
		}
	}
	return nil
}
