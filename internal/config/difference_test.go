package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
)

// TestDifferences: values differ by their paths, and nothing that a hostile file
// spells hides one.
func TestDifferences(t *testing.T) {
	const old = "version: 1\npolicy: {threshold: 10%}\nsuites:\n  - {name: s, command: [a, b], metrics: [{name: tps, better: higher}, {name: ms, better: lower}]}\n"
	for name, c := range map[string]struct {
		now  string
		want []config.Difference
	}{
		"layout, order and remarks": {"# x\nsuites:\n- metrics:\n  - better: lower\n    name: ms\n  - name: tps\n    better: higher\n  command: [a, b]\n  name: s\npolicy:\n  threshold: 10%\nversion: 1\n", nil},
		"a value": {"version: 1\npolicy: {threshold: 90%}\nsuites:\n  - {name: s, command: [a, b], metrics: [{name: tps, better: higher}, {name: ms, better: lower}]}\n",
			[]config.Difference{{"policy.threshold", "10%", "90%"}}},
		"a metric that is gone, and a command": {"version: 1\npolicy: {threshold: 10%}\nsuites:\n  - {name: s, command: [a, \"b, c\"], metrics: [{name: ms, better: lower}]}\n",
			[]config.Difference{{"suites[s].command", "[a, b]", `[a, "b, c"]`}, {"suites[s].metrics[tps].better", "higher", ""}, {"suites[s].metrics[tps].name", "tps", ""}}},
		"a name that looks like a path": {"version: 1\npolicy: {threshold: 10%}\nsuites:\n  - {name: s, command: [a, b], metrics: [{name: ms, better: lower}, {name: \"tps].better\", better: higher}]}\n",
			[]config.Difference{{`suites[s].metrics["tps].better"].better`, "", "higher"}, {`suites[s].metrics["tps].better"].name`, "", `"tps].better"`},
				{"suites[s].metrics[tps].better", "higher", ""}, {"suites[s].metrics[tps].name", "tps", ""}}},
		"an alias of the same value": {"version: &v 1\npolicy: {threshold: 10%}\nsuites:\n  - {name: s, command: [a, b], metrics: [{name: tps, better: &b higher}, {name: ms, better: lower}]}\n", nil},
	} {
		got, err := config.Differences("accelgate.yaml", []byte(old), []byte(c.now))
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	got, err := config.Differences("accelgate.yaml", nil, []byte("a: {b: [], c: {}, d: null, e: \"null\"}"))
	want := []config.Difference{{"a.b", "", "[]"}, {"a.c", "", "{}"}, {"a.d", "", "null"}, {"a.e", "", `"null"`}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("a new file: %v\n%s", err, diff)
	}
	if _, err := config.Differences("accelgate.yaml", []byte(old), []byte("a: &a [*a, {b: *a}]")); err == nil {
		t.Error("a file that holds itself is read")
	}
}

// FuzzDifferences: a file differs from itself in nothing, and no file ends the
// process.
func FuzzDifferences(f *testing.F) {
	f.Add("a: 1", "a: [1, {name: b}]")
	f.Add("a: &a [x]\nb: *a", "a: &a [*a]")
	f.Fuzz(func(t *testing.T, old, now string) {
		same, err := config.Differences("x", []byte(old), []byte(old))
		if err == nil && len(same) > 0 {
			t.Errorf("%q differs from itself in %v", old, same)
		}
		_, _ = config.Differences("x", []byte(old), []byte(now))
	})
}
