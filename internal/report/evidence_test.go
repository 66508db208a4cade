package report_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// judgedByEvidence is a verdict of pairs or of earlier runs.
func judgedByEvidence(id string, class gate.Class, level gate.Level, mode detect.Mode) gate.Verdict {
	v := judgedCell(id, class, level)
	v.Evidence.Method, v.Evidence.Mode, v.Evidence.P = "evidence", mode, 0.02
	v.Interval = [2]float64{-30, 2}
	return v
}

// TestNothingSettledIsNoPlainPass: a run none of whose numbers is settled says so
// in its first word.
func TestNothingSettledIsNoPlainPass(t *testing.T) {
	open := judgedByEvidence("a", gate.Inconclusive, gate.Warn, detect.History)
	if text := single(t, report.Commands{}, open); !strings.HasPrefix(text, "INCONCLUSIVE: the speed of 1 of 1 cell was not decided; ") || !strings.Contains(text, "1 stays inconclusive") || !strings.Contains(text, "--ab BASE-CHECKOUT\n") {
		t.Errorf("nothing but open numbers:\n%s", text)
	}
	sure := judgedByEvidence("b", gate.Unchanged, gate.Off, detect.History)
	if text := single(t, report.Commands{}, open, sure); !strings.HasPrefix(text, "PASS: ") {
		t.Errorf("one is settled:\n%s", text)
	}
}

// TestAllCellsTogetherAreTold: what is in no cell's number stands above them.
func TestAllCellsTogetherAreTold(t *testing.T) {
	all := judgedByEvidence("", gate.Inconclusive, gate.Warn, detect.History)
	all.Metric, all.Delta = "", -7.4
	text := single(t, report.Commands{}, all, judgedByEvidence("a", gate.Unchanged, gate.Off, detect.History))
	if want := "All cells together look slower: speed -7.4 % (worse) on "; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// TestNextAfterPairs: a baseline cannot accept what pairs show.
func TestNextAfterPairs(t *testing.T) {
	for mode, want := range map[detect.Mode]string{detect.Interleaved: "/accelgate accept", detect.History: "baseline update"} {
		text := single(t, report.Commands{}, judgedByEvidence("a", gate.Regressed, gate.Fail, mode))
		if !strings.Contains(text, want) || strings.Contains(text, "/accelgate accept") && strings.Contains(text, "baseline update") {
			t.Errorf("%s: want %q and no other way in\n%s", mode, want, text)
		}
	}
}

// TestNextNamesTheConfiguration: a command in a comment is for one of several.
func TestNextNamesTheConfiguration(t *testing.T) {
	slow := judgedByEvidence("a", gate.Regressed, gate.Fail, detect.Interleaved)
	cmp := gate.Comparison{Measured: 1, Passed: 1, Verdicts: []gate.Verdict{slow}}
	in := report.Input{Name: "engine", Hosts: []report.HostInput{{Run: &bench.Run{}, Reference: &bench.Run{}, Comparison: cmp}}, Policy: gate.DefaultPolicy()}
	in.Decision = gate.Decide([]gate.Comparison{cmp}, in.Policy)
	if text := render(t, report.Terminal, report.New(in)); !strings.Contains(text, "/accelgate engine: accept") {
		t.Errorf("no command for engine in\n%s", text)
	}
}
