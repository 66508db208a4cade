package report_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// TestTerminalWidths holds for all scenarios, for what explain prints of their cells, and for
// random reports with long and hostile names: no line is wider than the terminal but
// commands, paths and addresses, which are copied.
func TestTerminalWidths(t *testing.T) {
	for _, name := range names(t) {
		r := report.New(load(t, name).input())
		checkWidths(t, name, r)
		checkTrimmed(t, name, render(t, report.Terminal, r))
	}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 37))
		evil := hostile[random.IntN(len(hostile))]
		checkWidths(t, fmt.Sprintf("seed %d", seed), report.New(judged(report.Input{Tool: "accelgate v0.1.0"}, grid(6, 6, func(res *bench.Result) bool {
			res.Cell = bench.Cell{Suite: "engine", Raw: strings.Repeat("long", random.IntN(30)) + res.Cell.ID() + evil}
			switch random.IntN(5) {
			case 0:
				return crash(res, strings.Repeat("error "+evil+" of a kind that has a long name, ", random.IntN(9)))
			case 1:
				res.Outcome, res.Reason = bench.Incorrect, strings.Repeat("the answer lacks "+evil, random.IntN(30))
			case 2:
				res.Samples[0].Values = []float64{50 + 50*random.Float64()}
			}
			return true
		}))))
	}
}

func checkWidths(t *testing.T, name string, r report.Report) {
	t.Helper()
	for _, columns := range []int{1, 60, 80, 120} {
		text := render(t, report.TerminalWith(report.TerminalOptions{Columns: columns}), r)
		checkTrimmed(t, name, text)
		for line := range strings.Lines(text + explained(t, r, r.CellIDs(), columns)) {
			line = strings.TrimSuffix(line, "\n")
			if n := terminal.Width(line); n > max(60, columns) && !copied(line) {
				t.Errorf("%s: %d columns at %d: %q", name, n, columns, line)
			}
		}
	}
}

// copied reports a line that is one command, path or address.
func copied(line string) bool {
	line = strings.TrimLeft(line, " -|")
	return regexp.MustCompile(`^(accelgate|git|\./engine) `).MatchString(line) || strings.Contains(line, "/") && !strings.Contains(line, " ")
}

func checkTrimmed(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("%s: %q has trailing space", name, line)
		}
	}
}

// TestTerminalShowsIDs shows each id that needs action whole where the terminal is as wide.
func TestTerminalShowsIDs(t *testing.T) {
	for _, name := range names(t) {
		r := report.New(load(t, name).input())
		for _, columns := range []int{0, 80, 400} {
			text := render(t, report.TerminalWith(report.TerminalOptions{Columns: columns}), r)
			for _, f := range r.Findings(9) {
				if f.Severity() != report.Notice && !f.LeftOut && len(f.Cell) <= 80 && !strings.Contains(text, f.Cell) {
					t.Errorf("%s at %d columns: %q is not shown whole", name, columns, f.Cell)
				}
			}
		}
	}
}

func TestTerminalFirstLine(t *testing.T) {
	for _, c := range []struct{ scenario, want string }{
		{"green", "PASS: 6 cells are right and none is slower than the baseline allows (limit 10 %, 12 numbers compared)"},
		{"regressed", "FAIL: 1 of 11 cells gives a wrong answer and 2 are slower, on 1 of 2 hosts"},
		{"many", "FAIL: 40 of 48 cells are slower"},
		{"missing", "FAIL: 1 of 6 cells is newly skipped and 2 are missing or lack a metric"},
		{"first", `WARN: answers are right (6 cells); speed was NOT judged: there is no baseline for this host. Next: accelgate baseline update --reason "first baseline"`},
		{"demanded", `ACTION REQUIRED: answers are right (9 cells); speed was NOT judged on 1 of 2 hosts: there is no baseline for this host. Next: accelgate baseline update --reason "first baseline"`},
		{"elsewhere", `FAIL: this is not the host of the baseline on 1 of 2 hosts (accelerator is "NVIDIA H200", the baseline's is "NVIDIA H100 80GB HBM3"); 1 of 3 cells gives a wrong answer, on 1 of 2 hosts`},
		{"refused", `FAIL: this is not the host of the baseline (accelerator is "NVIDIA H100 80GB HBM3 + NVIDIA H100 80GB HBM3", the baseline's is "NVIDIA H100 80GB HBM3"). Next: accelgate run --host-label new-label`},
		{"limits", "FAIL: 4 of 16 cells fail to run, 1 was not measured and 1 is slower"},
		{"compat", "WARN: 1 cell is known to fail; 1 of 3 cells passed (no answer was checked), 2 fail without blocking (compat: tensorsharp), and the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 1 number compared)"},
		{"cases", "FAIL: 1 of 6 cells is slower, 1 has drifted beyond its limit and 1 has other operators than recorded"},
		{"replay", "FAIL: 2 of 7 cells are slower and 1 is faster than allowed"},
		{"unread", "FAIL: 2 of 4 cells fail to run and 1 is slower"},
		{"exact", "PASS: 1 cell ran (no answer was checked) and it is equal to the recorded time"},
		{"unequal", "FAIL: 1 of 2 cells differs in a metric that must be equal"},
		{"nothing", "NO EVIDENCE: not one cell was measured (2 skipped, 0 left out by a filter). Next: accelgate run --list"},
	} {
		text := render(t, report.Terminal, report.New(load(t, c.scenario).input()))
		if got, _, _ := strings.Cut(text, "\n"); got != c.want {
			t.Errorf("%s: first line\n%s\nwant\n%s", c.scenario, got, c.want)
		}
	}
}

func TestTerminalColorOnlyWhenAsked(t *testing.T) {
	r := report.New(load(t, "regressed").input())
	plain := render(t, report.Terminal, r)
	colour := render(t, report.TerminalWith(report.TerminalOptions{Color: true}), r)
	if strings.Contains(plain, "\x1b") {
		t.Error("escape sequences without asking")
	}
	if want := "\x1b[1;31mFAIL\x1b[0m: 1 of 11"; !strings.HasPrefix(colour, want) {
		t.Errorf("starts with %q, want %q", colour[:40], want)
	}
}

// checkPlain fails on anything that moves a cursor or commands a runner.
func checkPlain(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Error("invalid UTF-8")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("%q is not printable", line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("%q is a command to the runner", line)
		}
	}
}

func TestTerminalIsPlain(t *testing.T) {
	for _, evil := range hostile {
		r := report.New(planted(evil))
		checkPlain(t, render(t, report.Terminal, r))
		checkPlain(t, render(t, report.TerminalWith(report.TerminalOptions{Columns: 60}), r))
		for _, f := range console {
			checkPlain(t, render(t, f, r))
		}
	}
	bare := judged(report.Input{}, host(3))
	for i := range bare.Hosts[0].Comparison.Verdicts {
		bare.Hosts[0].Comparison.Verdicts[i].Cell = "::error::x"
	}
	bare.Hosts[0].Run.Host.Label = "::warning::x"
	checkPlain(t, render(t, report.Terminal, report.New(bare)))
}

// TestTerminalLinks: an address is a hyperlink only where the terminal has them, and only
// if it is one.
func TestTerminalLinks(t *testing.T) {
	r := report.New(load(t, "regressed").input())
	const link = "\x1b]8;;" + ownLink + "\x1b\\workflow run\x1b]8;;\x1b\\"
	with := render(t, report.TerminalWith(report.TerminalOptions{Links: true}), r)
	if !strings.Contains(with, link) || strings.Contains(with, "workflow run "+ownLink) {
		t.Errorf("lacks the hyperlink:\n%s", with)
	}
	checkPlain(t, strings.ReplaceAll(with, link, "workflow run "+ownLink))
	for _, evil := range hostile {
		text := render(t, report.TerminalWith(report.TerminalOptions{Links: true}), report.New(planted(evil)))
		checkPlain(t, strings.ReplaceAll(text, strings.ReplaceAll(link, "workflow run", "whole report"), ""))
	}
}
