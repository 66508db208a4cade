package bench

import (
	"fmt"
	"slices"
)

// Demand is a metric that a cell must report, by the configuration of its suite.
type Demand struct {
	Metrics []string // the metric, then those that may stand in for it
	At      string   // where the suite looks for it: a JSON path, an expression, a parser
	Remedy  string   // what to correct where it is absent; "" is the metric's entry in the configuration
	// Optional allows the cell not to report it; some cell should.
	Optional bool
}

// Met reports whether the result holds the metric or a stand-in.
func (d *Demand) Met(r *Result) bool {
	return slices.ContainsFunc(d.Metrics, func(name string) bool { return r.Sample(name) != nil })
}

// Absent is a metric that the suite looked for in the output of a cell and did not
// find.
type Absent struct {
	Metric   string `json:"metric"`
	At       string `json:"at,omitempty"`       // [Demand.At]
	Near     string `json:"near,omitempty"`     // a key of the output that is spelt nearly so
	Optional bool   `json:"optional,omitempty"` // [Demand.Optional]
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
