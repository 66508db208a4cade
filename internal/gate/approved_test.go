package gate_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/gate"
)

// TestUnapprovedChangesNeverPass: configuration changes without an approval turn
// Passed into ActionRequired and leave what is worse.
func TestUnapprovedChangesNeverPass(t *testing.T) {
	failed := gate.Comparison{Passed: 1, Verdicts: []gate.Verdict{{Finding: gate.Regressed, Blocks: true}}}
	for want, c := range map[gate.Status]gate.Comparison{gate.StatusActionRequired: {Passed: 1}, gate.StatusNoEvidence: {}, gate.StatusFailed: failed} {
		if d := gate.Decide([]gate.Comparison{c}, gate.Policy{Unapproved: true}); d.Status != want || !d.Unapproved {
			t.Errorf("decided %+v, want %s", d, want)
		}
	}
	if d := gate.Decide([]gate.Comparison{{Passed: 1}}, gate.Policy{}); d.Status != gate.StatusPassed || d.Unapproved {
		t.Errorf("decided %+v without changes", d)
	}
}
