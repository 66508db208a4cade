package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHowToAddNamesFiles: a file that CONTRIBUTING.md sends its reader to exists.
func TestHowToAddNamesFiles(t *testing.T) {
	_, section, ok := strings.Cut(content(t, "CONTRIBUTING.md"), "## How to add")
	if !ok {
		t.Fatal(`CONTRIBUTING.md has no section "How to add"`)
	}
	paths := regexp.MustCompile("`((?:internal|e2e|docs)/[^`]+)`").FindAllStringSubmatch(section, -1)
	if len(paths) < 20 {
		t.Errorf("%d paths in How to add, want at least 20", len(paths))
	}
	for _, p := range paths {
		name := p[1]
		if strings.Contains(name, "NAME") {
			name = filepath.Dir(name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name))); err != nil {
			t.Errorf("How to add names %s: %v", p[1], err)
		}
	}
}
