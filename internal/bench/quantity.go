package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Quantity is the kind of number that a metric is, which decides which values it cannot
// have. The zero value is a number of an unknown kind.
type Quantity uint8

// The quantities.
const (
	Rate   Quantity = iota + 1 // of something per something: at least 0
	Time                       // at least 0
	Count                      // a whole number, at least 0
	Bytes                      // at least 0
	Energy                     // energy or power: at least 0
	Ratio                      // of two numbers of one sign: at least 0
	Score                      // any number, of any size
)

// Quantities are the names that a document may use, by value.
var Quantities = []string{"", "rate", "time", "count", "bytes", "energy", "ratio", "score"}

// String returns the name, "" for the zero value.
func (q Quantity) String() string { return Quantities[min(int(q), len(Quantities)-1)] }

// MarshalText returns the name.
func (q Quantity) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalText reads a name; its error lists all names.
func (q *Quantity) UnmarshalText(text []byte) error {
	i := slices.Index(Quantities, string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind %.80q: write one of %s", text, strings.Join(Quantities[1:], ", "))
	}
	*q = Quantity(i)
	return nil
}

// units maps units to the quantity that each has.
var units = map[string]Quantity{
	"s": Time, "ms": Time, "us": Time, "µs": Time, "μs": Time, "ns": Time, "ps": Time, "min": Time, "h": Time,
	"B": Bytes, "byte": Bytes, "bytes": Bytes, "KB": Bytes, "kB": Bytes, "MB": Bytes, "GB": Bytes, "TB": Bytes,
	"KiB": Bytes, "MiB": Bytes, "GiB": Bytes, "TiB": Bytes,
	"J": Energy, "kJ": Energy, "mJ": Energy, "Wh": Energy, "kWh": Energy, "W": Energy, "mW": Energy, "kW": Energy,
	"x":     Ratio,
	"FLOPS": Rate, "GFLOPS": Rate, "TFLOPS": Rate, "GFLOP/s": Rate, "TFLOP/s": Rate, "TOPS": Rate, "Hz": Rate, "MHz": Rate, "GHz": Rate, "rpm": Rate, "qps": Rate,
}

// Quantity returns the declared kind of the metric, or else the kind of its unit. J/token
// is an energy; tok/s and everything else per something is a rate.
func (m *Metric) Quantity() Quantity {
	if m.Kind != 0 {
		return m.Kind
	}
	if q, known := units[m.Unit]; known {
		return q
	}
	first, _, divided := strings.Cut(m.Unit, "/")
	switch q := units[first]; {
	case !divided:
		return 0
	case q == Energy || q == Time:
		return q
	}
	return Rate
}

// Impossible returns why the metric cannot have the value, or "". A zero is
// possible: programs print it for what does not apply.
func (m *Metric) Impossible(v float64) string {
	switch q := m.Quantity(); {
	case q == 0 || q == Score:
	case v < 0:
		return fmt.Sprintf("%s is %v, and a %s is not negative", m.Name, v, q)
	case q == Count && v != math.Trunc(v):
		return fmt.Sprintf("%s is %v, and a count is a whole number", m.Name, v)
	}
	return ""
}

// Impossible returns which of the result's values its metric cannot have, or "".
func (r *Run) Impossible(result *Result) string {
	for i := range result.Samples {
		s := &result.Samples[i]
		m := r.Metric(s.Metric)
		if m == nil {
			continue
		}
		if why := s.impossible(m); why != "" {
			return why
		}
		if m.Quantity() == 0 && !m.Informational && !m.Exact && slices.Min(slices.Concat(s.Values, s.Base, s.medians())) < 0 {
			return m.Name + " is negative, of which no relative change can be judged, and neither its unit nor kind: score allows that"
		}
	}
	return ""
}

// NoReference returns why a median of the named metric cannot be what later values are
// compared with, or "": no relative change from 0 can be judged. A number of which 0 is the
// best, such as a count of errors, can be 0, and so can metrics that stand in for one
// another, which are 0 where they do not apply.
func (r *Run) NoReference(name string, median float64) string {
	m := r.Metric(name)
	if median != 0 || m == nil || m.Informational || m.Exact || m.Quantity() == Score || m.bestAtZero() || m.FallbackFor != "" {
		return ""
	}
	if slices.ContainsFunc(r.Metrics, func(other Metric) bool { return other.FallbackFor == name }) {
		return ""
	}
	kind := ""
	if m.Quantity() == 0 && m.Better == Lower {
		kind = "kind: count or ratio, "
	}
	return fmt.Sprintf("%s is 0, and no relative change from 0 can be judged: correct what the program prints, "+
		"or give the metric %sexact: true, informational: true or a limit with min or max", name, kind)
}

// bestAtZero reports whether nothing can be better than a 0, which a program can reach.
func (m *Metric) bestAtZero() bool {
	return m.Better == Lower && slices.Contains([]Quantity{Count, Bytes, Ratio}, m.Quantity())
}

// medians is the median of a summary.
func (s *Sample) medians() []float64 {
	if s.Summary == nil {
		return nil
	}
	return []float64{s.Summary.Median}
}

func (s *Sample) impossible(m *Metric) string {
	for _, v := range slices.Concat(s.Values, s.Base) {
		if why := m.Impossible(v); why != "" {
			return why
		}
	}
	// The median of an even number of counts need not be whole.
	if s.Summary != nil && (m.Quantity() != Count || s.Summary.Median < 0) {
		return m.Impossible(s.Summary.Median)
	}
	return ""
}
