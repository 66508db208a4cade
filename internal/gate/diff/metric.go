package diff

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// minForP99 is the number of requests from which a two-sided 95 % confidence
// interval of the 99th percentile exists: 0.99^n is at most 2.5 % from 368 on.
// The p99 of fewer is little else than their maximum.
const minForP99 = 368

// few returns the number of requests that the metric rests on, if they are known
// to be fewer than minimum, which a judgement needs; else 0. A document of
// strangers says by the metric's name only that it is a 99th percentile.
func (m metricPair) few() (n, minimum int) {
	for _, side := range []*Metric{m.old, m.new} {
		minimum = max(minimum, int(side.MinCount))
	}
	if minimum == 0 && strings.Contains(m.key, "_p99") {
		minimum = minForP99
	}
	for _, side := range []*Metric{m.old, m.new} {
		if side.N > 0 && side.N < minimum && (n == 0 || side.N < n) {
			n = side.N
		}
	}
	return n, minimum
}

// fewer notes a candidate that was measured much less than the baseline.
func (m metricPair) fewer() string {
	if m.new.N <= 0 || m.new.N >= m.old.N-m.new.N {
		return ""
	}
	return fmt.Sprintf("the candidate rests on %s and the baseline on %d: measure both alike", text.Plural(m.new.N, "measurement"), m.old.N)
}

// informational reports whether the metric is never judged. What the baseline
// says counts, so that a candidate cannot excuse itself.
func (m metricPair) informational() bool {
	if m.old != nil {
		return m.old.Informational || m.new != nil && m.new.Informational && strings.Contains(m.key, "_p99") // of too few requests
	}
	return m.new != nil && m.new.Informational
}

func (m metricPair) exact() bool { return m.old.Exact || m.new.Exact }

// disagreement returns how the sides describe the metric differently, or "". What
// only one side says is no disagreement: an envelope need not say anything.
func (m metricPair) disagreement() string {
	if m.old == nil || m.new == nil {
		return ""
	}
	if a, b := m.old.Unit, m.new.Unit; a != b && a != "" && b != "" {
		return fmt.Sprintf("the baseline is in %.40q and the candidate in %.40q: measure both in one unit", a, b)
	}
	if a, b := m.old.Better, m.new.Better; a != b && directed(a) && directed(b) {
		return fmt.Sprintf("the baseline records that %s is better, and the candidate that %s is: correct the wrong one", a, b)
	}
	return ""
}
