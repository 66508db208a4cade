package judge_test

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// edit changes the parsed configuration.
func (m *mutant) edit(change func(*config.File), names ...string) []string {
	m.edits = append(m.edits, change)
	return names
}

// dropSuite takes all cells of the chosen cell's suite out of the run.
func (m *mutant) dropSuite() (suite string) {
	of := func(r map[string]any) string {
		cell, _ := r["cell"].(map[string]any)
		name, _ := cell["suite"].(string)
		return name
	}
	suite = of(m.result())
	for _, r := range listOf(m.run, "results") {
		if of(r) == suite {
			m.run["results"] = without(m.run["results"], r)
		}
	}
	if m.run["results"] == nil {
		m.run["results"] = []any{}
	}
	return suite
}

var topKey = lazyregexp.New(`(?m)^([a-z_]+):`)

// onKey edits a key of the configuration's first level.
func onKey(m *mutant, edit func(key string) string) []string {
	keys := topKey.FindAllStringSubmatch(m.config, -1)
	key := keys[m.IntN(len(keys))][1]
	m.config = regexp.MustCompile(`(?m)^`+key+`:`).ReplaceAllLiteralString(m.config, edit(key))
	return []string{key}
}

// onPolicy loosens a key of the policy, which the report names.
func onPolicy(name string, loosen func(*config.Policy)) func(*mutant) []string {
	return func(m *mutant) []string { return m.edit(func(f *config.File) { loosen(&f.Policy) }, name) }
}

func percent(p config.Percent) *config.Percent { return &p }

// onValue changes the values of the chosen number.
func onValue(change func(*mutant, json.Number) any) func(*mutant) []string {
	return func(m *mutant) []string {
		values, _ := m.sample()["values"].([]any)
		for i, v := range values {
			values[i] = change(m, v.(json.Number))
		}
		return m.names()
	}
}

func onOutcome(outcome string) func(*mutant) []string {
	return func(m *mutant) []string {
		r := m.result()
		r["outcome"], r["reason"] = outcome, "selftest"
		return []string{m.cell}
	}
}

func onHost(fact string, value any, name string) func(*mutant) []string {
	return func(m *mutant) []string {
		m.run["host"].(map[string]any)[fact] = value
		return []string{name}
	}
}

// onMetric changes the run's description of the chosen metric.
func onMetric(change func(*mutant, map[string]any)) func(*mutant) []string {
	return func(m *mutant) []string {
		for _, d := range listOf(m.run, "metrics") {
			if d["name"] == m.metric {
				change(m, d)
				return []string{m.metric}
			}
		}
		return nil
	}
}

// onEntry changes the chosen metric in the baseline's entry of the cell.
func onEntry(change func(*mutant, map[string]any)) func(*mutant) []string {
	return func(m *mutant) []string {
		change(m, m.entry()["metrics"].(map[string]any)[m.metric].(map[string]any))
		return m.names()
	}
}

// onEntries changes the chosen metric in every entry of the baseline.
func onEntries(change func(map[string]any)) func(*mutant) []string {
	return func(m *mutant) []string {
		for _, e := range listOf(m.ref, "entries") {
			metrics, _ := e["metrics"].(map[string]any)
			if d, there := metrics[m.metric].(map[string]any); there {
				change(d)
			}
		}
		return []string{m.metric}
	}
}

// names are the cell and the metric that were chosen.
func (m *mutant) names() []string { return []string{m.cell, m.metric} }

// result is that of the chosen cell.
func (m *mutant) result() map[string]any {
	for _, r := range listOf(m.run, "results") {
		text, err := json.Marshal(r["cell"])
		var cell bench.Cell
		if err == nil && json.Unmarshal(text, &cell) == nil && cell.ID() == m.cell {
			return r
		}
	}
	return map[string]any{} // impossible: it was chosen of the run
}

func (m *mutant) sample() map[string]any {
	for _, s := range listOf(m.result(), "samples") {
		if s["metric"] == m.metric {
			return s
		}
	}
	return map[string]any{}
}

func (m *mutant) entry() map[string]any {
	for _, e := range listOf(m.ref, "entries") {
		if e["case_id"] == m.cell {
			return e
		}
	}
	return map[string]any{}
}

// listOf returns the objects of a list.
func listOf(parent map[string]any, key string) (objects []map[string]any) {
	list, _ := parent[key].([]any)
	for _, item := range list {
		if o, ok := item.(map[string]any); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// without returns the list without an object, told by what it holds.
func without(list any, object map[string]any) (rest []any) {
	gone, _ := json.Marshal(object)
	for _, item := range list.([]any) {
		if text, _ := json.Marshal(item); string(text) != string(gone) {
			rest = append(rest, item)
		}
	}
	return rest
}

// dropFrom removes the object with the value from a list.
func dropFrom(parent map[string]any, list, key, value string) {
	for _, o := range listOf(parent, list) {
		if o[key] == value {
			parent[list] = without(parent[list], o)
		}
	}
}

func negated(v json.Number) any {
	if positive, was := strings.CutPrefix(string(v), "-"); was {
		return json.Number(positive)
	}
	return json.Number("-" + string(v))
}

func times(v json.Number, by float64) any {
	f, _ := v.Float64()
	return f * by
}

func opposite(better any) string {
	if better == string(bench.Lower) {
		return string(bench.Higher)
	}
	return string(bench.Lower)
}
