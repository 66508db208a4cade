package reports_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	promiseRow = regexp.MustCompile(`(?m)^\| ([a-z].*) \| (\d+) \| (.*) \| (.*) \|$`)
	foundRow   = regexp.MustCompile(`(?m)^\| ([A-Z].*) \| ([0-9 /]+) % \| ([0-9 /]+) \|$`)
)

// TestSummaryHasTheMeasuredRates holds the two tables of docs/detection.md to docs/detection/data. It needs no data.
func TestSummaryHasTheMeasuredRates(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(docs, "detection.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, summary, _ := strings.Cut(string(text), "\n## What a whole report promises\n")
	summary, _, _ = strings.Cut(summary, "\n## ")
	promises, found := promiseRow.FindAllStringSubmatch(summary, -1), foundRow.FindAllStringSubmatch(summary, -1)
	if len(promises) < 5 || len(found) < 5 {
		t.Fatalf("docs/detection.md has %d rates of false alarms and %d of found losses", len(promises), len(found))
	}
	promise, methods := recorded(t, "promise.csv"), recorded(t, "methods.csv")
	for _, row := range promises {
		got := firstRow(promise, "method and data", row[1])
		if got["reports"] != row[2] || got["red %"] != row[3] || got["result"] != strings.Trim(row[4], "*") {
			t.Errorf("%s, docs/detection/data/promise.csv has %v", row[0], got)
		}
	}
	for _, row := range found {
		got := firstRow(methods, "table", row[1])
		var rates []string
		for effect := range strings.SplitSeq(row[2], " / ") {
			rates = append(rates, got["+"+effect+" %"])
		}
		if got["rule"] != "the gate" || strings.Join(rates, " / ") != row[3] {
			t.Errorf("%s, docs/detection/data/methods.csv has %v", row[0], got)
		}
	}
}

// docs is the folder of the pages.
var docs = filepath.Join("..", "..", "..", "..", "docs")

// recorded reads a file of docs/detection/data as rows by column.
func recorded(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(docs, "detection", "data", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// firstRow returns the first row with that value in a column, or nil.
func firstRow(rows []map[string]string, column, value string) map[string]string {
	for _, row := range rows {
		if row[column] == value {
			return row
		}
	}
	return nil
}

// TestPageHasTheMeasuredNoise holds the table of cells by their noise, in docs/detection/rates.md, to docs/detection/data. It needs no data.
func TestPageHasTheMeasuredNoise(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(docs, "detection", "rates.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := recorded(t, "noise.csv")
	for label, cells := range map[string]string{
		"below 0.75 %": "3, quiet, noise < 0.75 %",
		"0.75 to 2 %":  "3, medium, 0.75-2 %",
		"2 to 5 %":     "3, noisy, 2-5 %",
		"above 5 %":    "3, very noisy, > 5 %",
	} {
		got := firstRow(rows, "n, cells", cells)
		var found []string
		for _, effect := range []string{"+2 %", "+3 %", "+5 %", "+10 %", "+20 %"} {
			percent, _, _ := strings.Cut(got[effect], " ")
			found = append(found, percent)
		}
		if row := "\n| " + label + " | " + strings.Join(found, " / ") + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/detection/rates.md has no row%s", row)
		}
	}
}
