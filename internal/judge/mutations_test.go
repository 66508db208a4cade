package judge_test

import (
	"encoding/json"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
)

// mutations are the ways in which copies of configuration, run and baseline are damaged. What must name the damage where
// the gate passes is the cell, the metric, or the new value. Those of a metric's description are what a run of a
// configuration with that damage carries.
var mutations = []mutation{
	// The run.
	{"run: a value is negated", onValue(func(m *mutant, v json.Number) any { return negated(v) })},
	{"run: a value is not a number", onValue(func(m *mutant, _ json.Number) any { return m.mark("NaN") })},
	{"run: a value is huge", onValue(func(*mutant, json.Number) any { return 1e308 })},
	{"run: a value is a thousandfold", onValue(func(_ *mutant, v json.Number) any { return times(v, 1000) })},
	{"run: a value is a thousandth", onValue(func(_ *mutant, v json.Number) any { return times(v, 0.001) })},
	{"run: a value is a string", onValue(func(_ *mutant, v json.Number) any { return string(v) })},
	{"run: a value is zero", onValue(func(*mutant, json.Number) any { return 0 })},
	{"run: the values of a metric are emptied", func(m *mutant) []string {
		m.sample()["values"] = []any{}
		return m.names()
	}},
	{"run: a cell has no samples", func(m *mutant) []string {
		delete(m.result(), "samples")
		return m.names()
	}},
	{"run: a metric of a cell is dropped", func(m *mutant) []string {
		dropFrom(m.result(), "samples", "metric", m.metric)
		return m.names()
	}},
	{"run: a metric is dropped from every cell", func(m *mutant) []string {
		for _, r := range listOf(m.run, "results") {
			dropFrom(r, "samples", "metric", m.metric)
		}
		return []string{m.metric}
	}},
	{"run: a metric occurs twice in a cell", func(m *mutant) []string {
		r := m.result()
		r["samples"] = append(r["samples"].([]any), m.sample())
		return m.names()
	}},
	{"run: a key of a cell occurs twice", func(m *mutant) []string {
		m.result()[m.mark(`"outcome"`)] = "passed"
		return m.names()
	}},
	{"run: a cell vanished", func(m *mutant) []string {
		m.run["results"] = without(m.run["results"], m.result())
		return []string{m.cell}
	}},
	{"run: a cell occurs twice", func(m *mutant) []string {
		m.run["results"] = append(m.run["results"].([]any), m.result())
		return []string{m.cell}
	}},
	{"run: a cell has another id", func(m *mutant) []string {
		m.result()["cell"] = map[string]any{"id": m.cell + "x"}
		return []string{m.cell}
	}},
	{"run: a cell vanished from a shard", func(m *mutant) []string {
		m.run["results"], m.run["shards"] = without(m.run["results"], m.result()), []any{"1/2"}
		return []string{m.cell}
	}},
	{"run: a shard alone", func(m *mutant) []string {
		m.run["shards"] = []any{"1/2"}
		return []string{"1/2"}
	}},
	{"run: a suite vanished", func(m *mutant) []string {
		m.dropSuite()
		return []string{m.cell}
	}},
	{"run: a cell is skipped", onOutcome("skipped")},
	{"run: a cell crashed", onOutcome("crashed")},
	{"run: a cell is incorrect", onOutcome("incorrect")},
	{"run: an outcome is unknown", onOutcome("fine")},
	{"run: a cell is doubtful", func(m *mutant) []string {
		m.result()["caveat"] = "selftest"
		return []string{m.cell}
	}},
	{"run: the revision is stale", func(m *mutant) []string {
		m.run["revision"] = "5e1f7e57"
		return []string{"5e1f7e57"}
	}},
	{"run: the host has another label", func(m *mutant) []string {
		m.run["host"].(map[string]any)["label"] = "selftest-other"
		return []string{"selftest-other"}
	}},
	{"run: the host has another accelerator", onHost("accelerators", []any{map[string]any{"vendor": "nvidia", "model": "Selftest X1"}}, "Selftest X1")},
	{"run: the host has another CPU", onHost("cpu", "Selftest 9000", "Selftest 9000")},
	{"run: the host is another of its kind", func(m *mutant) []string {
		m.ref["fingerprint"].(map[string]any)["machine"] = bench.Identify("selftest there")
		m.run["host"].(map[string]any)["machine"] = bench.Identify("selftest here")
		delete(m.run["host"].(map[string]any), "accelerators")
		delete(m.ref["fingerprint"].(map[string]any), "accelerators")
		return []string{"--host-label"}
	}},
	{"run: the schema is newer", func(m *mutant) []string {
		m.run["schema"] = 99
		return []string{"99"}
	}},

	// The configuration, as the run carries it.
	{"configuration: the direction of a metric is swapped", onMetric(func(_ *mutant, d map[string]any) {
		d["better"] = opposite(d["better"])
	})},
	{"configuration: the unit of a metric is swapped", onMetric(func(_ *mutant, d map[string]any) { d["unit"] = "furlong" })},
	{"configuration: a metric is no longer gated", onMetric(func(_ *mutant, d map[string]any) { d["informational"] = true })},
	{"configuration: a metric must be equal", onMetric(func(_ *mutant, d map[string]any) { d["exact"] = true })},
	{"configuration: a metric is renamed", onMetric(func(m *mutant, d map[string]any) {
		d["name"] = m.metric + "x"
		for _, r := range listOf(m.run, "results") {
			for _, s := range listOf(r, "samples") {
				if s["metric"] == m.metric {
					s["metric"] = m.metric + "x"
				}
			}
		}
	})},
	{"configuration: a metric is described twice", onMetric(func(m *mutant, d map[string]any) {
		m.run["metrics"] = append(m.run["metrics"].([]any), d)
	})},
	{"configuration: a metric is not described", onMetric(func(m *mutant, d map[string]any) {
		m.run["metrics"] = without(m.run["metrics"], d)
	})},
	{"configuration: a metric falls back for one that is not there", onMetric(func(_ *mutant, d map[string]any) { d["fallback_for"] = "selftest" })},
	{"configuration: a metric is rounded coarsely", onMetric(func(_ *mutant, d map[string]any) { d["resolution"] = 1e9 })},
	{"configuration: no metric is gated", func(m *mutant) []string {
		for _, d := range listOf(m.run, "metrics") {
			d["informational"] = true
		}
		return []string{m.metric}
	}},
	{"configuration: a suite vanished", func(m *mutant) []string {
		suite := m.dropSuite()
		return m.edit(func(f *config.File) {
			f.Suites = slices.DeleteFunc(f.Suites, func(s config.Suite) bool { return s.Name == suite })
		}, m.cell)
	}},
	{"configuration: a key occurs twice", func(m *mutant) []string {
		return onKey(m, func(key string) string { return key + ": null\n" + key + ":" })
	}},
	{"configuration: a key is misspelt", func(m *mutant) []string { return onKey(m, func(key string) string { return key + "x:" }) }},
	{"configuration: a byte is not text", func(m *mutant) []string { return onKey(m, func(key string) string { return "\x00" + key + ":" }) }},
	{"configuration: the threshold is loosened", onPolicy("threshold 97 %", func(p *config.Policy) { p.Threshold = percent(97) })},
	{"configuration: drift is allowed", onPolicy("drift 970 %", func(p *config.Policy) { p.Drift = percent(970) })},
	{"configuration: hardly any loss is certain enough", onPolicy("false_alarms 0.001 %", func(p *config.Policy) { p.FalseAlarms = percent(0.001) })},
	{"configuration: an implausible change is allowed", onPolicy("implausible 970000", func(p *config.Policy) { p.Implausible = new(int); *p.Implausible = 970000 })},
	{"configuration: another host is judged", onPolicy("fingerprint ignore", func(p *config.Policy) { p.Fingerprint = gate.FingerprintIgnore })},
	{"configuration: cells may be left out", onPolicy("left_out warn", func(p *config.Policy) { p.LeftOut = gate.LeftOutWarn })},
	{"configuration: an unhealthy host is judged", onPolicy("unhealthy ignore", func(p *config.Policy) { p.Unhealthy = gate.UnhealthyIgnore })},
	{"configuration: evidence does not count",
		onPolicy("method threshold", func(p *config.Policy) { p.Method = string(gate.MethodThreshold) })},

	// The baseline.
	{"baseline: a median is negated", onEntry(func(_ *mutant, d map[string]any) { d["median"] = negated(d["median"].(json.Number)) })},
	{"baseline: a median is a thousandfold", onEntry(func(_ *mutant, d map[string]any) { d["median"] = times(d["median"].(json.Number), 1000) })},
	{"baseline: a median is a thousandth", onEntry(func(_ *mutant, d map[string]any) { d["median"] = times(d["median"].(json.Number), 0.001) })},
	{"baseline: a median is not a number", onEntry(func(m *mutant, d map[string]any) { d["median"] = m.mark("NaN") })},
	{"baseline: a median is zero", onEntry(func(_ *mutant, d map[string]any) { d["median"] = 0 })},
	{"baseline: a median is dropped", onEntry(func(_ *mutant, d map[string]any) { delete(d, "median") })},
	{"baseline: a key of a metric occurs twice", onEntry(func(m *mutant, d map[string]any) { d[m.mark(`"median"`)] = 1 })},
	{"baseline: the unit of a metric is swapped", onEntries(func(d map[string]any) { d["unit"] = "furlong" })},
	{"baseline: the unit of one entry is swapped", onEntry(func(_ *mutant, d map[string]any) { d["unit"] = "furlong" })},
	{"baseline: the direction of a metric is swapped", onEntries(func(d map[string]any) { d["better"] = opposite(d["better"]) })},
	{"baseline: a metric is no longer gated", onEntries(func(d map[string]any) { d["informational"] = true })},
	{"baseline: a metric has no direction", onEntries(func(d map[string]any) { d["better"] = "sideways" })},
	{"baseline: nothing was measured", onEntry(func(_ *mutant, d map[string]any) { d["n"] = -1 })},
	{"baseline: a metric of an entry is dropped", func(m *mutant) []string {
		delete(m.entry()["metrics"].(map[string]any), m.metric)
		delete(m.entry(), m.metric) // where TensorSharp looks for it
		return m.names()
	}},
	{"baseline: an entry vanished", func(m *mutant) []string {
		m.ref["entries"] = without(m.ref["entries"], m.entry())
		return []string{m.cell}
	}},
	{"baseline: an entry occurs twice", func(m *mutant) []string {
		m.ref["entries"] = append(m.ref["entries"].([]any), m.entry())
		return []string{m.cell}
	}},
	{"baseline: an entry is a known failure", func(m *mutant) []string {
		m.entry()["ok"] = false
		return []string{m.cell}
	}},
	{"baseline: an entry is incorrect", func(m *mutant) []string {
		m.entry()["correctness_ok"] = false
		return []string{m.cell}
	}},
	{"baseline: the entries are emptied", func(m *mutant) []string {
		m.ref["entries"] = []any{}
		return []string{m.cell}
	}},
	{"baseline: it is of another host", func(m *mutant) []string {
		m.ref["host_label"] = "selftest-other"
		return []string{"selftest-other"}
	}},
	{"baseline: the commit is stale", func(m *mutant) []string {
		m.ref["commit"] = "5e1f7e57"
		return []string{"5e1f7e57"}
	}},
	{"baseline: the host is not known", func(m *mutant) []string {
		delete(m.ref, "fingerprint")
		return []string{"does not state which host"}
	}},
	{"baseline: the schema is newer", func(m *mutant) []string {
		m.ref["schema"] = 99
		return []string{"99"}
	}},
	{"baseline: the file is cut short", func(m *mutant) []string {
		m.ref["entries"] = m.mark("[{")
		return []string{m.cell}
	}},
}
