package measure

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/terminal"
	"github.com/accelgate/accelgate/internal/text"
)

// quietProgress is how often a log gets the progress of a load.
const quietProgress = 30 * time.Second

// progressWidth is how much of a terminal's line progress takes.
const progressWidth = 79

// showProgress returns what shows how far a measurement is: one line that is
// written over on a terminal, and now and then a line elsewhere.
func (e *Env) showProgress() func(suite.Progress) {
	var mu sync.Mutex
	last := e.Now()
	live := terminal.Is(e.Stderr) && e.Getenv("CI") == ""
	return func(p suite.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := e.Now()
		switch {
		case live && p.Ended:
			fmt.Fprintf(e.Stderr, "\r%s\r", strings.Repeat(" ", progressWidth))
		case live:
			fmt.Fprintf(e.Stderr, "\r%-*.*s", progressWidth, progressWidth, progressLine(p))
		case p.Ended:
		case now.Sub(last) >= quietProgress:
			last = now
			fmt.Fprintf(e.Stderr, "accelgate: %s\n", progressLine(p))
		}
	}
}

func progressLine(p suite.Progress) string {
	line := fmt.Sprintf("%s: %d requests, %.1f/s", text.OneLine(p.Cell), p.Done, p.Rate)
	if p.Failed > 0 {
		line += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Left > 0 {
		line += fmt.Sprintf(", %v left", p.Left.Round(time.Second))
	}
	return line
}

// progress prints a line per measurement, with the metrics that are gated.
func progress(w io.Writer, metrics []bench.Metric) func(runner.Event) {
	shown := map[string]bool{}
	for _, m := range metrics {
		shown[m.Name] = !m.Informational
	}
	return func(e runner.Event) {
		if e.Skipped {
			return
		}
		r, word := &e.Result, string(e.Result.Outcome)
		if e.Reused {
			word = "kept"
		}
		fmt.Fprintf(w, "[%d/%d %d/%d] %-9s %s%s\n", e.Round, e.Rounds, e.Index, e.Of, word, r.Cell.ID(), numbers(r, shown))
	}
}

// numbers writes a result's values that are to be shown, or why it has none.
func numbers(r *bench.Result, shown map[string]bool) string {
	if r.Outcome != bench.Passed {
		return ": " + text.OneLine(r.Reason)
	}
	var b strings.Builder
	for _, s := range r.Samples {
		if !shown[s.Metric] {
			continue
		}
		fmt.Fprintf(&b, "  %s %.4g", s.Metric, s.Values[len(s.Values)-1])
	}
	return b.String()
}
