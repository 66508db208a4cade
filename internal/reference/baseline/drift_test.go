package baseline_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// TestDrift looks at one metric beside its anchor.
func TestDrift(t *testing.T) {
	anchored := func(first float64, m baseline.Metric, more ...baseline.Metric) *baseline.File {
		e := baseline.Entry{CaseID: "a", OK: true, CorrectnessOK: new(true), Metrics: append(more, m),
			Anchor: &baseline.Anchor{CapturedAt: monday, Metrics: anchored(map[string]float64{m.Name: first})}}
		return &baseline.File{HostLabel: "linux-cuda", CapturedAt: monday, Fingerprint: &h100, Entries: []baseline.Entry{e}}
	}
	changed := func(m baseline.Metric, change func(*bench.Metric)) baseline.Metric {
		m.Metric = new(*m.Metric)
		change(m.Metric)
		return m
	}
	tps, ms := metric("tps", "", bench.Higher, 89, 0, 1), metric("ms", "", bench.Lower, 111, 0, 1)
	decode := metric("decode_tps", "", bench.Higher, 1, 0, 1)
	fallback := func(m *bench.Metric) { m.FallbackFor = "decode_tps" }
	for _, tt := range []struct {
		name string
		file *baseline.File
		want string // "" for no drift
	}{
		{"slower", anchored(100, tps), `"tps" has crept from 100 to 89 (-11.0 %, worse) since 2026-03-02: look for the cause with accelgate history, or accept it with accelgate baseline anchor`},
		{"longer", anchored(100, ms), `"ms" has crept from 100 to 111 (+11.0 %, worse)`},
		{"within the limit", anchored(98.8, tps), ""},
		{"faster", anchored(50, tps), ""},
		{"no anchor of this metric", anchored(100, changed(tps, func(m *bench.Metric) { m.Name = "other" }), tps), ""},
		{"anchored at 0", anchored(0, tps), ""},
		{"exact", anchored(100, changed(tps, func(m *bench.Metric) { m.Exact = true })), ""},
		{"only shown", anchored(100, changed(tps, func(m *bench.Metric) { m.Informational = true })), ""},
		{"another one is gated in its place", anchored(100, changed(tps, fallback), decode), ""},
		{"none is gated in its place", anchored(100, changed(tps, fallback)), `"tps" has crept`},
	} {
		if tt.name == "no anchor of this metric" {
			tt.file.Entries[0].Metrics = tt.file.Entries[0].Metrics[:1]
		}
		var got string
		for _, p := range baseline.Lint("baseline-linux-cuda.json", tt.file, monday, 0) {
			got += p.Message
		}
		if !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(got, "crept") {
			t.Errorf("%s: lint says %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestResolutionOfTwoEntries: a program that has learnt to print more digits is
// no contradiction, and until every cell is measured again the coarser step
// counts.
func TestResolutionOfTwoEntries(t *testing.T) {
	run := newRun(result("a", bench.Passed, sample("decode_tps", 1)), result("b", bench.Passed, sample("decode_tps", 1)))
	run.Metrics[0].Resolution = 0.1
	old, _ := update(t, nil, run, baseline.UpdateOptions{Now: monday})
	run.Metrics[0].Resolution, run.Results = 0.01, run.Results[:1]
	mixed, _ := update(t, old, run, baseline.UpdateOptions{Now: tuesday})
	mixed = parse(t, marshal(t, mixed))
	if got := mixed.Run(); got.Metrics[0].Resolution != 0.1 || len(got.Warnings) > 0 {
		t.Errorf("resolution %v with warnings %q, want 0.1 without", got.Metrics[0].Resolution, got.Warnings)
	}
	problems := baseline.Lint("baseline-linux-cuda.json", mixed, tuesday, 0)
	if len(problems) != 1 || problems[0].Severity != baseline.SeverityWarning || problems[0].CaseID != "b" ||
		!strings.HasPrefix(problems[0].Message, `"decode_tps": resolution is 0.1 here and 0.01 before`) {
		t.Errorf("Lint = %+v", problems)
	}
}
