package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([a-z0-9-]+))?`")
	tableRow  = regexp.MustCompile(`(?m)^\| .* \|$`)
)

// TestThreatModelNamesTests: every attack in the threat model names tests, and
// each of them exists.
func TestThreatModelNamesTests(t *testing.T) {
	text := content(t, "docs/security.md")
	attacks, rest, ok := strings.Cut(text[strings.Index(text, "\n## Attacks"):], "\n## What is not defended")
	if !ok || rest == "" {
		t.Fatal("docs/security.md no longer has its sections")
	}
	rows := 0
	for _, row := range tableRow.FindAllString(attacks, -1) {
		if strings.HasPrefix(row, "| attack |") {
			continue
		}
		rows++
		named := namedTest.FindAllStringSubmatch(row, -1)
		if len(named) == 0 {
			t.Errorf("no test is named for %s", row)
		}
		for _, m := range named {
			if !hasTest(t, m[1], m[2], m[3]) {
				t.Errorf("there is no test %s for %s", m[0], row)
			}
		}
	}
	if rows < 40 {
		t.Errorf("the threat model has %d attacks, want 40 or more", rows)
	}
	if !strings.Contains(content(t, "README.md"), "(docs/security.md)") || !strings.Contains(content(t, "SECURITY.md"), "(docs/security.md)") {
		t.Error("README.md and SECURITY.md lead to docs/security.md")
	}
}

// hasTest looks for a test of a package; those of TestScript are files, and those
// of TestScenarios rows.
func hasTest(t *testing.T, pkg, name, sub string) bool {
	t.Helper()
	dir := filepath.Join("..", "..", "internal", filepath.FromSlash(pkg))
	if strings.HasPrefix(pkg, "e2e/") || strings.HasPrefix(pkg, "scripts/") {
		dir = filepath.Join("..", "..", filepath.FromSlash(pkg))
	}
	if name == "TestScript" {
		_, err := os.Stat(filepath.Join(dir, sub+".txtar"))
		return sub != "" && err == nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		table := name != "TestScenarios" || strings.Contains(strings.ReplaceAll(string(data), "'", ""), `{name: "`+strings.ReplaceAll(sub, "-", " ")+`", `)
		if strings.Contains(string(data), "\nfunc "+name+"(") && table {
			return true
		}
	}
	return false
}
