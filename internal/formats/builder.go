package formats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// builder collects the cells of one file.
type builder struct {
	format   string
	cells    []*cell
	warnings []string
}

// cell is one benchmark: its conditions, and at most one sample of a metric.
type cell struct {
	*builder
	conditions map[string]string
	samples    []bench.Sample
	ok         float64 // requests answered; 0 if unknown
	failed     string  // why there are no numbers; "" if there are
	incorrect  bool    // the file contradicts itself
}

const maxWarnings = 50

func (b *builder) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if len(b.warnings) < maxWarnings && !slices.Contains(b.warnings, w) {
		b.warnings = append(b.warnings, w)
	}
}

// cell begins a cell. Empty conditions are not known.
func (b *builder) cell(conditions map[string]string) *cell {
	c := &cell{builder: b, conditions: map[string]string{"suite": b.format}}
	for key, value := range conditions {
		if value != "" && value != "null" {
			c.conditions[key] = value
		}
	}
	b.cells = append(b.cells, c)
	return c
}

// refuse notes why the numbers of the cell cannot be used.
func (c *cell) refuse(err error) {
	c.failed, c.incorrect = err.Error(), errors.Is(err, bench.ErrContradiction)
}

// source is where in a file a metric stands.
type source struct {
	key, metric string
	scale       float64
	signed      bool // may be below 0
}

// add adds the metric if the member holds a number that it can be. What it
// cannot be is left out with a warning, because a tool that writes such a
// number has measured nothing.
func (c *cell) add(s source, raw []byte) {
	v, ok, err := number(raw)
	switch {
	case err != nil:
		c.warn("%s was left out, because %v: see whether the tool saved it whole", s.key, err)
	case !ok:
	case !bench.Finite(v * s.scale):
		c.warn("%s is %v and was left out: see in the tool's log what it could not measure", s.key, v)
	case v < 0 && !s.signed:
		c.warn("%s is %v, which it cannot be, and was left out: measure again, and update the tool if that happens again", s.key, v)
	default:
		c.put(s.metric, v*s.scale)
	}
}

// put adds a sample. Of two numbers for one metric the first counts.
func (c *cell) put(metric string, values ...float64) {
	if !slices.ContainsFunc(c.samples, func(s bench.Sample) bool { return s.Metric == metric }) {
		c.samples = append(c.samples, bench.Sample{Metric: metric, Values: values})
	}
}

// rates adds what is measured over the whole run. Zero is a number here.
func (c *cell) rates(o object, sources ...source) {
	for _, s := range sources {
		c.add(s, o[s.key])
	}
}

// percentiles that are read, by the names that the tools give them.
var percentiles = []struct{ name, key string }{{"p50", "p50"}, {"p50", "median"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}

// latency adds the percentiles of a distribution as metric_p50_ms and so on.
// One that is nothing but zeros is a quantity that the tool did not measure,
// such as a time to the first token without streaming.
func (c *cell) latency(s source, member func(key string) []byte) {
	if !s.signed && allZero(member) {
		c.warn("%s is 0 and was left out, because no request took no time: see whether the answers were streamed", s.key)
		return
	}
	for _, p := range percentiles {
		c.add(source{s.key + " " + p.key, s.metric + "_" + p.name + "_ms", s.scale, s.signed}, member(p.key))
	}
}

func allZero(member func(key string) []byte) bool {
	found := false
	for _, p := range percentiles {
		v, ok, err := number(member(p.key))
		if err != nil || v != 0 {
			return false
		}
		found = found || ok
	}
	return found
}

// requests adds ok_rate and the counts, of which a negative one is unknown.
// Without any answer there are no other numbers: tools write zeros then.
func (c *cell) requests(ok, failed float64) {
	if !(ok >= 0 && failed >= 0) || ok > 1<<53 || failed > 1<<53 {
		c.warn("the file does not state how many requests were answered and how many failed, so there is no ok_rate: see the tool's log")
		if c.ok = max(ok, 0); ok >= 0 {
			c.put("n_ok", ok)
		}
		return
	}
	c.ok = ok
	if ok+failed == 0 {
		c.failed = "no request was sent: see the tool's log"
		return
	}
	c.put("ok_rate", ok/(ok+failed))
	c.put("n_ok", ok)
	c.put("n_total", ok+failed)
	if ok == 0 {
		c.failed = fmt.Sprintf("all %.0f requests failed: see in the server's log why", failed)
	}
}

// count returns the number, or -1 if it is none.
func count(raw []byte) float64 {
	v, ok, err := number(raw)
	if err != nil || !ok || !bench.Finite(v) || v < 0 || v != math.Trunc(v) {
		return -1
	}
	return v
}

// identity are the conditions that are parameters of every cell that has
// them; others are parameters only where the cells differ in them.
var identity = []string{"model", "engine", "suite", "test", "phase", "concurrency", "rate", "label"}

// run joins cells of equal conditions and returns the whole.
func (b *builder) run() (*bench.Run, error) {
	run := &bench.Run{Schema: bench.RunSchema, Host: bench.Host{Label: HostLabel}}
	shared, differ := b.compare()
	run.Context, run.Tool = shared, shared["client"]
	enough := true
	at := map[string]int{}
	for _, c := range b.cells {
		enough = enough && c.ok >= enoughForP99
		r := c.result(differ)
		id := r.Cell.ID()
		i, twice := at[id]
		if !twice {
			at[id] = len(run.Results)
			run.Results = append(run.Results, r)
			continue
		}
		b.warn("several results have the conditions of %.200q and are taken for repeats: label them if they are not", id)
		if err := join(&run.Results[i], r); err != nil {
			return nil, fmt.Errorf("%.200q: %w", id, err)
		}
	}
	if !slices.ContainsFunc(run.Results, func(r bench.Result) bool { return len(r.Samples) > 0 || r.Outcome != bench.Passed }) {
		return nil, errors.New("the result holds no number that is known: give the file that the tool saves at its end")
	}
	run.Metrics, run.Warnings = describe(run.Results, enough), b.warnings
	return run, run.Validate()
}

// compare returns the conditions that all cells share, and the names of the
// others.
func (b *builder) compare() (shared map[string]string, differ []string) {
	shared = map[string]string{}
	all := map[string]bool{}
	for _, c := range b.cells {
		for key := range c.conditions {
			all[key] = true
		}
	}
	for key := range all {
		v, has := b.cells[0].conditions[key]
		same := has && !slices.ContainsFunc(b.cells, func(c *cell) bool {
			other, has := c.conditions[key]
			return !has || other != v
		})
		if same {
			shared[key] = v
		} else if !slices.Contains(identity, key) {
			differ = append(differ, key)
		}
	}
	slices.Sort(differ)
	return shared, differ
}

func (c *cell) result(differ []string) bench.Result {
	r := bench.Result{Cell: bench.Cell{Suite: c.format}, Outcome: bench.Passed, Samples: c.samples}
	for _, key := range slices.Concat(identity, differ) {
		if v := c.conditions[key]; v != "" {
			if !slices.Contains(identity, key) {
				v = key + "=" + v // "4096" alone says nothing
			}
			r.Cell.Params = append(r.Cell.Params, bench.Param{Key: key, Value: v})
		}
	}
	switch {
	case c.failed != "":
		if r.Outcome, r.Reason, r.Cause = bench.Failed, c.failed, bench.CauseOutput; c.incorrect {
			r.Outcome = bench.Incorrect
		}
		r.Samples = slices.DeleteFunc(r.Samples,
			func(s bench.Sample) bool { return s.Metric != "ok_rate" && !strings.HasPrefix(s.Metric, "n_") })
	case len(r.Samples) == 0:
		r.Outcome, r.Reason, r.Cause = bench.Failed, "the file holds no number for it: see the tool's log", bench.CauseOutput
	}
	return r
}

// join adds the values of a repeat. A repeat that failed fails the cell.
func join(r *bench.Result, repeat bench.Result) error {
	if r.Outcome == bench.Passed {
		r.Outcome, r.Reason, r.Cause = repeat.Outcome, repeat.Reason, repeat.Cause
	}
	for _, s := range repeat.Samples {
		known := r.Sample(s.Metric)
		if known == nil {
			r.Samples = append(r.Samples, s)
			continue
		}
		if known.Values = append(known.Values, s.Values...); len(known.Values) > maxList {
			return fmt.Errorf("has more than %d repeats: split the file", maxList)
		}
	}
	return nil
}

// enoughForP99 is the smallest number of requests for which a two-sided
// confidence interval of 95 % of the 99th percentile exists.
const enoughForP99 = 368

var p99 = lazyregexp.New(`_p99_`)

// describe takes units and directions from the registry of package inferencebench,
// and adds what only imports have: speeds without a server, and a peak, which
// is the luckiest moment and never gates.
func describe(results []bench.Result, enough bool) (metrics []bench.Metric) {
	known := map[string]bool{}
	for _, r := range results {
		for _, s := range r.Samples {
			if known[s.Metric] {
				continue
			}
			known[s.Metric] = true
			better, gated, _ := inferencebench.Direction(s.Metric)
			m := bench.Metric{Name: s.Metric, Unit: inferencebench.Unit(s.Metric), Better: better, Informational: !gated}
			switch {
			case strings.HasSuffix(s.Metric, "_tps"):
				m.Unit, m.Better, m.Informational = "tok/s", bench.Higher, false
			case s.Metric == "peak_tok_per_s", p99.MatchString(s.Metric) && !enough:
				m.Informational = true
			}
			metrics = append(metrics, m)
		}
	}
	slices.SortFunc(metrics, func(a, b bench.Metric) int { return strings.Compare(a.Name, b.Name) })
	return metrics
}

// client is the tool's name, with its version if the file has one.
func client(name, version string) string { return strings.TrimSpace(name + " " + version) }
