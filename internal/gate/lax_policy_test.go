package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate"
)

// TestLoosenedPolicyIsNotNamed: a policy that lets pass what the default blocks was
// nowhere in the report, but for the threshold.
func TestLoosenedPolicyIsNotNamed(t *testing.T) {
	t.Parallel()
	p := gate.DefaultPolicy()
	if got := p.Loosened(); got != nil {
		t.Errorf("the default: %q", got)
	}
	p.Threshold, p.MinEffect, p.Drift = 5, 5, gate.DefaultDrift
	if got := p.Loosened(); got != nil {
		t.Errorf("a stricter one: %q", got)
	}
	p = gate.Policy{Threshold: 50, MinEffect: 60, Drift: 70, FalseAlarms: 0.1, Implausible: 1000, Fingerprint: "ignore", LeftOut: "warn", Unhealthy: "ignore", Method: "threshold"}
	want := []string{"threshold 50 %", "min_effect 60 %", "drift 70 %", "false_alarms 0.1 %", "implausible 1000", "fingerprint ignore", "left_out warn", "unhealthy ignore", "method threshold"}
	if diff := cmp.Diff(want, p.Loosened()); diff != "" {
		t.Error(diff)
	}
}
