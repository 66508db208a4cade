package baseline

import (
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// located is a metric and where it stands in the file.
type located struct {
	Metric
	at    int
	sound bool // nothing was noted about it
}

func byPlacedName(a, b located) int { return strings.Compare(a.Name, b.Name) }

// knownDirection returns the direction of one of TensorSharp's metrics, which
// need not give it, and "" for others.
func knownDirection(name string) bench.Direction {
	for i := range classic {
		if classic[i].Name == name {
			return classic[i].Better
		}
	}
	return ""
}

// shareDescription returns the description that was read, the same one for all metrics that it is equal for.
func (r *reader) shareDescription() *bench.Metric {
	last := r.descriptions[r.described.Name]
	if last == nil || *last != r.described {
		last = new(r.described)
		r.descriptions[last.Name] = last
	}
	return last
}

// passing notes what an entry that is ok cannot be.
func (r *reader) passing(e *Entry, correctAt int) {
	if e.CorrectnessOK != nil && !*e.CorrectnessOK {
		r.note(correctAt, "ok is true and correctness_ok is false: write ok false for a known failure, or correct correctness_ok")
	}
	for i := range r.metricsFound {
		if m := &r.metricsFound[i]; m.sound && m.Better == "" {
			r.note(m.at, "metric %s has no better: write \"higher\" or \"lower\"", quote(m.Name))
		}
	}
}

// description is a metric as the entry of that index describes it.
type description struct {
	metric *Metric
	entry  int
}

// describe notes where the last entry contradicts the ones before on what a
// metric is. It was read last, so its metrics are still in metricsFound.
func (r *reader) describe(known map[string]description, entries []Entry) {
	last := len(entries) - 1
	e := &entries[last]
	for i := range e.Metrics {
		m, found := &e.Metrics[i], &r.metricsFound[i]
		if !found.sound {
			continue
		}
		before, described := known[m.Name]
		switch {
		case !described || before.metric.Unit == "" && sameMeaning(before.metric.Metric, m.Metric):
			known[m.Name] = description{m, last}
		case !sameMeaning(before.metric.Metric, m.Metric):
			first := &entries[before.entry]
			r.note(found.at, "metric %s is described differently in entry %s on line %d and in entry %s on line %d: "+
				"make better, unit, exact, informational, fallback_for, counted_by and min_count equal",
				quote(m.Name), quote(first.CaseID), first.line, quote(e.CaseID), e.line)
		}
	}
}

// sameMeaning reports whether two descriptions of a metric agree. A unit that
// is not given contradicts none, and a program that learns to print more digits
// means the same by them.
func sameMeaning(a, b *bench.Metric) bool {
	return a == b || a.Better == b.Better && a.Exact == b.Exact && a.Informational == b.Informational &&
		a.FallbackFor == b.FallbackFor && a.ConfirmedBy == b.ConfirmedBy && a.CountedBy == b.CountedBy &&
		a.MinCount == b.MinCount && sameKind(a.Quantity(), b.Quantity()) && sameUnit(a.Unit, b.Unit)
}

func sameKind(a, b bench.Quantity) bool { return a == b || a == 0 || b == 0 }

func sameUnit(a, b string) bool { return a == b || a == "" || b == "" }
