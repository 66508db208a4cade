package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Limits bounds the phases of a worker's life. A zero field has the default of
// [defaultLimits].
type Limits struct {
	Start time.Duration // from the start to the reply to hello
	Build time.Duration // building a function, or one call of its setup
	Load  time.Duration // making, saving or releasing a tensor, checking the device
	Run   time.Duration
	Time  time.Duration // one request time, warm-up included
	// Silence is how long a worker that was asked may be silent: neither a
	// reply nor alive. It is many times the second in which alive is due,
	// because a kernel may hold the lock of an interpreter.
	Silence time.Duration
	// Dump has a worker that is ended at a limit, or because of [ErrTooLong], print its
	// stacks into its log first.
	Dump bool
}

// ErrTooLong is the cause of a context whose end is a limit of a case.
var ErrTooLong = errors.New("the case took too long")

// defaultLimits is what the zero Limits mean.
var defaultLimits = Limits{
	Start: 2 * time.Minute, Build: 5 * time.Minute, Load: 5 * time.Minute,
	Run: time.Minute, Time: 5 * time.Minute, Silence: 30 * time.Second,
}

func (l Limits) or(d Limits) Limits {
	return Limits{
		Start: cmp.Or(l.Start, d.Start), Build: cmp.Or(l.Build, d.Build), Load: cmp.Or(l.Load, d.Load),
		Run: cmp.Or(l.Run, d.Run), Time: cmp.Or(l.Time, d.Time), Silence: cmp.Or(l.Silence, d.Silence), Dump: l.Dump,
	}
}

const (
	// exitWait is how long output may come after the process has exited, where
	// a descendant holds it open.
	exitWait = 250 * time.Millisecond
	// obeyWait is how long a worker may take to exit when asked.
	obeyWait = 5 * time.Second
	maxStep  = 1 << 30 // between two request numbers: they stay below 2^53 for 8 million requests
)

// Session is a conversation with one worker. It is for one goroutine at a time
// and must be ended by Close. Every method but Open returns a *[Failure] for
// whatever the worker did wrong; another error means that ctx was done, or that
// the process cannot be ended and nothing more can be measured on this machine.
type Session struct {
	p      *worker.Process
	now    func() time.Time
	limits Limits
	seq    uint64
	hello  HelloReply
	dead   error  // what every later request returns
	log    string // the end of that of a dead worker
}

// Open starts a worker and greets it; Proto of hello is filled in. Now is a clock that only runs forward. An
// error that is no *Failure means that the program could not be started: it
// wraps [worker.ErrNotFound] where there is none.
func Open(ctx context.Context, w *worker.Isolated, req worker.Request, hello Hello, limits Limits, now func() time.Time) (*Session, error) {
	p, err := w.Start(req)
	if err != nil {
		return nil, err
	}
	s := &Session{p: p, now: now, limits: limits.or(defaultLimits), seq: rand.Uint64N(maxStep)}
	hello.Proto = Proto
	_, err = s.call(ctx, "hello", s.limits.Start, hello, &s.hello)
	if err == nil {
		err = s.blame("hello", s.hello.check())
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Hello returns what the worker said of itself.
func (s *Session) Hello() HelloReply { return s.hello }

// Dead reports whether the worker can no longer be asked.
func (s *Session) Dead() bool { return s.dead != nil }

// queued returns the nanoseconds for which the worker's first thread, which makes the
// calls, has waited for a processor so far.
func (s *Session) queued() float64 { return float64(s.p.Waited().Nanoseconds()) }

// Log returns the end of the worker's log, untrusted.
func (s *Session) Log() string { return cmp.Or(s.log, s.p.Log()) }

// Close ends the worker: it is asked first. An error means that something of it
// cannot be ended.
func (s *Session) Close() error {
	if s.dead == nil {
		_, _ = s.call(context.Background(), "exit", obeyWait, nil, nil) // or it is killed for that
	}
	if s.dead == nil {
		s.p.CloseInput()
		s.dead = &Failure{Op: "exit", Kind: Died, Message: "the worker got the request to exit", Dead: true}
	}
	_, err := s.p.Wait(context.Background(), obeyWait)
	return err
}

// call sends a request, waits for its reply and returns the time between the two
// by our clock. What it returns as an error ends the session, unless it is a
// failure that the worker reported.
func (s *Session) call(ctx context.Context, op string, limit time.Duration, request, reply any) (time.Duration, error) {
	if s.dead != nil {
		return 0, s.dead
	}
	s.seq += 1 + rand.Uint64N(maxStep)
	line, err := encode(s.seq, op, request)
	if err != nil {
		return 0, err
	}
	start := s.now()
	c := conversation{Session: s, op: op, limit: limit, sent: s.p.Send(line), exited: s.p.Exited(), reply: reply}
	end, err := c.follow(ctx)
	return end.Sub(start), err
}

func encode(seq uint64, op string, request any) ([]byte, error) {
	line := strconv.AppendUint([]byte(`{"seq":`), seq, 10)
	line = append(append(append(line, `,"op":"`...), op...), '"')
	if request != nil {
		fields, err := json.Marshal(request)
		if err != nil {
			return nil, fmt.Errorf("request %s: %w", op, err)
		}
		line = append(append(line, ','), fields[1:len(fields)-1]...)
	}
	return append(line, '}', '\n'), nil
}

// conversation is one request and its reply.
type conversation struct {
	*Session
	op     string
	limit  time.Duration
	sent   <-chan error
	exited <-chan struct{}
	reply  any
}

// follow waits for the reply and returns when it came.
func (c *conversation) follow(ctx context.Context) (time.Time, error) {
	limit, silence := time.NewTimer(c.limit), time.NewTimer(c.limits.Silence)
	defer limit.Stop()
	defer silence.Stop()
	var last <-chan time.Time // when to stop listening to a dead process
	for {
		select {
		case line, open := <-c.p.Lines():
			at := c.now()
			if !open {
				return at, c.died()
			}
			if done, err := c.take(line); done || err != nil {
				return at, err
			}
			silence.Reset(c.limits.Silence)
		case err := <-c.sent:
			if c.sent = nil; err != nil {
				last = time.After(exitWait)
			}
		case <-c.exited:
			c.exited, last = nil, time.After(exitWait)
		case <-last:
			return c.now(), c.died()
		case <-limit.C:
			return c.now(), c.kill(TimedOut, fmt.Sprintf("no reply within %v: make the case smaller, or raise the limit", c.limit))
		case <-silence.C:
			return c.now(), c.kill(Silent, fmt.Sprintf(
				"no sign of life for %v: the worker hangs, or its thread that says alive does", c.limits.Silence))
		case <-ctx.Done():
			return c.now(), c.cancel(ctx)
		}
	}
}

// take looks at a line and reports whether it is the reply.
func (c *conversation) take(line worker.Line) (done bool, err error) {
	if line.Cut {
		return false, c.broke(fmt.Sprintf("a line of more than %d bytes", len(line.Text)), line.Text)
	}
	e, m, err := decode(line.Text, c.seq, c.reply)
	switch {
	case err != nil:
		return false, c.broke(err.Error(), line.Text)
	case e == logs:
		c.p.Note(text.Clip(m.Text, maxMessage))
		return false, nil
	case e != "":
		return false, nil
	case m.Error != nil:
		return true, &Failure{Op: c.op, Kind: m.Error.Kind, Message: m.Error.Message, Trace: m.Error.Trace, Log: c.p.Log()}
	}
	return true, nil
}

func (c *conversation) broke(what string, line []byte) error {
	return c.kill(Broke, fmt.Sprintf("the worker wrote %q, which breaks the protocol: %s: "+
		"nothing else may write to its standard output", text.Clip(string(line[:min(len(line), 200)]), 200), what))
}

// blame ends a session whose worker gave a reply that cannot be true.
func (s *Session) blame(op string, wrong error) error {
	if wrong == nil {
		return nil
	}
	c := conversation{Session: s, op: op}
	return c.kill(Broke, "the worker gave a reply that cannot be true: "+text.Clip(wrong.Error(), maxMessage))
}

// kill ends the worker for its behaviour.
func (c *conversation) kill(kind Kind, message string) error {
	if c.limits.Dump && (kind == TimedOut || kind == Silent) {
		c.p.Dump()
	}
	resp, err := c.p.Kill(worker.TimedOut)
	return c.bury(kind, message, resp, err)
}

// died is for a worker that ended, or closed its output, by itself.
func (c *conversation) died() error {
	resp, err := c.p.Wait(context.Background(), exitWait) // who closes its output is about to exit, most likely
	message := "the worker closed its output"
	if resp.End != worker.TimedOut {
		message = "the worker ended: " + cmp.Or(resp.Reason(), "exit code 0")
	}
	kind := Died
	if resp.OutOfMemory {
		kind = OutOfMemory
	}
	return c.bury(kind, message+" before it had replied: look at its log", resp, err)
}

func (c *conversation) bury(kind Kind, message string, resp worker.Response, err error) error {
	c.dead, c.log = err, resp.Log
	if err == nil {
		c.dead = &Failure{
			Op:        c.op,
			Kind:      kind,
			Message:   message,
			Log:       resp.Log,
			Dead:      true,
			Signalled: kind == Died && resp.End == worker.Signalled,
		}
	}
	return c.dead
}

func (c *conversation) cancel(ctx context.Context) error {
	if c.limits.Dump && errors.Is(context.Cause(ctx), ErrTooLong) {
		c.p.Dump()
	}
	resp, err := c.p.Kill(worker.Cancelled)
	c.log, c.dead = resp.Log, err
	if err == nil {
		c.dead = &Cancelled{Op: c.op, Cause: context.Cause(ctx), Log: resp.Log}
	}
	return c.dead
}
