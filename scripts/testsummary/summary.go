package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// result is one package or test.
type result struct {
	name    string
	seconds float64
}

type summary struct {
	w                       io.Writer
	start                   time.Time
	passed, failed, skipped int
	elsewhere               int                 // tests of another tier
	reasons                 map[string][]string // tests by the reason for which they were skipped
	passedTop               []string
	packages, tests         []result
	output                  map[string]*strings.Builder // by package and test, until it ends
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, start: time.Now(), reasons: map[string][]string{}, output: map[string]*strings.Builder{}}
}

func (s *summary) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.w, e.Output)
	case "output":
		if s.output[key] == nil {
			s.output[key] = &strings.Builder{}
		}
		s.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		s.end(e, key)
		delete(s.output, key)
	}
}

func (s *summary) end(e event, key string) {
	printed := ""
	if b := s.output[key]; b != nil {
		printed = b.String()
	}
	if e.Test == "" {
		s.endPackage(e, printed)
		return
	}
	top := !strings.Contains(e.Test, "/")
	s.tests = append(s.tests, result{key, e.Elapsed})
	switch e.Action {
	case "pass":
		s.passed++
		if top {
			s.passedTop = append(s.passedTop, key)
		}
	case "fail":
		s.failed++
		fmt.Fprint(s.w, printed)
	case "skip":
		s.skip(key, printed)
	}
}

func (s *summary) endPackage(e event, printed string) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(s.w, "ok    %-32s %6.1f s\n", e.Package, e.Elapsed)
		s.packages = append(s.packages, result{e.Package, e.Elapsed})
	case "fail":
		s.failed++
		fmt.Fprintf(s.w, "%sFAIL  %-32s %6.1f s\n", printed, e.Package, e.Elapsed)
		s.packages = append(s.packages, result{e.Package, e.Elapsed})
		for key, b := range s.output { // tests that the end of the package cut off
			if strings.HasPrefix(key, e.Package+" ") && key != e.Package+" " {
				fmt.Fprintf(s.w, "cut off: %s\n%s", key, b)
			}
		}
	}
}

// skip files a skipped test under its reason: what it logged last.
func (s *summary) skip(key, printed string) {
	reason := "no reason"
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			_, reason, _ = strings.Cut(text, ": ")
		} else if reason != "no reason" && !strings.HasPrefix(line, "---") {
			reason += " " + line
		}
	}
	if strings.HasPrefix(reason, "in make ") {
		s.elsewhere++
		return
	}
	s.skipped++
	s.reasons[reason] = append(s.reasons[reason], key)
}

const slowest = 5

func (s *summary) print(wall time.Duration) {
	fmt.Fprintf(s.w, "\n%d packages in %.0f s; %d tests of other tiers left out\n", len(s.packages), wall.Seconds(), s.elsewhere)
	s.slow("packages", s.packages)
	s.slow("tests", s.tests)
	for _, reason := range slices.Sorted(maps.Keys(s.reasons)) {
		fmt.Fprintf(s.w, "skipped: %s: %s\n", strings.Join(s.reasons[reason], ", "), reason)
	}
	fmt.Fprintf(s.w, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}

func (s *summary) slow(what string, of []result) {
	slices.SortFunc(of, func(a, b result) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), strings.Compare(a.name, b.name))
	})
	fmt.Fprintf(s.w, "slowest %s:", what)
	for i, r := range of[:min(slowest, len(of))] {
		if i > 0 {
			fmt.Fprint(s.w, ",")
		}
		fmt.Fprintf(s.w, " %s %.1f s", r.name, r.seconds)
	}
	fmt.Fprintln(s.w)
}
