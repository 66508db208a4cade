package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Trade lets a certain loss of a metric pass that a certain gain of another metric of the
// same cell pays for.
type Trade struct {
	Loss float64 `json:"loss"` // percent that the metric may lose
	For  string  `json:"for"`  // the metric that gains
	Gain float64 `json:"gain"` // percent that it must gain
	// Source is the file and line of the entry.
	Source string `json:"source,omitempty"`
}

// Offset says which gain offsets a loss. The gain of a loss that is not offset is in the
// verdict's Reason.
type Offset struct {
	Trade
	Gained float64 `json:"gained"` // percent
	Q      float64 `json:"q"`      // p of the gain, corrected for all gains that trades of the run name
}

// gainOf is what a metric gained, with the chance that noise alone looks as good.
type gainOf struct {
	percent, p, q float64
	none          string // why nothing shows a gain; "" where something may
	need          int    // pairs that show whether there is one; 0 if they are there
}

// trade lets losses pass that the gains pay for which the configuration names. A gain must be
// as certain as a loss must be to block: the test is that of losses with both sides
// exchanged, at the same rate of false alarms, for all gains of the run together (Holm). It
// blocks nothing, so it takes no part of that rate from losses.
func trade(in *inputs, verdicts []Verdict) []Verdict {
	gains := in.testGains()
	for i := range verdicts {
		v := &verdicts[i]
		t := in.limits.of(v.Cell, v.Metric).trade
		if t == nil || v.Finding != Regressed || v.Undecided() || v.Reference == AnchorReference {
			continue
		}
		g := gains[seriesKey{v.Cell, t.For}]
		why := in.unpaid(v, t, &g)
		if why != "" {
			v.Reason = text.Reasons(v.Reason, "not traded: "+why)
			if v.Delta >= -t.Loss-Tolerance { // fewer pairs decide a large loss
				v.Evidence.Need = g.need
			}
			continue
		}
		v.Excuse = &Excuse{Kind: TradeExcuse, Source: cmp.Or(t.Source, "trade"), Trade: &Offset{Trade: *t, Gained: g.percent, Q: g.q}}
		offset(verdicts, v, t.For)
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf(in.policy.certainly(
			"the loss is certain, and a certain gain of %s by %.1f %% pays for it", "a gain of %s by %.1f %% pays for it")+
			" (up to %.4g %% for at least %.4g %%)", text.Visible(t.For, maxName), g.percent, t.Loss, t.Gain))
	}
	return verdicts
}

// offset makes the gain that pays for a loss one, whatever its own limit is.
func offset(verdicts []Verdict, loss *Verdict, metric string) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Cell != loss.Cell || v.Metric != metric || v.Finding != Unchanged && v.Finding != Improved {
			continue
		}
		v.Finding, v.DecidedBy = Improved, Certain
		v.Reason = fmt.Sprintf("pays for the loss of %s, by a trade", text.Visible(loss.Metric, maxName))
	}
}

// certainly returns the first text where losses and gains block by evidence, and the other
// one where medians decide.
func (p *Policy) certainly(evidence, medians string) string {
	if p.Method == MethodThreshold {
		return medians
	}
	return evidence
}

// unpaid returns why a gain does not pay for a loss, or "".
func (in *inputs) unpaid(v *Verdict, t *Trade, g *gainOf) string {
	metric := text.Visible(t.For, maxName)
	switch {
	case !(v.Delta >= -t.Loss-Tolerance):
		return fmt.Sprintf("a trade allows a loss of %.4g %%", t.Loss)
	case v.Old == 0 || v.New <= 0:
		return "from 0 or to 0 there is no change in percent"
	case g.none != "":
		return metric + " " + g.none
	case math.IsInf(g.percent, 1):
		return "no code makes " + metric + " gain as much"
	case !(g.percent >= t.Gain-Tolerance):
		return fmt.Sprintf("%s gained %.1f %%, and the trade needs %.4g %%", metric, g.percent, t.Gain)
	case in.policy.Method != MethodThreshold && !(g.q <= in.policy.falseAlarms()):
		return fmt.Sprintf("the gain of %s by %.1f %% is not certain (q %.2g): decide it in pairs with --ab and more --pairs", metric,
			g.percent, g.q)
	}
	return ""
}

// testGains tests all gains together that trades of the run name.
func (in *inputs) testGains() map[seriesKey]gainOf {
	gains := map[seriesKey]gainOf{}
	var of []seriesKey
	var ps []float64
	for _, c := range in.cells {
		limits := in.limits[c.id]
		for _, metric := range slices.Sorted(maps.Keys(limits)) {
			t := limits[metric].trade
			if t == nil {
				continue
			}
			n := seriesKey{c.id, t.For}
			if _, seen := gains[n]; seen {
				continue
			}
			g := in.gain(c, t)
			gains[n] = g
			of, ps = append(of, n), append(ps, g.p)
		}
	}
	for i, q := range detect.AdjustHolm(ps) {
		g := gains[of[i]]
		g.q = q
		gains[of[i]] = g
	}
	return gains
}

// gain tests one metric for a gain, by the evidence that a loss of it would be judged by.
func (in *inputs) gain(c cell, t *Trade) gainOf {
	g := gainOf{p: 1}
	m, now := in.metric(t.For), c.got.Sample(t.For)
	if m == nil || now == nil || c.got.Outcome != bench.Passed || c.ref != nil && c.ref.Outcome != bench.Passed {
		g.none = "has no number on both sides"
		return g
	}
	if !measures(in, m, c) {
		g.none = "is not judged in this cell: gate it, and measure it without a caveat"
		return g
	}
	mirrored := *m
	mirrored.Better = bench.Lower
	if m.Better == bench.Lower {
		mirrored.Better = bench.Higher
	}
	switch {
	case len(now.Base) > 0:
		g = in.gainOfPairs(&mirrored, now)
	case c.ref == nil || in.unjudged != "" || c.ref.Sample(t.For) == nil || m.tooFew(c.ref):
		g.none = "has no number on both sides"
	default:
		g = in.gainSince(&mirrored, c, t)
	}
	exact := len(now.Base) > 0 && in.policy.Method != MethodThreshold // what the host does falls on both sides
	if g.none == "" && !exact && (unhealthy(in, c.got) != "" || in.host.fasterBy(g.percent)) {
		g.p, g.none = 1, "may have gained by the state of the host: measure again on a healthy host"
	}
	return g
}

// gainOfPairs is the exact test of losses on the pairs that decide: those that no look at the
// losses of the cell has seen, or all where there is one look.
func (in *inputs) gainOfPairs(mirrored *described, now *bench.Sample) gainOf {
	n, s := len(now.Base), stages(in.run)
	base, head := now.Pairs()
	if !in.policy.OneLook && in.policy.Method != MethodThreshold {
		if n < s.Total() {
			return gainOf{p: 1, need: s.Total(), none: fmt.Sprintf("has %d of the %d pairs that can show a gain", n, s.Total())}
		}
		last := s.Looks[len(s.Looks)-1].Pairs
		base, head = base[last:s.Total()], head[last:s.Total()]
	}
	e := detect.JudgeMean([]detect.Cell{{Base: base, Head: head, Options: detect.Options{HigherIsBetter: mirrored.Better != bench.Lower}}})
	if e.Unusable > 0 {
		return gainOf{p: 1, none: "has a value that is not a positive number"}
	}
	return gainOf{percent: -mirrored.Better.GainOf(e.Estimate), p: e.P}
}

// gainSince is the test of losses against earlier runs, from 3 new runs on, and else that of
// two sessions.
func (in *inputs) gainSince(mirrored *described, c cell, t *Trade) gainOf {
	old, now := c.ref.Sample(t.For), c.got.Sample(t.For)
	o, n := old.Summarize(), now.Summarize()
	loss, ok := mirrored.Better.Gain(o.Median, n.Median)
	if !ok || !(o.Median > 0) || !(n.Median > 0) || math.IsInf(o.Median, 1) {
		return gainOf{p: 1, none: "has a value that is not a positive number"}
	}
	g := gainOf{percent: -loss, p: 1}
	if in.policy.Method == MethodThreshold {
		return g
	}
	if earlierRuns(old) >= minRuns {
		base, head := detect.Sessions(old.Level(), now.Values, c.got.Sessions < 2)
		of := detect.Cell{Base: base, Head: head, Options: mirrored.options(detect.History, t.Gain, t.Gain)}
		if e := detect.JudgeApart([]detect.Cell{of}, 1).Cells[0]; !few(of) && e.Verdict != detect.Untested && e.K >= minRuns {
			since, _ := mirrored.Better.Gain(stats.Median(lastUsable(base, e.K)), stats.Median(head))
			g.percent = min(g.percent, -since) // earlier runs without the gain do not make it new
			if e.Verdict == detect.Regressed {
				g.p = e.P
			}
			return g
		}
	}
	g.p = detect.JudgeTwoSample([]detect.TwoSample{mirrored.twoSample(&o, &n)})[0].P
	return g
}
