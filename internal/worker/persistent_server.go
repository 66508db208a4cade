package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// server is the live process of a Persistent. It is for one goroutine.
type server struct {
	*child
	out    *dialogue
	stdin  *os.File
	req    Request // that it was started for
	id     uint64  // of the last request; the next one cannot be guessed
	size   int     // of the last request, in bytes
	used   time.Time
	served int           // requests that were answered with a result
	well   bool          // the last answer was a result
	counts time.Time     // when oomKills was read
	load   time.Duration // from its start to its first answer
}

// outcome is what became of one request to a server.
type outcome struct {
	answer
	answered bool // if not, end says why: Exited, TimedOut, Silent, Cancelled, or Refused for a closed pipe
	end      End  // of the answering process: Exited for a result, else Refused
	lost     bool // the process had died before it read the request
	wall     time.Duration
}

// ok reports whether a result was given.
func (o outcome) ok() bool { return o.answered && o.end == Exited }

// serves reports whether req can go to the process.
func (s *server) serves(req Request) bool {
	return slices.Equal(s.req.Args, req.Args) && s.req.Dir == req.Dir &&
		slices.Equal(s.req.Env, req.Env) && slices.Equal(s.req.Unset, req.Unset)
}

// countKills reads how many processes the kernel has killed, if that was not read a moment ago: it takes
// longer than a short request.
func (s *server) countKills() {
	if now := time.Now(); now.Sub(s.counts) >= idleLimit {
		s.oomKills, _ = oomKills()
		s.counts = now
	}
}

func (s *server) hasExited() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// call sends a request and waits for its answer, at most for timeout, and until nothing was
// printed for quiet, unless these are zero.
func (s *server) call(ctx context.Context, timeout, quiet time.Duration, method string, params []byte) outcome {
	var limit <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		limit = timer.C
	}
	s.id = newID()
	s.out.expect(s.id)
	start := time.Now()
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := silence(watched, quiet, start, s.out.last.Load)
	got := s.follow(ctx, limit, silent, s.send(method, params))
	got.wall = time.Since(start)
	return got
}

// newID returns an id that a process cannot answer before it has read it. Each
// reader of JSON holds it exactly.
func newID() uint64 { return 1<<52 + rand.Uint64N(1<<52) } // 16 digits

// send writes a request, and what the pipe has no room for beside the caller, because a child need not read. That
// write ends at the latest when end closes the pipe.
func (s *server) send(method string, params []byte) (sent chan error) {
	line := fmt.Appendf(nil, "{\"id\":%d,\"method\":%q,\"params\":%s}\n", s.id, method, params)
	s.size = len(line)
	done := make(chan error, 1)
	if line = line[writeNow(s.stdin, line):]; len(line) == 0 { // nearly always: a switch to another thread takes as long as a short request
		done <- nil
		return done
	}
	go func() {
		_, err := s.stdin.Write(line)
		done <- err
	}()
	return done
}

// follow waits for the answer to what is being sent.
func (s *server) follow(ctx context.Context, limit <-chan time.Time, silent <-chan struct{}, sent chan error) outcome {
	for {
		select {
		case a := <-s.out.answers:
			return a.outcome()
		case err := <-sent:
			if err != nil {
				sent <- err // lastWords looks at it
				return s.closed("standard input", sent)
			}
			sent = nil // and wait on
		case <-s.out.ended:
			return s.closed("standard output", sent)
		case <-s.exited:
			return s.lastWords(sent)
		case <-limit:
			return outcome{end: TimedOut}
		case <-silent:
			return outcome{end: Silent}
		case <-ctx.Done():
			return outcome{end: Cancelled}
		}
	}
}

// broken waits for the end of a write to a dead process and reports whether it
// failed.
func broken(sent <-chan error) bool {
	if sent == nil {
		return false
	}
	select {
	case err := <-sent:
		return err != nil
	case <-time.After(leftoverWait): // another process holds the pipe
		return true
	}
}

// closed is the outcome where a pipe is closed: most likely the process is
// just about to be dead.
func (s *server) closed(stream string, sent <-chan error) outcome {
	if s.exitsWithin(leftoverWait) {
		return s.lastWords(sent)
	}
	select {
	case a := <-s.out.answers:
		return a.outcome()
	default:
		return outcome{end: Refused, answer: answer{message: "the process closed its " + stream + " in the middle of a request"}}
	}
}

// lastWords looks for an answer in what a dead process printed at last.
func (s *server) lastWords(sent <-chan error) outcome {
	s.out.await(time.After(leftoverWait))
	select {
	case a := <-s.out.answers:
		return a.outcome()
	default:
		return outcome{end: Exited, lost: broken(sent) || int(unread(s.stdin)) == s.size}
	}
}

// shutdown asks the process to exit, and kills it if it does not. The result
// is what to conclude it with; obeyed is false where it had to be killed.
func (s *server) shutdown() (why End, obeyed bool) {
	s.id = newID()
	s.out.asked(s.id)
	sent := s.send("shutdown", noParams)
	go func() {
		<-sent
		_ = s.stdin.Close()
	}()
	switch {
	case s.exitsWithin(s.grace):
		return Exited, true
	case s.dies():
		return Exited, false
	}
	return Cancelled, false
}
