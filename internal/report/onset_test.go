package report_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// TestBeganNamesCommits holds what the report says of a confirmed loss, and that no
// commit of a run becomes a part of a command that is not its own.
func TestBeganNamesCommits(t *testing.T) {
	t.Parallel()
	slow := judgedByTest("it's", gate.Regressed, gate.MethodHistory)
	slow.Confirmed, slow.Metric = true, "tps"
	for _, c := range []struct {
		name             string
		after, suspected string
		want             string // "" is no command
	}{
		{"known", "abc1", "def2", "git log --oneline abc1..def2"},
		{"shortened", strings.Repeat("a1", 20), strings.Repeat("b2", 20), "git log --oneline a1a1a1a..b2b2b2b"},
		{"the same commit", "abc1", "abc1", ""},
		{"unknown", "", "def2", ""},
		{"a flag", "--output=x", "def2", ""},
		{"a command", "abc1;reboot", "def2", ""},
		{"lines", "abc1\nreboot", "def2", ""},
	} {
		cmp := gate.Comparison{Measured: 1, Passed: 1, Verdicts: []gate.Verdict{slow}, SuspectRange: &gate.SuspectRange{After: c.after, Suspected: c.suspected, Confirmed: "now", Numbers: 1}}
		in := report.Input{Hosts: []report.HostInput{{Run: &bench.Run{}, Reference: &bench.Run{}, Comparison: cmp}}, Policy: gate.DefaultPolicy()}
		in.Decision = gate.Decide([]gate.Comparison{cmp}, in.Policy)
		text := render(t, report.Terminal, report.New(in))
		if !strings.Contains(text, "Confirmed by the next run: 1 confirmed regression began after ") {
			t.Errorf("%s:\n%s", c.name, text)
		}
		if c.want == "" && (strings.Contains(text, "git log") || strings.Contains(text, "--good")) || !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q in\n%s", c.name, c.want, text)
		}
		if c.want != "" && !strings.Contains(text, `--only 'it'\''s' --metric tps`) {
			t.Errorf("%s: no bisect in\n%s", c.name, text)
		}
	}
}
