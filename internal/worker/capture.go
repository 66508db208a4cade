package worker

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	logLines = 40   // lines that a report shows without scrolling for long
	logLine  = 1000 // bytes of one line
	readSize = 32 << 10
)

// output receives what a child prints.
type output interface {
	// start reads both streams to their ends. What was kept may be looked at
	// only after await returned true, unless it says otherwise.
	start(stdout, stderr io.Reader)
	// await waits for the streams to end and gives up when limit yields a
	// value. It is for one goroutine.
	await(limit <-chan time.Time) bool
}

// streams reads the output of a child to its end, so that a child cannot
// block on a full pipe.
type streams struct {
	eof  chan struct{} // one value for each stream that ended
	open int           // streams whose value was not taken yet
	last atomic.Int64  // when something was read, in nanoseconds since the epoch
}

// sink receives one stream.
type sink interface {
	write([]byte)
	flush() // at the end
}

func (s *streams) read(stdout, stderr io.Reader, out, err sink) {
	s.eof, s.open = make(chan struct{}, 2), 2
	go s.drain(stdout, out)
	go s.drain(stderr, err)
}

func (s *streams) await(limit <-chan time.Time) bool {
	for ; s.open > 0; s.open-- {
		select {
		case <-s.eof:
		case <-limit:
			return false
		}
	}
	return true
}

func (s *streams) drain(r io.Reader, to sink) {
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.last.Store(time.Now().UnixNano())
		}
		to.write(buf[:n])
		if err != nil { // the end, or the reading side was closed
			to.flush()
			s.eof <- struct{}{}
			return
		}
	}
}

// capture keeps the wanted parts of a child's output and discards the rest,
// so that a child cannot fill our memory.
type capture struct {
	streams
	stdout     head
	stderr     tail
	log        lastLines
	transcript transcript
	stacks     stacks
}

func newCapture(maxStdout, maxStderr int) *capture {
	return &capture{stdout: head{max: maxStdout}, stderr: tail{max: maxStderr}}
}

func (c *capture) start(stdout, stderr io.Reader) {
	c.read(stdout, stderr,
		&logged{c.copied(c.stdout.write), splitter{log: &c.log}}, &logged{c.copied(c.stderr.write), splitter{log: &c.log}})
}

// copied also writes a stream to the transcript, if one is wanted, and to the stacks while
// the child is asked for them.
func (c *capture) copied(keep func([]byte)) func([]byte) {
	return func(p []byte) {
		keep(p)
		if c.transcript.max > 0 {
			c.transcript.write(p)
		}
		c.stacks.write(p)
	}
}

// report puts what was kept into resp.
func (c *capture) report(resp *Response) {
	resp.Transcript = c.transcript.String()
	resp.Stdout, resp.StdoutTruncated = c.stdout.buf, c.stdout.truncated
	resp.Stderr = c.stderr.bytes()
	resp.Log = c.log.String()
	resp.Log = cmp.Or(c.stacks.String(), resp.Log)
}

// logged is a stream that is kept and also logged.
type logged struct {
	keep func([]byte)
	splitter
}

func (l *logged) write(p []byte) {
	l.keep(p)
	l.splitter.write(p)
}

// head keeps the first max bytes.
type head struct {
	max       int
	buf       []byte
	truncated bool
}

func (h *head) write(p []byte) {
	if room := h.max - len(h.buf); len(p) > room {
		p = p[:room]
		h.truncated = true
	}
	h.buf = append(h.buf, p...)
}

// tail keeps the last max bytes. Its buffer holds up to twice as many, so that
// moving them costs little per byte.
type tail struct {
	max int
	buf []byte
}

func (t *tail) write(p []byte) {
	if len(p) > t.max {
		p = p[len(p)-t.max:]
	}
	if len(t.buf)+len(p) > 2*t.max {
		t.buf = t.buf[:copy(t.buf, t.bytes())]
	}
	t.buf = append(t.buf, p...)
}

func (t *tail) bytes() []byte { return t.buf[max(0, len(t.buf)-t.max):] }

// lastLines keeps the last lines of several streams. Streams are mixed by
// whole lines only.
type lastLines struct {
	mu   sync.Mutex
	ring [logLines][]byte
	n    int // lines ever added
}

func (l *lastLines) add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.ring[l.n%logLines]
	*slot = append((*slot)[:0], line...)
	l.n++
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for i := max(0, l.n-logLines); i < l.n; i++ {
		b.Write(l.ring[i%logLines])
		b.WriteByte('\n')
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

func (l *lastLines) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n = 0
}

// splitter cuts one stream into lines. A carriage return starts the line over
// as on a terminal: of a progress bar only its last state is worth keeping.
type splitter struct {
	log  *lastLines
	line []byte // what came of the current line, at most logLine bytes
	cut  bool   // more came than line holds
	over bool   // the last byte was a carriage return
}

func (s *splitter) write(p []byte) {
	eachLine(s.skip(p), s.extend, s.end)
}

// eachLine passes p on in pieces, and reports each end of a line.
func eachLine(p []byte, extend func([]byte), end func()) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			extend(p)
			return
		}
		extend(p[:i])
		end()
		p = p[i+1:]
	}
}

// skip drops lines that later ones in p push out anyway, which makes a flood
// of output cheap.
func (s *splitter) skip(p []byte) []byte {
	start := len(p)
	for range logLines + 1 {
		if start = bytes.LastIndexByte(p[:start], '\n'); start < 0 {
			return p
		}
	}
	s.reset()
	return p[start+1:]
}

func (s *splitter) extend(p []byte) {
	if len(p) == 0 {
		return
	}
	if s.over {
		s.reset()
	}
	p, over := bytes.CutSuffix(p, []byte{'\r'})
	if i := bytes.LastIndexByte(p, '\r'); i >= 0 {
		s.reset()
		p = p[i+1:]
	}
	if room := logLine - len(s.line); len(p) > room {
		p = p[:room]
		s.cut = true
	}
	s.line = append(s.line, p...)
	s.over = over
}

func (s *splitter) end() {
	if s.cut {
		s.line = append(s.line, "..."...)
	}
	s.log.add(s.line)
	s.reset()
}

func (s *splitter) reset() { s.line, s.cut, s.over = s.line[:0], false, false }

func (s *splitter) flush() {
	if len(s.line) > 0 {
		s.end()
	}
}
