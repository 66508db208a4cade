package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// TestStepsOfTheGateExist: each function that docs/design.md names in the way of a cell
// through the gate is in the file beside it.
func TestStepsOfTheGateExist(t *testing.T) {
	_, section, ok := strings.Cut(content(t, "docs/design.md"), "## A cell in the gate\n")
	if !ok {
		t.Fatal(`docs/design.md has no section "A cell in the gate"`)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	steps := regexp.MustCompile("`(\\w+)` \\(`(\\w+\\.go)`\\)").FindAllStringSubmatch(section, -1)
	if len(steps) < 20 {
		t.Errorf("%d functions in the way of a cell, want at least 20", len(steps))
	}
	for _, s := range steps {
		if !strings.Contains(content(t, "internal/gate/"+s[2]), "\nfunc "+s[1]+"(") {
			t.Errorf("docs/design.md names the function %s of internal/gate/%s, which has none", s[1], s[2])
		}
	}
}
