package worker

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// dumpWait bounds the time that processes have to print their stacks.
	dumpWait = 5 * time.Second
	// dumpQuiet is the time without output after which they are taken for printed.
	dumpQuiet = 300 * time.Millisecond
	maxStacks = 64 << 10 // bytes that are kept
	// The lines of a log that has stacks: those that the child had printed before, and
	// those of the stacks.
	linesBefore, linesOfStacks = 15, 100
)

// stacks keeps what a child prints while it is asked for its stacks.
type stacks struct {
	mu     sync.Mutex
	asked  bool
	before string // the log until then
	text   head
}

// begin begins to keep. The log is that until now.
func (s *stacks) begin(log string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.before, s.text.max = true, log, maxStacks
}

func (s *stacks) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked {
		s.text.write(p)
	}
}

// note adds a line of our own.
func (s *stacks) note(format string, args ...any) {
	s.write(fmt.Appendf(nil, "accelgate: "+format+"\n", args...))
}

// String is a log with the stacks at its end; "" where none were asked for.
func (s *stacks) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		return ""
	}
	before := strings.Split(strings.TrimRight(s.before, "\n"), "\n")
	after := strings.Split(strings.TrimRight(string(s.text.buf), "\n"), "\n")
	for i, line := range after {
		after[i] = line[:min(len(line), logLine)]
	}
	lines := append(before[max(0, len(before)-linesBefore):], "accelgate: stacks when it was stopped:")
	lines = append(lines, after[:min(len(after), linesOfStacks)]...)
	return strings.ToValidUTF8(strings.Join(lines, "\n")+"\n", "\uFFFD")
}

// dumps reports whether a child that comes to this end is asked for its stacks.
func (r *Request) dumps(end End) bool { return r.Dump && (end == TimedOut || end == Silent) }

// dump asks the processes of the tree for their stacks, and waits until they have printed
// them. The log is what the child has printed so far, last when it last printed something, and
// environ the environment in which programs are looked up.
func (c *child) dump(to *stacks, last *atomic.Int64, log string, environ []string) {
	to.begin(log)
	began := time.Now()
	if c.requestStacks(to, environ) {
		awaitStacks(began, last, c.exitsWithin)
	}
}

// awaitStacks waits until stacks are printed, or what prints them has exited.
func awaitStacks(began time.Time, last *atomic.Int64, exitsWithin func(time.Duration) bool) {
	for time.Since(began) < dumpWait && !exitsWithin(dumpQuiet/6) {
		if at := time.Unix(0, last.Load()); at.After(began) && time.Since(at) > dumpQuiet {
			return
		}
	}
}
