package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Process is a started child that its caller talks with over the child's
// standard input and output, in whatever protocol they share. [Persistent] has
// a protocol of its own; this is for the others.
//
// A Process must be ended by Wait or Stop, each of which leaves nothing of the
// child behind, as far as the package comment says.
type Process struct {
	child   *child
	out     *pipe
	stdin   *os.File
	environ []string // in which programs are looked up

	end  sync.Once
	resp Response
	err  error
}

// Line is a line of a child's standard output, untrusted and without its line
// end. Of a line longer than the limit, Text holds the beginning and Cut is
// true. A last line without a line end counts as well.
type Line struct {
	Text []byte
	Cut  bool
}

// Start starts a child and returns at once. MaxStdout bounds the bytes of one
// line of its output instead of all of them; its standard error is kept as Do
// keeps it. Request.Timeout must be zero, because only the caller defines what it
// waits for, and Params empty. An error wraps [ErrNotFound] where the program
// does not exist.
func (w *Isolated) Start(req Request) (*Process, error) {
	switch {
	case len(req.Args) == 0:
		return nil, errNoProgram
	case len(req.Params) > 0 || req.Timeout != 0:
		return nil, errors.New("a child that is talked with has neither params nor a time limit of its own: send them, and stop it")
	}
	w.once.Do(func() { w.scrubbed = Scrub(w.Environ) })
	out := newPipe(cmp.Or(w.MaxStdout, DefaultMaxStdout), cmp.Or(w.MaxStderr, defaultMaxStderr))
	c, stdin, err := startWithInput(req, w.scrubbed, out, cmp.Or(w.Grace, defaultGrace), cmp.Or(w.KillWait, defaultKillWait))
	if err != nil {
		return nil, err
	}
	return &Process{child: c, out: out, stdin: stdin, environ: w.scrubbed}, nil
}

// Lines yields the child's standard output and is closed at its end, which may
// come after the child's own: a descendant can hold it open. The child blocks
// while no caller receives. Nothing more is yielded once Wait or Stop was called.
func (p *Process) Lines() <-chan Line { return p.out.lines.to }

// Exited is closed when the child itself has exited.
func (p *Process) Exited() <-chan struct{} { return p.child.exited }

// Send writes to the child's standard input beside the caller, because a child
// need not read. The result is sent once; it comes at the latest when the
// process is ended. Wait for it before the next Send, or the two may mix.
func (p *Process) Send(b []byte) <-chan error {
	sent := make(chan error, 1)
	go func() { // ends at the latest when conclude closes the pipe
		_, err := p.stdin.Write(b)
		sent <- err
	}()
	return sent
}

// Waited returns for how long the first thread of the child could have run and had no
// processor, so far; 0 where the system does not say. What else the child and the host run can cause it.
func (p *Process) Waited() time.Duration { return waited(p.child.process.Pid) }

// CloseInput closes the child's standard input.
func (p *Process) CloseInput() { _ = p.stdin.Close() }

// Note adds lines of the caller to the log.
func (p *Process) Note(text string) {
	for line := range bytes.Lines([]byte(text)) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		p.out.log.add(line[:min(len(line), logLine)])
	}
}

// Log returns the last lines of the child's standard error and of the notes, as
// Response.Log does, at any time.
func (p *Process) Log() string { return p.out.log.String() }

// Dump asks the child, and what descends from it, for their stacks, which then stand in the log
// of Wait or Stop. It may take seconds, and end the child.
func (p *Process) Dump() {
	p.out.lines.discard()
	p.child.dump(&p.out.stacks, &p.out.last, p.out.log.String(), p.environ)
}

// Wait waits for the child to exit, and stops it at the limit, unless that is
// zero, or when ctx is done. It ends what the child left behind. The error says
// that something cannot be ended, or that ctx was done.
func (p *Process) Wait(ctx context.Context, limit time.Duration) (Response, error) {
	p.out.lines.discard() // or a child with much to say could never exit
	resp, err := p.conclude(p.child.await(ctx, limit))
	if err == nil && resp.End == Cancelled && ctx.Err() != nil {
		err = fmt.Errorf("run %s: %w", p.child.name(), context.Cause(ctx))
	}
	return resp, err
}

// Stop asks the child to end, kills it after Grace, and ends all that descends
// from it. Why is TimedOut or Cancelled and becomes Response.End, unless the
// child has exited already. Later calls return the same Response.
func (p *Process) Stop(why End) (Response, error) {
	p.out.lines.discard()
	select {
	case <-p.child.exited:
		why = Exited
	default:
	}
	return p.conclude(why)
}

// Kill is Stop without asking.
func (p *Process) Kill(why End) (Response, error) {
	p.out.lines.discard()
	select {
	case <-p.child.exited: // its PID may be reused soon
	default:
		p.end.Do(func() {
			p.child.dies()
			p.finish(why)
		})
	}
	return p.Stop(why)
}

func (p *Process) conclude(why End) (Response, error) {
	p.end.Do(func() { p.finish(why) })
	return p.resp, p.err
}

func (p *Process) finish(why End) {
	p.resp, p.err = p.child.conclude(why)
	_ = p.stdin.Close() // ends a write without a reader
	p.out.report(&p.resp)
}

// pipe yields the lines of one stream and captures the other.
type pipe struct {
	capture
	lines lineSink
}

func newPipe(maxLine, maxStderr int) *pipe {
	p := &pipe{lines: lineSink{to: make(chan Line), max: maxLine, quit: make(chan struct{})}}
	p.stderr.max = maxStderr
	return p
}

func (p *pipe) start(stdout, stderr io.Reader) {
	p.read(stdout, stderr, &p.lines, &logged{p.copied(p.stderr.write), splitter{log: &p.log}})
}

// lineSink cuts a stream into lines of bounded length.
type lineSink struct {
	to   chan Line
	max  int
	line []byte
	cut  bool
	quit chan struct{}
	once sync.Once
}

// discard makes the sink drop lines without a receiver.
func (l *lineSink) discard() { l.once.Do(func() { close(l.quit) }) }

func (l *lineSink) write(p []byte) {
	eachLine(p, l.extend, l.pass)
}

func (l *lineSink) extend(p []byte) {
	if room := l.max - len(l.line); len(p) > room {
		p, l.cut = p[:room], true
	}
	l.line = append(l.line, p...)
}

func (l *lineSink) pass() {
	select {
	case <-l.quit:
	case l.to <- Line{bytes.TrimSuffix(l.line, []byte{'\r'}), l.cut}:
	}
	l.line, l.cut = nil, false // the receiver owns it
}

func (l *lineSink) flush() {
	if len(l.line) > 0 {
		l.pass()
	}
	close(l.to)
}
