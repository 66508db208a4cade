package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/text"
)

// What the zero Persistent allows, besides what [Isolated] does.
const (
	defaultStartTimeout  = 5 * time.Minute // a large model loads from a network drive
	defaultHealthTimeout = 10 * time.Second
	defaultMaxReply      = 8 << 20
	// idleLimit is how long a process is trusted to be well without asking.
	idleLimit = time.Second
)

// Persistent is a Worker that keeps one process and has it serve one request
// after another, so that a model is loaded once for many cells. The process
// belongs to the Args, Dir, Env and Unset of the request; a request with
// others ends it and starts the next. Use one Persistent for each device. Do
// serves one request at a time; a second one waits for its turn.
//
// # Protocol
//
// Both sides write one JSON object a line. On the child's standard input come
//
//	{"id":7,"method":"run","params":{"prompt":"hi"}}
//	{"id":8,"method":"ping","params":{}}
//	{"id":9,"method":"shutdown","params":{}}
//
// where params are [Request].Params, and the child answers each of them on its
// standard output before it reads the next, with the same id:
//
//	{"id":7,"result":{"tokens":12}}
//	{"id":7,"error":"the prompt is too long"}
//	{"id":8,"result":{}}
//
// The first request is a ping: its answer says that the child is ready. A ping
// also comes before a run if the previous one failed or was a while ago.
// After a shutdown, or when the standard input ends, the child exits with 0:
// another code is an error of Close, because its last answers are doubtful. Ids
// are random: an answer to a request that was not sent fails the next one. The
// result of a run may be any JSON value. The line must begin with "{"; every
// other line on the standard output, all of the standard error, and an answer
// that no request waits for are log. A child in Python:
//
//	import json, sys
//
//	def run(text, times=1):
//	    return {"text": text * times}
//
//	for line in sys.stdin:
//	    request = json.loads(line)
//	    answer = {"id": request["id"]}
//	    try:
//	        answer["result"] = run(**request["params"]) if request["method"] == "run" else {}
//	    except Exception as error:
//	        answer["error"] = str(error)
//	    print(json.dumps(answer), flush=True)
//	    if request["method"] == "shutdown":
//	        break
//
// A run that exceeds Request.Timeout, or whose context ends, costs the process
// its life, with all that descends from it; so does a broken protocol. The
// next Do starts another. What descends from a process that serves on lives
// until the process is ended.
//
// The fields must not change after the first Do.
type Persistent struct {
	// Environ is as in [Isolated].
	Environ []string
	// StartTimeout bounds the time from the start to the first answer, and
	// HealthTimeout that to the answer to each later ping.
	StartTimeout, HealthTimeout time.Duration
	// MaxReply bounds the bytes of a line that answers. A longer one fails its
	// request and is discarded.
	MaxReply int
	// Grace is as in [Isolated]. It is also how
	// long the process may take to obey a shutdown.
	Grace time.Duration

	once     sync.Once
	scrubbed []string
	turn     sync.Mutex
	live     *server // nil if there is none
	note     string  // why the last one had to be ended, for the log of the next
}

var _ Worker = (*Persistent)(nil)

// Close implements [Worker]. It ends the process.
func (w *Persistent) Close() error {
	w.turn.Lock()
	defer w.turn.Unlock()
	return w.shutdown()
}

// Do implements [Worker]. A child that cannot be started, or is not ready in
// time, gives End NotStarted; a result is a Response with End Exited, code 0
// and the result as Stdout.
func (w *Persistent) Do(ctx context.Context, req Request) (Response, error) {
	params, err := object(req.Params)
	switch {
	case len(req.Args) == 0:
		return notStarted(errNoProgram)
	case err != nil:
		return notStarted(err)
	}
	w.turn.Lock()
	defer w.turn.Unlock()
	resp, err := w.attempt(ctx, req, params, true)
	if err == nil && resp.End == "" {
		resp, err = w.attempt(ctx, req, params, false)
	}
	return resp, err
}

// attempt runs a request. Its Response has no End if the process died before
// the request reached it, or if it died in the middle of one after it had
// served another: a fresh process shows whose fault that was. Both happen
// only if retry says that another attempt follows.
func (w *Persistent) attempt(ctx context.Context, req Request, params []byte, retry bool) (Response, error) {
	ready, err := w.prepare(ctx, req)
	if err != nil || ready.End != "" {
		return ready, err
	}
	w.live.countKills()
	got, load := w.live.call(ctx, req.Timeout, req.NoOutput, "run", params), w.live.load
	if retry && (got.lost || !got.answered && got.end == Exited && w.live.served > 0) {
		return Response{}, w.reap()
	}
	resp, err := w.settle(got, &req)
	resp.Wall, resp.Restarts, resp.Load = got.wall, ready.Restarts, load
	resp.Usage = Usage{} // of all its requests
	if err == nil && resp.End == Cancelled {
		err = stopped(ctx, req)
	}
	return resp, err
}

// dump asks the process for its stacks before it is ended, if the request wants that.
func (w *Persistent) dump(why End, req *Request) {
	if s := w.live; req.dumps(why) {
		s.dump(&s.out.stacks, &s.out.last, s.out.log.String(), w.scrubbed)
	}
}

// settle turns an outcome into a Response and ends a process that is dead or
// can no longer be talked to.
func (w *Persistent) settle(got outcome, req *Request) (resp Response, err error) {
	s := w.live
	s.used, s.well = time.Now(), got.ok()
	switch {
	case s.well:
		s.served++
		resp = Response{End: Exited, Stdout: got.result}
	case got.answered:
		resp = Response{End: Refused, ExitCode: -1}
	default:
		w.dump(got.end, req)
		resp, err = w.end(got.end)
		resp.Unanswered = got.end == Exited
		resp.Quiet = req.quiet(got.end)
	}
	if got.end == Refused {
		resp.Message, resp.Contradicts = text.Clip(got.message, logLine), got.contradicts
		s.out.note(resp.Message)
	}
	s.out.report(&resp)
	return resp, err
}

// prepare makes w.live a process that serves req and is well. If it cannot,
// the Response says by its End what became of it.
func (w *Persistent) prepare(ctx context.Context, req Request) (resp Response, err error) {
	if w.live != nil && !w.live.serves(req) {
		err = w.shutdown()
	}
	if err == nil && w.live != nil && ctx.Err() == nil {
		err = w.check(ctx)
	}
	if err != nil || ctx.Err() != nil {
		return Response{End: Cancelled, ExitCode: -1}, cmp.Or(err, stopped(ctx, req))
	}
	if w.live == nil {
		return w.launch(ctx, req)
	}
	w.live.out.reset()
	return resp, nil
}

// check ends the process if it has died or does not answer.
func (w *Persistent) check(ctx context.Context) error {
	s := w.live
	if s.hasExited() {
		return w.reap()
	}
	if s.well && time.Since(s.used) < idleLimit {
		return nil
	}
	switch got := s.call(ctx, cmp.Or(w.HealthTimeout, defaultHealthTimeout), 0, "ping", noParams); {
	case got.ok():
		return nil
	case got.end == Exited:
		return w.reap()
	default:
		w.note = "accelgate: the process did not answer a ping and was started again"
		_, err := w.end(got.end)
		return err
	}
}

// reap ends what a process left behind that died without a request to blame.
func (w *Persistent) reap() error {
	resp, err := w.end(Exited)
	w.note = fmt.Sprintf("accelgate: the process ended after it had served other requests (%s) and was started again", resp.ending())
	return err
}

// launch starts a process and waits until it is ready.
func (w *Persistent) launch(ctx context.Context, req Request) (resp Response, err error) {
	s, err := w.start(req)
	if err != nil {
		return notStarted(err)
	}
	w.live = s
	if w.note != "" {
		s.out.note(w.note)
		resp.Restarts = 1
	}
	w.note = ""
	limit := cmp.Or(w.StartTimeout, defaultStartTimeout)
	got := s.call(ctx, limit, req.NoOutput, "ping", noParams)
	if got.ok() {
		s.used, s.well, s.load = time.Now(), true, time.Since(s.started)
		return resp, nil
	}
	w.dump(got.end, &req)
	ended, err := w.end(got.end)
	ended.Restarts = resp.Restarts
	switch got.end {
	case Cancelled:
		err = cmp.Or(err, stopped(ctx, req))
	case Silent:
		ended.Quiet = req.quiet(Silent)
	default:
		ended.StartErr = unready(got, ended, limit)
		ended.End, ended.ExitCode = NotStarted, -1
	}
	s.out.report(&ended)
	return ended, err
}

// unready returns why a process did not come up.
func unready(got outcome, resp Response, limit time.Duration) error {
	switch got.end {
	case Exited:
		return fmt.Errorf("the process ended before it was ready: %s: look at the log", resp.ending())
	case TimedOut:
		return fmt.Errorf("the process did not answer the first ping within %v: raise the time to start, "+
			"or see that it uses the protocol of persistent workers", limit)
	}
	return errors.New("the process refused the first ping: look at the log, and see that it uses the protocol of persistent workers")
}

func (w *Persistent) start(req Request) (*server, error) {
	w.once.Do(func() { w.scrubbed = Scrub(w.Environ) })
	out := newDialogue(cmp.Or(w.MaxReply, defaultMaxReply), defaultMaxStderr)
	c, stdin, err := startWithInput(req, w.scrubbed, out, cmp.Or(w.Grace, defaultGrace), defaultKillWait)
	if err != nil {
		return nil, err
	}
	req.Args, req.Env, req.Unset = slices.Clone(req.Args), slices.Clone(req.Env), slices.Clone(req.Unset)
	return &server{child: c, out: out, stdin: stdin, req: req}, nil
}

// end brings the process to its end, or to the end of its tree if it has
// exited already.
func (w *Persistent) end(why End) (Response, error) {
	s := w.live
	w.live = nil
	resp, err := s.conclude(why)
	_ = s.stdin.Close() // ends a write without a reader
	return resp, err
}

func (w *Persistent) shutdown() error {
	if w.live == nil {
		return nil
	}
	why, obeyed := w.live.shutdown()
	resp, err := w.end(why)
	if err == nil && obeyed && !resp.OK() {
		return fmt.Errorf(
			"the persistent process failed after its last answer (%s), so its answers are doubtful: let it exit with 0 after a shutdown",
			resp.ending())
	}
	return err
}

var noParams = []byte("{}")

// object returns params on one line.
func object(params json.RawMessage) ([]byte, error) {
	if len(params) == 0 {
		return noParams, nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, params); err != nil || line.Bytes()[0] != '{' {
		return nil, errors.New("params of a request are not a JSON object: write them as {\"name\": value}")
	}
	return line.Bytes(), nil
}
