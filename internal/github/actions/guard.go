package actions

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
)

// Guard returns a writer to standard output for untrusted text, such as the
// log of a measured program: none of it is obeyed by the runner. It must be
// closed; until then the runner ignores all commands but those that the Action
// itself issues in between.
//
// Two defences stand behind one another. The runner is told to stop obeying
// commands until it reads a random token that no other process has seen
// (stop-commands, src/Runner.Worker/ActionCommandManager.cs); and what could
// be read as a command is changed visibly, as by [Defang], because the runner
// reads standard error independently and out of step.
func (a *Action) Guard() (io.WriteCloser, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.guards++
	if a.guards == 1 {
		if err := a.resume(); err != nil {
			a.guards--
			return nil, fmt.Errorf("guard untrusted output: %w", err)
		}
	}
	return &guard{action: a}, nil
}

type guard struct {
	action *Action
	closed bool
}

func (g *guard) Write(p []byte) (int, error) {
	g.action.mu.Lock()
	defer g.action.mu.Unlock()
	if g.closed {
		return 0, os.ErrClosed
	}
	return g.action.out.defang(p)
}

// Close lets the runner obey commands again. Closing twice does nothing.
func (g *guard) Close() error {
	a := g.action
	a.mu.Lock()
	defer a.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	var err error
	if a.guards == 1 {
		err = a.pause()
	}
	a.guards--
	return err
}

// pause makes the runner obey commands although guards are open. Each resume
// takes a new token, since the runner shows the old one in the log.
func (a *Action) pause() error {
	if a.guards == 0 {
		return nil
	}
	if err := a.out.endLine(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "::%s::\n", a.token)
	return err
}

// resume makes the runner ignore commands again if guards are open.
func (a *Action) resume() error {
	if a.guards == 0 {
		return nil
	}
	a.token = rand.Text()
	_, err := fmt.Fprintf(a.out, "::stop-commands::%s\n", a.token)
	return err
}

// Defang returns a writer that passes text on to w with everything changed
// that the runner could read as a command: "::" at the start of a line becomes
// ": :", and "##[" becomes "## [" wherever it stands. It is meant for standard
// error, where stop-commands does not help, because the runner queues the two
// streams separately (src/Runner.Sdk/ProcessInvoker.cs).
//
// It may be called by one goroutine at a time.
func Defang(w io.Writer) io.Writer { return defanged{&lineWriter{w: w, start: true}} }

type defanged struct{ out *lineWriter }

func (d defanged) Write(p []byte) (int, error) { return d.out.defang(p) }

// lineWriter writes to w and knows where in a line it is.
//
// What it goes by: lines end at LF, CR or CRLF (StreamReader.ReadLine in
// src/Runner.Sdk/ProcessInvoker.cs). A line is a command if it starts with
// "::" after white space, or holds "##[" anywhere (TryParseV2 and TryParse in
// src/Runner.Common/ActionCommand.cs). White space there is Unicode's; every
// byte outside of printable ASCII is taken for it here, which errs on the
// safe side.
type lineWriter struct {
	w      io.Writer
	start  bool // only white space since the line began
	colons int  // 1 after the first ":" of a line
	hashes int  // consecutive "#" just written
	open   bool // something follows the last LF
	buf    []byte
}

// Write passes p on as it is.
func (l *lineWriter) Write(p []byte) (int, error) {
	for _, c := range p {
		l.advance(c)
	}
	return l.w.Write(p)
}

// defang passes p on with commands made harmless.
func (l *lineWriter) defang(p []byte) (written int, err error) {
	for len(p) > 0 {
		chunk := p[:min(len(p), 32<<10)]
		l.buf = l.buf[:0]
		for _, c := range chunk {
			if c == ':' && l.start && l.colons == 1 || c == '[' && l.hashes >= 2 {
				l.buf = append(l.buf, ' ')
				l.advance(' ')
			}
			l.buf = append(l.buf, c)
			l.advance(c)
		}
		if _, err := l.w.Write(l.buf); err != nil {
			return written, err
		}
		written += len(chunk)
		p = p[len(chunk):]
	}
	return written, nil
}

func (l *lineWriter) advance(c byte) {
	l.open = c != '\n'
	switch {
	case c == '\n' || c == '\r':
		l.start, l.colons = true, 0
	case l.colons == 1:
		l.start = false
	case c == ':':
		l.colons = 1
	case c > ' ' && c < 0x7f:
		l.start = false
	}
	if c == '#' {
		l.hashes++
	} else {
		l.hashes = 0
	}
}

// endLine makes the next byte the first of a line.
func (l *lineWriter) endLine() error {
	if !l.open {
		return nil
	}
	_, err := l.Write([]byte("\n"))
	return err
}
