package gate_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// computing is what processes of one side did.
type computing struct{ cpu, wait, off, threads float64 }

// busyCell has the pairs of a cell whose times are noise, 40 % of them, and the processor time of both sides, with a
// noise of 3 %.
func busyCell(r *rand.Rand, pairs int, slower float64, base, head computing) bench.Result {
	c := inTurns("a", noisy(r, 100*(1+slower), 0.4, pairs), noisy(r, 100, 0.4, pairs))
	of := func(name string, base, head, sd float64) {
		c.Resources = append(c.Resources, bench.Sample{Metric: name, Values: noisy(r, head, sd, pairs), Base: noisy(r, base, sd, pairs)})
	}
	of(bench.CPUTime, base.cpu, head.cpu, 0.03)
	of(bench.CPUWait, base.wait, head.wait, 0.3)
	of(bench.OffCPU, base.off, head.off, 0.3)
	of(bench.CPUThreads, base.threads, head.threads, 0.05)
	return c
}

// TestProcessorTimeDecidesWhereNoneIsFree: on a busy host, processor time convicts of a loss that
// times do not show, and only where it means the same.
func TestProcessorTimeDecidesWhereNoneIsFree(t *testing.T) {
	t.Parallel()
	base, slow := computing{1, 1, 0, 1.1}, computing{1.12, 1.1, 0, 1.1}
	with := func(c computing, change func(*computing)) computing { change(&c); return c }
	free, off := func(c *computing) { c.wait = 0.05 }, func(c *computing) { c.off = 0.5 }
	threads := func(n float64) func(*computing) { return func(c *computing) { c.threads = n } }
	is := func(resource int, value float64) func(*bench.Result, *gate.Policy) {
		return func(r *bench.Result, _ *gate.Policy) { r.Resources[resource].Base[3] = value }
	}
	ignored := "undecided"
	for name, c := range map[string]struct {
		base, head computing
		slower     float64
		change     func(*bench.Result, *gate.Policy)
		want, why  string
	}{
		"more processor time":     {base, slow, 0.3, nil, "blocks", ""},
		"the same processor time": {base, base, 0.3, nil, ignored, "not certain"},
		"a processor was free":    {with(base, free), with(slow, free), 0.3, nil, ignored, "processors were free: its threads waited for 5 %"},
		"two threads":             {with(base, threads(1.8)), with(slow, threads(1.8)), 0.3, nil, ignored, "1.8 of its threads computed at once"},
		"two threads in the head": {base, with(slow, threads(1.6)), 0.3, nil, ignored, "1.6 of its threads"},
		"off the processors":      {with(base, off), with(slow, off), 0.3, nil, ignored, "off the processors for 3"},
		"the base was off":        {with(base, func(c *computing) { c.off = 0.15 }), slow, 0.3, nil, ignored, "may be what the head computes"},
		"times that hardly gain":  {base, slow, -0.1, nil, ignored, "do not look slower"},
		"below the limit":         {base, slow, 0.3, func(_ *bench.Result, p *gate.Policy) { p.MinEffect = 15 }, ignored, "not certain"},
		"below the cell's limit": {base, slow, 0.3, func(_ *bench.Result, p *gate.Policy) {
			*p = limiting(*p, "ttft_ms", gate.Limit{Change: &gate.Change{Percent: 15.0}}, "a")
		}, ignored, "may be what the head computes"},
		"one look":   {base, slow, 0.3, func(_ *bench.Result, p *gate.Policy) { p.OneLook = true }, ignored, ""},
		"persistent": {base, slow, 0.3, func(r *bench.Result, _ *gate.Policy) { r.Resources = nil }, ignored, "is not known"},
		"not in every pair": {base, slow, 0.3, func(r *bench.Result, _ *gate.Policy) {
			r.Resources[2].Values, r.Resources[2].Base = r.Resources[2].Values[1:], r.Resources[2].Base[1:]
		}, ignored, "is not known"},
		"without pairs":         {base, slow, 0.3, func(r *bench.Result, _ *gate.Policy) { r.Resources[0].Base = nil }, ignored, "is not known"},
		"no processor time":     {base, slow, 0.3, is(0, 0), ignored, "no processor time"},
		"a negative time":       {base, slow, 0.3, is(1, -1), ignored, "is not known"},
		"cpu_s that is limited": {base, slow, 0.3, func(r *bench.Result, _ *gate.Policy) { r.Promote(bench.CPUTime) }, "blocks", ""},
	} {
		r, p := rand.New(rand.NewPCG(34, 2)), gate.DefaultPolicy()
		cell := busyCell(r, 30, c.slower, c.base, c.head)
		if c.change != nil {
			c.change(&cell, &p)
		}
		v := verdictOf(t, gate.Compare("", nil, run(cell), p), "a")
		got, why := map[bool]string{true: "blocks", false: v.Certainty()}[v.Blocks], ""
		if v.Evidence.Processor != nil {
			why = v.Evidence.Processor.Unused
		}
		if got != c.want || !strings.Contains(why, c.why) || c.why == "" && why != "" {
			t.Errorf("%s: %s, unused %q, want %s, %q: %+v, %+v", name, got, why, c.want, c.why, v, v.Evidence.Processor)
		}
	}
}

// TestProcessorTimeAsksForPairs: a cell goes on whose processor time may be more, whatever its
// times say, unless times settle it or processor time says nothing.
func TestProcessorTimeAsksForPairs(t *testing.T) {
	t.Parallel()
	base, slow := computing{1, 1, 0, 1.1}, computing{1.12, 1.1, 0, 1.1}
	threads := slow
	threads.threads = 2
	for name, c := range map[string]struct {
		head computing
		want int // pairs, at 2 of them
	}{"more": {slow, 10}, "the same": {base, 0}, "more by two threads": {threads, 0}} {
		asked, all := 0, 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(34, seed))
			cell := busyCell(r, 2, -0.5, base, c.head)
			compared := gate.Compare("", nil, run(cell), gate.DefaultPolicy())
			need := gate.Pairs(compared)["a"]
			if later := gate.Later(run(cell), compared)["a"]; need > 0 && later <= 0 {
				t.Errorf("%s: %d pairs are needed, and %v expected later", name, need, later)
			}
			all++
			if need >= max(5, c.want) {
				asked++
			}
		}
		if minimum := map[bool]int{true: all * 3 / 4, false: 0}[c.want > 0]; asked < minimum || c.want == 0 && asked > all*45/100 {
			t.Errorf("%s: %d of %d go on to %d pairs", name, asked, all, c.want)
		}
	}
}

// TestProcessorTimeIsOfSpeedAlone: it decides on times and rates, and on nothing else.
func TestProcessorTimeIsOfSpeedAlone(t *testing.T) {
	t.Parallel()
	base, slow := computing{1, 1, 0, 1.1}, computing{1.12, 1.1, 0, 1.1}
	for unit, want := range map[string]bool{"ms": true, "req/s": true, "MiB": false, "": false} {
		r := rand.New(rand.NewPCG(34, 2))
		doc := run(busyCell(r, 30, 0.3, base, slow))
		doc.Metrics = []bench.Metric{{Name: "ttft_ms", Unit: unit, Better: bench.Lower}}
		if unit == "req/s" { // times that gain look like a rate that loses
			doc.Metrics[0].Better = bench.Higher
			s := &doc.Results[0].Samples[0]
			s.Values, s.Base = s.Base, s.Values
		}
		v := verdictOf(t, gate.Compare("", nil, doc, gate.DefaultPolicy()), "a")
		if v.Blocks != want || v.Undecided() == want || (v.Evidence.Processor != nil) != want {
			t.Errorf("%q: %+v", unit, v)
		}
	}
}
