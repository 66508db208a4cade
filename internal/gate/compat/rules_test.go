package compat_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// TestOrderNamesFindings: an order with a name that is no finding would sort nothing by it. An unknown tool has the gate's
// own rules, which are the strictest.
func TestOrderNamesFindings(t *testing.T) {
	t.Parallel()
	for _, tool := range []compat.Tool{compat.None, compat.TensorSharp, compat.MSModeling, compat.MSModeling84} {
		for _, name := range tool.Rules().Order {
			if gate.Finding(name).Rank() == len(gate.Findings) {
				t.Errorf("%s: the order names %q, which is no finding", tool, name)
			}
		}
	}
	if r := compat.Tool("other").Rules(); r != compat.None.Rules() {
		t.Errorf("rules of an unknown tool: %+v", r)
	}
}
