package bench

import "fmt"

// Absent is a gated metric that the suite demands of a cell and that its output
// did not hold.
type Absent struct {
	Metric string `json:"metric"`
	At     string `json:"at,omitempty"`   // where the suite looked for it: a JSON path, an expression, a parser
	Near   string `json:"near,omitempty"` // a key of the output that is spelt nearly so
}

const (
	// MaxKeys bounds the keys of an output that a result keeps, and MaxKey the
	// bytes of one.
	MaxKeys = 64
	MaxKey  = 200
)

// validateAbsent bounds what the output did not hold and what it did.
func (r *Result) validateAbsent() error {
	if len(r.Absent) > maxMetrics || len(r.Keys) > MaxKeys {
		return fmt.Errorf("lacks %d metrics and names %d keys, more than %d and %d", len(r.Absent), len(r.Keys), maxMetrics, MaxKeys)
	}
	for _, a := range r.Absent {
		if a.Metric == "" || len(a.Metric) > maxName || len(a.At) > MaxFact || len(a.Near) > MaxKey {
			return fmt.Errorf("lacks the metric %.80q, which has no name, or one of more than %d bytes", a.Metric, maxName)
		}
	}
	for _, k := range r.Keys {
		if len(k) > MaxKey {
			return fmt.Errorf("names the key %.80q of more than %d bytes", k, MaxKey)
		}
	}
	return nil
}
