package gate_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const today = waiver.Date(20_454) // 2026-01-01

// waive is a waiver of decode_tps that holds for ten more days.
func waive(cell string, ceiling float64, change ...func(*waiver.Entry)) waiver.Entry {
	e := waiver.Entry{Cell: cell, Metric: "decode_tps", Ceiling: ceiling, Expires: today + 10, Reason: "accepted"}
	for _, c := range change {
		c(&e)
	}
	return e
}

func until(day waiver.Date) func(*waiver.Entry) { return func(e *waiver.Entry) { e.Expires = day } }
func of(metric string) func(*waiver.Entry)      { return func(e *waiver.Entry) { e.Metric = metric } }
func on(host string) func(*waiver.Entry)        { return func(e *waiver.Entry) { e.Host = host } }

// uses writes waivers shortly: "state days: note".
func uses(list []gate.WaiverUse) []string {
	var lines []string
	for _, u := range list {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s %d: %s", u.State, u.DaysLeft, u.Note), ": "))
	}
	return lines
}

func TestWaivers(t *testing.T) {
	t.Parallel()
	type results = []bench.Result
	slow := func(by float64) (ref, got results) {
		return results{cell("a", "decode_tps", 100.0)}, results{cell("a", "decode_tps", 100-by)}
	}
	check := func(name string, ref, got results, waivers []waiver.Entry, want gate.Status, verdict, reason string, states ...string) {
		t.Helper()
		p := fixed()
		p.Waivers, p.Today = waivers, today
		c := gate.Compare("base", run(ref...), run(got...), p)
		d := gate.Decide([]gate.Comparison{c}, p)
		if diff := cmp.Diff(verdict, strings.Join(lines(c), "; ")); diff != "" || d.Status != want {
			t.Errorf("%s: %s (-want +got):\n%s", name, d.Status, diff)
		}
		if !strings.Contains(c.Verdicts[0].Reason, reason) {
			t.Errorf("%s: the reason is %q, want %q in it", name, c.Verdicts[0].Reason, reason)
		}
		if diff := cmp.Diff(states, uses(c.Waivers)); diff != "" {
			t.Errorf("%s: waivers of the comparison (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(states, uses(d.Waivers)); diff != "" && len(c.Waivers) == len(waivers) {
			t.Errorf("%s: waivers of the decision (-want +got):\n%s", name, diff)
		}
	}
	list := func(e ...waiver.Entry) []waiver.Entry { return e }
	ref, got := slow(15)
	check("within", ref, got, list(waive("a", 20)), gate.StatusWarned, "a decode_tps regressed waiver -15",
		"waived up to 20 %", "used 10")
	check("exactly", ref, got, list(waive("a", 15)), gate.StatusWarned, "a decode_tps regressed waiver -15", "", "used 10")
	check("beyond", ref, got, list(waive("a", 14.9)), gate.StatusFailed, "a decode_tps regressed blocks -15",
		"beyond the ceiling of 14.9 % of its waiver until 2026-01-11", "exceeded 10: slower by 15 %, which is beyond the ceiling of 14.9 %: fix it")
	check("on its last day", ref, got, list(waive("a", 20, until(today))), gate.StatusWarned, "a decode_tps regressed waiver -15", "", "used 0")
	check("a day later", ref, got, list(waive("a", 20, until(today-1))), gate.StatusFailed, "a decode_tps regressed blocks -15",
		"its waiver up to 20 % expired on 2025-12-31", "expired -1: what it was for is still slower than allowed: fix it, or write a new day")
	check("too far ahead", ref, got, list(waive("a", 20, until(today+367))), gate.StatusFailed, "a decode_tps regressed blocks -15", "", "expired 367: what it was for is still slower than allowed: fix it, or write a new day")
	check("another cell", ref, got, list(waive("A", 20)), gate.StatusFailed, "a decode_tps regressed blocks -15", "",
		"unused 10: neither the run nor a reference has this cell and metric: correct the waiver, or remove it")
	check("another metric", ref, got, list(waive("a", 20, of("ttft_ms"))), gate.StatusFailed, "a decode_tps regressed blocks -15", "",
		"unused 10: the metric of this cell was not judged")
	check("no metric at all", ref, got, list(waive("a", 20, of("tps"))), gate.StatusFailed, "a decode_tps regressed blocks -15", "",
		"unused 10: neither the run nor a reference has this cell and metric: correct the waiver, or remove it")
	check("another host", ref, got, list(waive("a", 20, on("other"))), gate.StatusFailed, "a decode_tps regressed blocks -15", "")
	check("this host", ref, got, list(waive("a", 1), waive("a", 20, on("h"))), gate.StatusWarned, "a decode_tps regressed waiver -15", "",
		"unused 10: the waiver of this host counts in its place", "used 10")
	check("this host, beyond", ref, got, list(waive("a", 20), waive("a", 1, on("h"))), gate.StatusFailed, "a decode_tps regressed blocks -15", "",
		"unused 10: the waiver of this host counts in its place", "exceeded 10: slower by 15 %, which is beyond the ceiling of 1 %: fix it")
	ref, got = slow(5)
	check("not needed", ref, got, list(waive("a", 20)), gate.StatusPassed, "a decode_tps unchanged -5", "", "unused 10: the metric is within its limit: remove it")
	check("not needed, expired", ref, got, list(waive("a", 20, until(today-9))), gate.StatusPassed, "a decode_tps unchanged -5", "", "expired -9: remove it")
	ref, got = slow(100)
	check("a speed of 0", ref, got, list(waive("a", 1000)), gate.StatusFailed, "a decode_tps regressed blocks -100", "beyond any ceiling",
		"exceeded 10: slower by 100 %, which is no change in percent and beyond any ceiling: fix it")

	// What is not slowness is never accepted.
	notSpeed := "unused 10: what is wrong with the cell is not its speed, which is all that can be waived: fix it"
	passed := results{cell("a", "decode_tps", 100.0, "checksum", 1.0)}
	check("a wrong answer", passed, results{cell("a!incorrect")}, list(waive("a", 1000)), gate.StatusFailed, "a incorrect blocks -100", "because", notSpeed)
	check("a crash", passed, results{cell("a!failed")}, list(waive("a", 1000)), gate.StatusFailed, "a crashed blocks -100", "because", notSpeed)
	check("a number that must be equal", passed, results{cell("a", "decode_tps", 100.0, "checksum", 2.0)}, list(waive("a", 1000, of("checksum"))), gate.StatusFailed,
		"a decode_tps unchanged 0; a checksum incorrect blocks 0", "", notSpeed)
	check("a metric that vanished", passed, results{cell("a", "checksum", 1.0)}, list(waive("a", 1000)), gate.StatusFailed,
		"a decode_tps missing blocks -100; a checksum unchanged 0", "", notSpeed)
	check("a cell that vanished", results{cell("b"), cell("a")}, results{cell("b")}, list(waive("a", 1000)), gate.StatusFailed, "b unchanged 0; a missing blocks 0", "", notSpeed)
}

// TestWaiversOverHosts: without a day nothing is accepted, a waiver
// moves no other verdict, and one for all hosts is used if any host needs it.
func TestWaiversOverHosts(t *testing.T) {
	t.Parallel()
	p := fixed()
	p.Waivers, p.Today = []waiver.Entry{waive("a", 20), waive("b", 20, on("elsewhere"))}, today
	ref := run(cell("a", "decode_tps", 100.0))
	fine, slow := gate.Compare("x", ref, run(cell("a", "decode_tps", 99.0)), p), gate.Compare("x", ref, run(cell("a", "decode_tps", 85.0)), p)
	d := gate.Decide([]gate.Comparison{fine, slow}, p)
	if diff := cmp.Diff([]string{"used 10", "unused 10: no run is of this host"}, uses(d.Waivers)); diff != "" || d.Status != gate.StatusWarned || d.Excused[gate.Regressed] != 1 {
		t.Errorf("decision %+v (-want +got):\n%s", d, diff)
	}
	p.Today = 0
	if c := gate.Compare("x", ref, run(cell("a", "decode_tps", 85.0)), p); c.Verdicts[0].Finding != gate.Regressed {
		t.Errorf("without a day: %+v, want it regressed", c.Verdicts[0])
	}
}

// TestWaiverOfACase: a total of a case file is slower in the same sense, drift
// and exact totals are not.
func TestWaiverOfACase(t *testing.T) {
	t.Parallel()
	e := expect("a", bench.BaselineReference, 1.0, 0.1)
	p := policy(e)
	p.Waivers, p.Today = []waiver.Entry{waive("a", 30, of(e.Metric))}, today
	got := run(cell("a", e.Metric, 1.2))
	got.Metrics = []bench.Metric{{Name: e.Metric, Unit: "s", Better: bench.Lower}}
	if c := gate.Compare("", nil, got, p); c.Verdicts[0].Excused() != gate.WaivedExcuse || c.Unjudged != "" {
		t.Errorf("comparison %+v, want the total waived and judged", c)
	}
	e.Exact = true
	p.Expected = policy(e).Expected
	if c := gate.Compare("", nil, got, p); c.Verdicts[0].Excused() == gate.WaivedExcuse {
		t.Errorf("verdict %+v, want an exact total not waived", c.Verdicts[0])
	}
}

// TestWaiversOnlyAccept: for any numbers and ceilings, waivers change nothing
// but regressions, and those only within the ceiling.
func TestWaiversOnlyAccept(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	property := func(old, new, ceiling float64, lower bool) bool {
		metric := map[bool]string{false: "decode_tps", true: "ttft_ms"}[lower]
		ceiling = math.Mod(math.Abs(ceiling), 1000)
		p := fixed()
		p.Today = today
		ref, got := run(cell("a", metric, old)), run(cell("a", metric, new))
		plain := gate.Compare("x", ref, got, p).Verdicts[0]
		p.Waivers = []waiver.Entry{waive("a", ceiling, of(metric))}
		v := gate.Compare("x", ref, got, p).Verdicts[0]
		if v.Excused() == gate.WaivedExcuse {
			return plain.Finding == gate.Regressed && v.Delta == plain.Delta && v.Delta >= -ceiling-gate.Tolerance && v.Reserved()
		}
		return v.Finding == plain.Finding && v.Blocks == plain.Blocks
	}
	if err := quick.Check(property, testtier.Quick(t, 5000)); err != nil {
		t.Error(err)
	}
	near := func(old, share, ceiling float64) bool {
		old = 1 + math.Mod(math.Abs(old), 1e6)
		return property(old, old*math.Mod(math.Abs(share), 2), ceiling, false)
	}
	if err := quick.Check(near, testtier.Quick(t, 5000)); err != nil {
		t.Error(err)
	}
}
