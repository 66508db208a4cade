package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device/gauge"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/search"
)

// What a search looks for.
const (
	searchRate        = "rate"
	searchConcurrency = "concurrency"
)

// probeDuration is how long a probe is measured unless load says so.
const probeDuration = 20 * time.Second

// searches reports whether the suite searches a load.
func (b *body) searches() bool { return b.Search.Metric != "" }

// settleSearch gives a search the mode of its metric.
func (b *body) settleSearch() {
	if !b.searches() {
		return
	}
	if b.Search.Metric == searchRate && b.Load.Mode == load.Closed {
		b.Load.Mode = load.Gamma
	}
	if b.Load.Duration == 0 && b.Load.Requests == 0 {
		b.Load.Duration = probeDuration
	}
}

// point is a load to probe.
func (n *searching) point(value float64) point {
	if n.Metric == searchConcurrency {
		return point{concurrency: int(value)}
	}
	return point{rate: value}
}

func (b *body) checkSearch(c *config.Suite) error {
	n := &b.Search
	if !b.searches() {
		if len(n.SLO) > 0 {
			return c.Errorf("search.metric", "is absent: write rate or concurrency")
		}
		return nil
	}
	_, err := b.limits()
	switch {
	case b.Load.RateEnd != 0 || b.Load.Curve != "":
		return c.Errorf("load.rate_end", "stands beside search, whose probes keep their rate: remove it, or remove search")
	case n.Metric != searchRate && n.Metric != searchConcurrency:
		return c.Errorf("search.metric", "unknown metric %q: write rate or concurrency", n.Metric)
	case len(b.Load.Rate)+len(b.Load.Concurrency) > 0:
		return c.Errorf("load", "rate and concurrency stand beside search, which chooses the loads: remove them, or remove search")
	case n.Metric == searchConcurrency && b.Load.Mode != load.Closed, b.Load.Mode == load.Trace:
		return c.Errorf("load.mode",
			"is %s: a search of the concurrency is of mode closed, and one of the rate of constant, gamma or burst", b.Load.Mode)
	case len(b.Gate) > 0:
		return c.Errorf("gate", "has no effect beside search, whose one metric is gated: remove it")
	case len(n.SLO) == 0:
		return c.Errorf("search.slo", "is empty: write limits such as {ttft_p95_ms: 500, ok_rate: 99%%}")
	case err != nil:
		return c.Errorf("search.slo", "%v", err)
	case !(n.Min > 0) || !(n.Max >= n.Min) || math.IsInf(n.Max, 0) || n.Metric == searchConcurrency &&
		(n.Min != math.Trunc(n.Min) || n.Max != math.Trunc(n.Max)):
		return c.Errorf("search.max", "min is %v and max %v: write loads above 0, min first, and whole numbers of requests at once", n.Min,
			n.Max)
	case !(n.Precision >= 0.001 && n.Precision <= 0.5):
		return c.Errorf("search.precision", "is %v: write 0.001 to 0.5, such as 0.02", n.Precision)
	case n.Repeats < 1 || n.Repeats > 99 || n.Repeats%2 == 0:
		return c.Errorf("search.repeats", "is %d: write an odd number from 1 to 99, so that there is a majority", n.Repeats)
	case n.Budget <= 0 || n.Budget > 24*time.Hour:
		return c.Errorf("search.budget", "is %v: write a duration up to 24h, such as 15m", n.Budget)
	}
	return nil
}

// searchMetrics are what a search reports. The metrics of single loads are in
// its curve.
func (s *Suite) searchMetrics() []bench.Metric {
	found := bench.Metric{Name: "max_" + s.body.Search.Metric + "_at_slo", Better: bench.Higher,
		Definition: "highest " + s.body.Search.Metric + " that holds search.slo in most of its probes, by bisection"}
	if s.body.Search.Metric == searchRate {
		found.Unit = "req/s"
	}
	metrics := []bench.Metric{found}
	all, _ := latency.Metrics()
	for _, m := range all {
		if m.Name == "n_ok" || m.Name == "n_total" {
			metrics = append(metrics, m)
		}
	}
	return append(metrics, clientMetrics...)
}

func join(limits []limit) string {
	words := make([]string, len(limits))
	for i, l := range limits {
		words[i] = l.String()
	}
	return strings.Join(words, " ")
}

// seeking is a search under way.
type seeking struct {
	*measurement
	limits  []limit
	result  *bench.Result
	began   time.Duration
	longest time.Duration // probe
	health  load.Health
	best    *record // of the highest load that held
	at      float64
	values  map[string]float64 // of best
	gauges  *gauge.Gauge       // nil of a server on another host
	gone    bool
	broken  string // why the latest probe that did not hold failed
}

// search finds the highest load that holds the limits.
func (m *measurement) search(ctx context.Context, result *bench.Result) error {
	limits, err := m.body.limits()
	if err != nil {
		return err
	}
	n := &m.body.Search
	s := &seeking{measurement: m, limits: limits, result: result, began: m.now(), gauges: m.gauges(ctx)}
	defer stopGauges(s.gauges)
	found, err := search.Find(
		search.Options{Min: n.Min, Max: n.Max, Whole: n.Metric == searchConcurrency, Precision: n.Precision, Repeats: n.Repeats},
		func(load float64) (bool, error) { return s.probe(ctx, load) })
	if m.server != nil {
		m.server.died = m.server.HasEnded()
	}
	result.WallMS = float64((m.now() - s.began).Microseconds()) / 1000
	switch {
	case s.gone:
		suite.Fail(result, bench.CauseCrash, "the server went away: "+m.answers().failures())
	case errors.Is(err, search.ErrNone):
		suite.Fail(result, bench.CauseOutput,
			fmt.Sprintf("the least load, %s, does not hold the limits (%s): lower search.min, or raise the limits", n.point(n.Min),
				s.broken))
	case err != nil:
		return err
	}
	s.conclude(found)
	m.point = m.suite.points[m.cell.ID()]
	if s.best != nil {
		m.seen = s.best
	}
	return m.keepSamples(result)
}

// probe applies one load and reports whether it held the limits.
func (s *seeking) probe(ctx context.Context, value float64) (bool, error) {
	n := &s.body.Search
	if s.longest > 0 && s.now()-s.began+s.longest > n.Budget {
		return false, search.ErrStop
	}
	started := s.now()
	s.point = n.point(value)
	plan := s.plan(s.point)
	plan.Drain = min(plan.Drain, max(plan.Duration/4, 2*time.Second)) // what is cut has failed
	schedule, err := plan.Schedule()
	if err == nil {
		err = s.freshPrompts(ctx, len(s.result.Curve))
	}
	if err != nil {
		return false, err
	}
	s.seen = newRecord(&s.sender, schedule)
	s.client.Warm(ctx, s.atOnce())
	stopWatching, stopReading := load.Watch(ctx, s.now), s.watchServer(ctx)
	log, gone, err := s.run(ctx, schedule)
	reported := stopReading()
	health := stopWatching()
	if t := s.seen.parts; t != nil {
		health = s.own.Health
		s.result.Caveat = cmp.Or(s.result.Caveat, t.caveat())
	}
	if s.gone = gone; gone || err != nil {
		return false, cmp.Or(err, search.ErrStop)
	}
	out := latency.Compute(latency.Input{Observations: s.seen.observations, Window: log.Window, Open: s.body.Load.Mode != load.Closed})
	holds := s.judge(value, out, health)
	addToCurve(&s.result.Curve[len(s.result.Curve)-1], append(telemetrySamples(reported), deviceSamples(s.gauges, log.Window)...))
	s.longest = max(s.longest, s.now()-started)
	return holds, nil
}

// judge enters a probe into the curve.
func (s *seeking) judge(value float64, out latency.Output, health load.Health) bool {
	values := figures(out)
	why := s.violation(values)
	holds := why == ""
	if !holds {
		s.broken = why
		s.caveatProbe(out, health)
	}
	if holds && value >= s.at {
		s.best, s.at, s.values, s.health = s.seen, value, values, health
	}
	s.result.Curve = append(s.result.Curve, bench.LoadPoint{
		Load:       value,
		Holds:      holds,
		Throughput: bench.FiniteOrZero(values["throughput_tok_per_s"]),
		Rate:       bench.FiniteOrZero(values["req_per_s_all"]),
		TTFT:       bench.FiniteOrZero(values["ttft_p95_ms"]),
		TPOT:       bench.FiniteOrZero(values["tpot_p95_ms"]),
		OKRate:     bench.FiniteOrZero(values[okRate]),
	})
	return holds
}

// addToCurve adds what the server and its devices reported during a probe.
func addToCurve(p *bench.LoadPoint, samples []bench.Sample) {
	to := map[string]*float64{"server_queue_mean": &p.Queue, "server_kv_use_max": &p.KVUse, "server_preemptions": &p.Preemptions,
		"device_sm_clock_mhz": &p.SMClock, "device_power_w": &p.Power, "device_memory_max_mib": &p.Memory, "cpu_clock_mhz": &p.CPUClock}
	for _, s := range samples {
		if field := to[s.Metric]; field != nil {
			*field = bench.FiniteOrZero(s.Values[0])
		}
	}
}

// violation returns which limit a probe broke, or "".
func (s *seeking) violation(values map[string]float64) string {
	for _, l := range s.limits {
		v, measured := values[l.metric]
		switch {
		case !measured:
			return l.metric + " was not measured"
		case !l.holds(v):
			return fmt.Sprintf("%s is %.4g", l.metric, v)
		}
	}
	return ""
}

// caveatProbe doubts a search whose failing probes may be the client's.
func (s *seeking) caveatProbe(out latency.Output, health load.Health) {
	s.result.Caveat = cmp.Or(s.result.Caveat,
		latency.ClientLimited(latency.Client{Limit: s.body.ClientDelay, ScheduleDelayP50: out.ScheduleDelayP50,
			Capped: s.capped(), WakeDelayP50: health.WakeDelayP50, CPUShare: health.CPUShare}))
}

// freshPrompts draws other texts for each probe, which no prefix cache holds.
func (m *measurement) freshPrompts(ctx context.Context, probe int) (err error) {
	if err := m.choosePrompts(ctx); err != nil || m.body.Dataset.Policy == dataset.AsIs {
		return err
	}
	m.asks = m.nonces + uint64(probe)
	m.asked, err = m.texts.Sequence(m.body.Dataset.Policy, m.asks)
	return err
}

// conclude writes what was found into the result.
func (s *seeking) conclude(found search.Result) {
	r := s.result
	r.SetFacts(s.searchContext(), conditions)
	if r.Outcome != bench.Passed {
		return
	}
	n := &s.body.Search
	sample := bench.Sample{Metric: "max_" + n.Metric + "_at_slo", Values: []float64{found.Value},
		Estimates: []bench.Estimate{
			{
				N:      found.Probes,
				Low:    found.Low,
				High:   found.High,
				Method: "bisection with " + strconv.Itoa(n.Repeats) + " probes of each end",
			},
		}}
	r.Samples = append([]bench.Sample{sample}, clientSamples(s.health)...)
	for _, name := range []string{"n_ok", "n_total"} {
		r.Samples = append(r.Samples, bench.Sample{Metric: name, Values: []float64{s.values[name]}})
	}
	if found.Unbounded {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("the highest load that was tried, %s, holds the limits, so the limit is higher: raise search.max", n.point(n.Max)))
	}
	if found.Unfinished {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("the search ended after %v between %.4g and %.4g: raise search.budget, or shorten load.duration",
				(s.now()-s.began).Round(time.Second), found.Low, found.High))
	}
}

// searchContext are the conditions of a search. Its loads differ, and are in the
// curve.
func (s *seeking) searchContext() map[string]string {
	n, p := &s.body.Search, s.plan(s.body.Search.point(s.body.Search.Min))
	s.point = n.point(n.Min)
	schedule, err := p.Schedule()
	if err != nil {
		return nil
	}
	c := s.context(schedule, latency.Output{StreamedShare: 1}, &meters{absent: "a search measures no energy"})
	for _, of := range []string{"concurrency", "rate", "schedule_sha256", "ramp", "nonce_seed"} {
		delete(c, of)
	}
	c["search"] = fmt.Sprintf("%s %s precision %v repeats %d", n.Metric, join(s.limits), n.Precision, n.Repeats)
	return c
}
