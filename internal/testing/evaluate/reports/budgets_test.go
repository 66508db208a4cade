package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestBudgetsKeepThePromise: unchanged reports of 80 cells with five budgets are red no
// more often than the policy promises. 2 % of 240 are 5; 11 and more have a chance of 1 %.
// It takes 2 s, because fewer reports say nothing of a rate of 2 %.
func TestBudgetsKeepThePromise(t *testing.T) {
	t.Parallel()
	var red, over detectors.Rate
	for _, r := range reports.MeasureBudgets(10, nil) {
		red.Join(r.Red)
		over.Join(r.Over)
	}
	if red.Of != 240 || red.Hits > 10 || over.Hits > 6 {
		t.Errorf("%v of unchanged reports are red, %v for a budget", red, over)
	}
}

// TestBudgetsPageNightly holds the table of docs/detection/rates.md, and that it keeps the promise.
func TestBudgetsPageNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	rates := reports.Budgets(&table, 100)
	var red detectors.Rate
	for _, r := range rates {
		red.Join(r.Red)
	}
	if red.Percent() > 2 {
		t.Errorf("%v of unchanged reports are red, want at most 2 %%", red)
	}
	page(t, "rates.md", "TestBudgetsPageNightly", "budgets", table.String())
}

// page holds the table of a page of docs/detection that a test writes.
func page(t *testing.T, name, test, what, table string) {
	t.Helper()
	begin, end := "<!-- what follows is written by go test ./internal/testing/evaluate/reports -run "+test+" -update -->\n", "<!-- end of the table of "+what+" -->\n"
	path := filepath.Join("..", "..", "..", "..", "docs", "detection", name)
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	was, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/detection/%s has no marks for the table of %s", name, what)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if strings.TrimSpace(was) != strings.TrimSpace(table) {
		t.Errorf("docs/detection/%s does not hold what the gate does:\n%s", name, table)
	}
}
