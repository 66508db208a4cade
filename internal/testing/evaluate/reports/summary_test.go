package reports_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	promiseRow = regexp.MustCompile(`(?m)^\| [a-z].* \| \d+ \| .*$`)
	foundRow   = regexp.MustCompile(`(?m)^\| ([A-Z].*) \| ([0-9 /]+) % \| ([0-9 /]+) \|$`)
)

// TestSummaryHasTheRatesOfTheTables holds the two tables of docs/detection.md to docs/detection/rates.md. It needs no data.
func TestSummaryHasTheRatesOfTheTables(t *testing.T) {
	t.Parallel()
	var texts [2]string
	for i, name := range []string{"detection.md", "detection/rates.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	_, summary, _ := strings.Cut(texts[0], "\n## What a whole report promises\n")
	summary, _, _ = strings.Cut(summary, "\n## ")
	promises, found := promiseRow.FindAllString(summary, -1), foundRow.FindAllStringSubmatch(summary, -1)
	if len(promises) < 5 || len(found) < 5 {
		t.Fatalf("docs/detection.md has %d rates of false alarms and %d of found losses", len(promises), len(found))
	}
	for _, row := range promises {
		if !strings.HasPrefix(row, "| method") && !strings.Contains(texts[1], "\n"+row+"\n") {
			t.Errorf("docs/detection/rates.md has no row %s", row)
		}
	}
	for _, row := range found {
		_, table, _ := strings.Cut(texts[1], "\n#### "+row[1]+"\n")
		if effects, rates := gateOf(table); effects != row[2] || rates != row[3] {
			t.Errorf("%s: %s %% found at %s %%, docs/detection/rates.md has %s at %s", row[1], row[3], row[2], rates, effects)
		}
	}
}

// gateOf returns the effects of a table and how many losses the gate finds, as docs/detection.md writes them.
func gateOf(table string) (effects, rates string) {
	lines := strings.Split(table, "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[3], "| **the gate** |") {
		return "none", "none"
	}
	cells := func(line string) []string { return strings.Split(strings.Trim(line, "| "), " | ")[5:9] }
	effects = strings.NewReplacer("+", "", " %", "").Replace(strings.Join(cells(lines[1]), " / "))
	return effects, strings.Join(cells(lines[3]), " / ")
}
