package archtest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile(`\b([a-z0-9/]+)\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([a-z0-9-]+))?`)
	tableRow  = regexp.MustCompile(`(?m)^\| .* \|$`)
)

// TestThreatModelNamesTests: every attack in the threat model names tests, and
// each of them exists.
func TestThreatModelNamesTests(t *testing.T) {
	attacks, err := csv.NewReader(strings.NewReader(content(t, "docs/security-attacks.csv"))).ReadAll()
	if err != nil || len(attacks) <= 40 {
		t.Fatalf("docs/security-attacks.csv has %d rows, want more than 40: %v", len(attacks), err)
	}
	for _, attack := range attacks[1:] {
		namesTests(t, attack[1], attack[3])
	}
	text := content(t, "docs/security.md")
	undefended, _, found := strings.Cut(text, "\n## Assets")
	if !found || !strings.Contains(undefended, "\n## What is not defended") || !strings.Contains(text, "(security-attacks.csv)") {
		t.Error("docs/security.md has no link to the attacks, or what is not defended is not the first section")
	}
	if !strings.Contains(content(t, "README.md"), "(docs/security.md)") || !strings.Contains(content(t, "SECURITY.md"), "(docs/security.md)") {
		t.Error("README.md and SECURITY.md lead to docs/security.md")
	}
}

// namesTests holds that a list of tests is not empty and that each of them exists.
func namesTests(t *testing.T, what, list string) {
	t.Helper()
	named := namedTest.FindAllStringSubmatch(list, -1)
	if len(named) == 0 {
		t.Errorf("no test is named for %s", what)
	}
	for _, m := range named {
		if !hasTest(t, m[1], m[2], m[3]) {
			t.Errorf("there is no test %s for %s", m[0], what)
		}
	}
}

// TestEachKindSaysWhatIsCheckedAgain: the threat model has a row with tests for each kind.
func TestEachKindSaysWhatIsCheckedAgain(t *testing.T) {
	_, table, _ := strings.Cut(content(t, "docs/security.md"), "\n## Second checks")
	kinds, err := filepath.Glob(filepath.Join("..", "suite", "*", "kind.go"))
	if err != nil || len(kinds) < 6 {
		t.Fatalf("found the kinds %q, %v, want 6 or more", kinds, err)
	}
	for _, path := range kinds {
		if kind := filepath.Base(filepath.Dir(path)); !strings.Contains(table, "\n| `"+kind+"` |") {
			t.Errorf("docs/security.md does not say what is checked again for kind %s", kind)
		}
	}
	rows := tableRow.FindAllString(table, -1)
	if len(rows) != len(kinds)+1 {
		t.Fatalf("the table has %d rows for %d kinds", len(rows)-1, len(kinds))
	}
	for _, row := range rows[1:] {
		namesTests(t, row, row)
	}
}

// folderOf returns the folder of a package below internal: a page names download for artifact/download.
func folderOf(t *testing.T, pkg string) string {
	t.Helper()
	for _, below := range []string{"", "*/", "*/*/"} {
		if found, err := filepath.Glob(filepath.Join("..", "..", "internal", filepath.FromSlash(below+pkg))); err == nil && len(found) == 1 {
			return found[0]
		}
	}
	return filepath.Join("..", "..", "internal", filepath.FromSlash(pkg))
}

// hasTest looks for a test of a package; those of TestScript are files, and those
// of TestScenarios rows.
func hasTest(t *testing.T, pkg, name, sub string) bool {
	t.Helper()
	dir := folderOf(t, pkg)
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
