package runner

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// joinHealth is what two rounds say of the machine: one that was unhealthy, or not
// looked at, says so for both. Nil is an unwatched round, which changes
// nothing.
func joinHealth(old, more *bench.Health) *bench.Health {
	if old == nil || more == nil {
		if old == nil {
			return more
		}
		return old
	}
	h := &bench.Health{Status: bench.Healthy, Reasons: slices.Clone(old.Reasons), Readings: slices.Clone(old.Readings)}
	for _, status := range []bench.HealthStatus{bench.HealthUnknown, bench.Unhealthy} {
		if old.Status == status || more.Status == status {
			h.Status = status
		}
	}
	for _, reason := range more.Reasons {
		known := func(other string) bool { return bench.SameReason(other, reason) }
		if !slices.ContainsFunc(h.Reasons, known) && len(h.Reasons) < bench.MaxFacts {
			h.Reasons = append(h.Reasons, reason)
		}
	}
	for _, r := range more.Readings {
		h.Readings = joinReading(h.Readings, r)
	}
	return h
}

func joinReading(all []bench.Reading, r bench.Reading) []bench.Reading {
	i := slices.IndexFunc(all, func(known bench.Reading) bool { return known.Name == r.Name })
	if i < 0 {
		return append(all, r)
	}
	known := &all[i]
	n := known.N + r.N
	known.Mean += (r.Mean - known.Mean) * float64(r.N) / float64(n)
	known.N, known.Min, known.Max = n, min(known.Min, r.Min), max(known.Max, r.Max)
	return all
}
