package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/suite"
)

// quietProgress is how often a log is told how far a load is.
const quietProgress = 30 * time.Second

// progressWidth is how much of a terminal's line progress takes.
const progressWidth = 79

// showProgress returns what shows how far a measurement is: one line that is
// written over on a terminal, and now and then a line elsewhere.
func (c *Command) showProgress() func(suite.Progress) {
	var mu sync.Mutex
	last := c.Now()
	terminal := isTerminal(c.Stderr) && c.Getenv("CI") == ""
	return func(p suite.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := c.Now()
		switch {
		case terminal && p.Ended:
			fmt.Fprintf(c.Stderr, "\r%s\r", strings.Repeat(" ", progressWidth))
		case terminal:
			fmt.Fprintf(c.Stderr, "\r%-*.*s", progressWidth, progressWidth, progressLine(p))
		case p.Ended:
		case now.Sub(last) >= quietProgress:
			last = now
			fmt.Fprintf(c.Stderr, "accelgate: %s\n", progressLine(p))
		}
	}
}

func progressLine(p suite.Progress) string {
	line := fmt.Sprintf("%s: %d requests, %.1f/s", oneLine(p.Cell), p.Done, p.Rate)
	if p.Failed > 0 {
		line += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Left > 0 {
		line += fmt.Sprintf(", %v left", p.Left.Round(time.Second))
	}
	return line
}
