package endpoint

import (
	"cmp"
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// recheck returns what holds the recorded counts of requests against min_ok_rate, and
// the recorded limits of the goodput against slo: a run of another job may have been
// measured under other ones. The load itself needs no check, because the gate compares
// numbers under equal conditions only.
func recheck(c *config.Suite) (func(*bench.Result) (unverified string, err error), error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	return func(r *bench.Result) (unverified string, err error) {
		if problem := b.unanswered(r); problem != "" {
			suite.Fail(r, bench.CauseOutput, problem)
			return "", nil
		}
		return b.otherLimits(r)
	}, nil
}

// unanswered returns what is wrong with the counts of requests, "" if nothing is.
func (b *body) unanswered(r *bench.Result) string {
	answered, all := valuesOf(r, "n_ok"), valuesOf(r, "n_total")
	if len(answered) == 0 || len(answered) != len(all) {
		return "the run recorded no counts of requests, by which min_ok_rate is checked: measure again with this version of accelgate"
	}
	for i, n := range answered {
		if !(n > 0) || n < b.MinOKRate*all[i] {
			return fmt.Sprintf("%g of %g requests were answered, and min_ok_rate is %g", n, all[i], b.MinOKRate)
		}
	}
	return ""
}

func valuesOf(r *bench.Result, metric string) []float64 {
	if s := r.Sample(metric); s != nil {
		return s.Values
	}
	return nil
}

// otherLimits returns by which other limits the goodput was counted. The class of
// hardware is the run's, as the fingerprint of its host is.
func (b *body) otherLimits(r *bench.Result) (unverified string, err error) {
	s := b.SLO
	s.Hardware = cmp.Or(s.Hardware, r.Context["slo_hardware_class"], "unknown")
	o, err := s.objective(bench.Host{})
	if err != nil {
		return "", err
	}
	if want, got := o.String(), r.Context["slo"]; got != want {
		return fmt.Sprintf("the goodput was counted by the limits %q, and those of the configuration are %q", got, want), nil
	}
	return "", nil
}
