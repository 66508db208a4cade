package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// TestStepsOfTheGateExist: each function that the package comment of gate names in the way of a cell is in the file beside it.
func TestStepsOfTheGateExist(t *testing.T) {
	_, section, ok := strings.Cut(content(t, "internal/gate/doc.go"), "# A cell in the gate\n")
	if !ok {
		t.Fatal(`internal/gate/doc.go has no section "A cell in the gate"`)
	}
	steps := regexp.MustCompile(`(\w+) \((\w+\.go)\)`).FindAllStringSubmatch(section, -1)
	if len(steps) < 20 {
		t.Errorf("%d functions in the way of a cell, want at least 20", len(steps))
	}
	for _, s := range steps {
		if !strings.Contains(content(t, "internal/gate/"+s[2]), "\nfunc "+s[1]+"(") {
			t.Errorf("internal/gate/doc.go names the function %s of internal/gate/%s, which has none", s[1], s[2])
		}
	}
}
