package reports_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var update = flag.Bool("update", false, "write the tables into docs/detection/data")

func load(t testing.TB) (d detectors.Data) {
	t.Helper()
	dir := filepath.Join(testtier.Data(t, "the roads were NOT evaluated", "series/"), "series")
	var errs [3]error
	d.Sets, errs[0] = detectors.Load(dir)
	d.Own, errs[1] = detectors.LoadPairs(dir)
	d.Kernels, errs[2] = detectors.LoadRepeats(dir)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// hold compares printed tables with a file of docs/detection/data, or writes it.
func hold(t *testing.T, name, tables string) {
	t.Helper()
	t.Log(tables)
	if err := detectors.Hold(filepath.Join("..", "..", "..", ".."), name, tables, *update); err != nil {
		t.Error(err)
	}
}

// TestMethodsNightly holds the rates of each method that the gate reaches on the data.
func TestMethodsNightly(t *testing.T) {
	testtier.Nightly(t)
	var tables, promise bytes.Buffer
	reports.Methods(&tables, &promise, load(t))
	hold(t, "promise.csv", promise.String())
	hold(t, "methods.csv", tables.String())
}

// TestKeyHasTheRatesOfThePage holds the description of policy.false_alarms to the first
// table of docs/detection.md. It needs no data.
func TestKeyHasTheRatesOfThePage(t *testing.T) {
	t.Parallel()
	read := func(page string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, key, _ := strings.Cut(read("keys.md"), "\n- `policy.false_alarms`")
	key, _, _ = strings.Cut(key, "\n")
	table := read("detection.md")
	for method, row := range map[string]string{
		"in pairs":                       "pairs in stages, generated hosts",
		"by 3 new runs against history":  "history, 3 new runs, all sets",
		"by the next run of the default": "default branch, confirmed by the next run, all sets",
		"by two sessions of a loaded":    "fixed threshold, sessions of a loaded host",
	} {
		rate := regexp.MustCompile(`([0-9.]+)% ` + method).FindStringSubmatch(key)
		measured := regexp.MustCompile(`\n\| ` + row + ` \| \d+ \| ([0-9.]+) \[`).FindStringSubmatch(table)
		if rate == nil || measured == nil || rate[1] != measured[1] {
			t.Errorf("%s: the key has %q, the page %q", method, rate, measured)
		}
	}
}

// aim is what a road must hold.
type aim struct {
	red   float64   // percent of unchanged reports, at most
	found []float64 // percent, at least, by effect; 0 is no aim
	cost  float64   // at most; 0 is no aim
}

func check(t *testing.T, name string, got reports.Rates, want aim) {
	t.Helper()
	if got.Red.Of == 0 || got.Red.Percent() > want.red {
		t.Errorf("%s: %v of reports are red, want at most %v %%", name, got.Red, want.red)
	}
	for i, minimum := range want.found {
		if got.Found[i].Percent() < minimum {
			t.Errorf("%s: %v found at %v, want at least %v %%", name, got.Found[i], got.Effects[i], minimum)
		}
	}
	if want.cost > 0 && got.Cost > want.cost {
		t.Errorf("%s: %.2f measurements of an unchanged cell, want at most %v", name, got.Cost, want.cost)
	}
}

// TestAimsThorough holds the aims through the gate, on the data that is here. The
// aim of 70 % at +10 % by 3 runs against history is of quieter series and missed on
// these, and the next run and two sessions miss the promise; what they reach must not
// get less.
func TestAimsThorough(t *testing.T) {
	testtier.Thorough(t)
	d := load(t)
	check(t, "pairs on a loaded host", reports.Own(d), aim{5, []float64{0, 22, 47, 67}, 9})
	check(t, "pairs of GPU kernels", reports.KernelRates(d), aim{2, []float64{0, 50, 85, 95}, 9})
	check(t, "history, 3 runs", reports.HistoryRates(d, 3), aim{2, []float64{17, 28, 50, 67}, 3})
	check(t, "history, 5 runs", reports.HistoryRates(d, 5), aim{2, []float64{16, 31, 52, 71}, 5})
	check(t, "next run", reports.NextRates(d), aim{4, []float64{17, 27, 48, 66}, 1})
	check(t, "two sessions", reports.SessionRates(d), aim{7, []float64{0, 0, 20, 45}, 9})
}

// TestGeneratedHosts needs no data: few reports of each host and road.
func TestGeneratedHosts(t *testing.T) {
	t.Parallel()
	for name, roads := range reports.GeneratedRates(12) {
		for i, r := range roads {
			if r.Red.Hits > 2 {
				t.Errorf("%s, %s: %v of unchanged reports are red", name, r.Road, r.Red)
			}
			if minimum := []float64{80, 30, 0, 0}[i]; r.Found[0].Percent() < minimum {
				t.Errorf("%s, %s: %v of slow-downs of 20 %% are found, want %v %%", name, r.Road, r.Found[0], minimum)
			}
		}
	}
}
