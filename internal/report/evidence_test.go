package report_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// judgedByTest is a verdict of pairs or of earlier runs.
func judgedByTest(id string, found gate.Finding, method gate.Method) gate.Verdict {
	v := judgedCell(id, found)
	v.Evidence.Method, v.Evidence.InPairs, v.Evidence.P = method, method == gate.MethodPairs, 0.02
	v.Interval = [2]float64{-30, 2}
	return v
}

// TestWhatIsUndecidedComesFirst: the first words of a report in which a loss is undecided say so,
// whatever else is fine, and the loss is listed with what decides it.
func TestWhatIsUndecidedComesFirst(t *testing.T) {
	open := undecided(judgedByTest("a", gate.Regressed, gate.MethodPairs), gate.ByMorePairs)
	sure := judgedByTest("b", gate.Unchanged, gate.MethodPairs)
	text := single(t, report.Commands{Base: "auto"}, open, sure)
	for _, want := range []string{"UNDECIDED: 1 loss beyond its limit is undecided; ", "\n== Undecided\n", "slower", "-20.0 %", "more pairs", "- More pairs: accelgate run --only 'a' --ab auto --pairs "} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	// What only might be a loss is no loss.
	hidden := undecided(judgedByTest("a", gate.Unchanged, gate.MethodHistory), gate.ByNextRun)
	if text := single(t, report.Commands{}, hidden, sure); !strings.HasPrefix(text, "WARN: 1 cell is undecided; ") || !strings.Contains(text, "loss not excluded") {
		t.Errorf("a loss that is not excluded:\n%s", text)
	}
	if text := single(t, report.Commands{}, sure); !strings.HasPrefix(text, "PASS: ") {
		t.Errorf("nothing is undecided:\n%s", text)
	}
}

// TestExcusesAreListed: what is excused is no plain pass, and stands there with its source.
func TestExcusesAreListed(t *testing.T) {
	for kind, source := range map[gate.ExcuseKind]string{
		gate.WaivedExcuse: "waivers.yml:3", gate.TradeExcuse: "accelgate.yaml:12", gate.Quarantined: "quarantine.yml:7",
		gate.AdvisoryLevel: "accelgate.yaml:30", gate.KnownFailure: "baselines/baseline-desk.json", gate.LeftOut: "limits.budget", gate.RuleExcuse: "policy.fingerprint",
	} {
		v := excused(judgedCell("a", gate.Regressed), gate.Excuse{Kind: kind, Source: source, Why: "agreed"})
		if text := single(t, report.Commands{}, v); !strings.HasPrefix(text, "WARN: 1 cell is ") || !strings.Contains(text, "\n== Excused\n") || !strings.Contains(text, source+": agreed") {
			t.Errorf("%s: not listed with its source:\n%s", kind, text)
		}
	}
}

// TestAllCellsTogetherAreTold: what is in no cell's number stands above them.
func TestAllCellsTogetherAreTold(t *testing.T) {
	all := undecided(judgedByTest("", gate.Regressed, gate.MethodHistory), gate.ByNextRun)
	all.Metric, all.Delta = "", -7.4
	text := single(t, report.Commands{}, all, judgedByTest("a", gate.Unchanged, gate.MethodHistory))
	if want := "all cells together\n    –       slower                –  -7.4 % (worse; "; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// TestNextAfterPairs: a baseline cannot accept what pairs show.
func TestNextAfterPairs(t *testing.T) {
	for mode, want := range map[gate.Method]string{gate.MethodPairs: "/accelgate accept", gate.MethodHistory: "baseline update"} {
		text := single(t, report.Commands{}, judgedByTest("a", gate.Regressed, mode))
		if !strings.Contains(text, want) || strings.Contains(text, "/accelgate accept") && strings.Contains(text, "baseline update") {
			t.Errorf("%s: want %q and no other way in\n%s", mode, want, text)
		}
	}
}

// TestNextNamesTheConfiguration: a command in a comment is for one of several.
func TestNextNamesTheConfiguration(t *testing.T) {
	slow := judgedByTest("a", gate.Regressed, gate.MethodPairs)
	cmp := gate.Comparison{Measured: 1, Passed: 1, Verdicts: []gate.Verdict{slow}}
	in := report.Input{Name: "engine", Hosts: []report.HostInput{{Run: &bench.Run{}, Reference: &bench.Run{}, Comparison: cmp}}, Policy: gate.DefaultPolicy()}
	in.Decision = gate.Decide([]gate.Comparison{cmp}, in.Policy)
	if text := render(t, report.Terminal, report.New(in)); !strings.Contains(text, "/accelgate engine: accept") {
		t.Errorf("no command for engine in\n%s", text)
	}
}
