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
	undefended, rest, first := strings.Cut(text, "\n## Assets")
	_, rest, second := strings.Cut(rest, "\n## Attacks")
	attacks, _, third := strings.Cut(rest, "\n## Second checks")
	if !first || !second || !third || !strings.Contains(undefended, "\n## What is not defended") {
		t.Fatal("docs/security.md no longer has its sections, or what is not defended is not the first")
	}
	if rows := rowsWithTests(t, attacks); rows < 40 {
		t.Errorf("the threat model has %d attacks, want 40 or more", rows)
	}
	if !strings.Contains(content(t, "README.md"), "(docs/security.md)") || !strings.Contains(content(t, "SECURITY.md"), "(docs/security.md)") {
		t.Error("README.md and SECURITY.md lead to docs/security.md")
	}
}

// rowsWithTests counts the rows of tables, each of which names tests that exist.
func rowsWithTests(t *testing.T, text string) (rows int) {
	t.Helper()
	for _, row := range tableRow.FindAllString(text, -1) {
		if strings.HasSuffix(row, "| test |") {
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
	return rows
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
	if rows := rowsWithTests(t, table); rows != len(kinds) {
		t.Errorf("the table has %d rows for %d kinds", rows, len(kinds))
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
