package mock

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// answer is one request being answered.
type answer struct {
	*Server
	*renderer
	w      *openai.Response
	conn   *conn
	done   <-chan struct{} // the client left
	start  time.Time       // it got its slot
	total  int             // tokens
	jitter *rand.Rand      // nil without
	last   time.Time       // when the latest token was due
	alarm  *alarm
}

// stream sends the tokens when they are due, then the tail. The role goes out
// with the headers, so that a client that takes it for a token is found out.
func (a *answer) stream() {
	buffer := make([]byte, 0, 1024)
	if a.request.Chat && !a.script.has(NoRole) {
		buffer = a.Role(buffer, a.soFar(0))
	}
	a.send(buffer)
	chunk := a.script.count(MultiToken)
	for sent := 0; sent < a.total; {
		if !a.interrupt(sent) {
			return
		}
		end := min(sent+chunk*a.script.count(Coalesce), a.nextStrike(sent))
		buffer = buffer[:0]
		for from := sent; from < end; from += chunk {
			if from < a.hidden(a.total) {
				continue
			}
			buffer = a.tokens(buffer, from, min(from+chunk, end), a.total)
		}
		if !a.deliver(buffer, a.due(sent, end)) {
			return
		}
		a.note(func() { a.seen.Tokens += end - sent })
		sent = end
	}
	if a.interrupt(a.total) {
		a.send(a.tail(buffer[:0], a.total))
	}
}

// whole answers a request without a stream when its last token is due. A kind
// that strikes in a stream strikes in the middle of the body.
func (a *answer) whole() {
	if !a.sleep(a.due(0, a.total)) {
		return
	}
	body := a.renderer.whole(a.total)
	half := len(body) / 2
	switch {
	case a.script.has(ErrorLine):
		body = failure("in the answer").JSON()
	case a.script.has(BadJSON):
		body = body[:half]
	}
	a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	for _, k := range []Kind{Stall, ResetMidstream, Die} {
		if f, ok := a.script[k]; ok {
			a.send(body[:half])
			body = body[half:]
			if !a.strike(f) {
				return
			}
			break
		}
	}
	if a.send(body) {
		a.note(func() { a.seen.Tokens += a.total })
	}
}

// due returns when the last of the tokens from to to is.
func (a *answer) due(from, to int) time.Time {
	for i := from; i < to; i++ {
		at := a.start.Add(a.config.TTFT + time.Duration(i)*a.config.TPOT)
		if a.jitter != nil {
			at = at.Add(time.Duration(a.jitter.Int64N(int64(a.config.Jitter))))
		}
		if at.After(a.last) {
			a.last = at
		}
	}
	return a.last
}

// deliver sends what is to be seen when a token is due, and before it the parts
// that may go ahead.
func (a *answer) deliver(line []byte, due time.Time) bool {
	if a.script.has(Pings) {
		a.send([]byte(": keepalive" + a.End + a.End))
	}
	for parts := a.script.count(Split); parts > 1; parts-- {
		size := len(line) / parts
		a.send(line[:size])
		line = line[size:]
	}
	return a.sleep(due) && a.send(line)
}

// sleep waits for a time; false is that the client or the server is gone.
func (a *answer) sleep(due time.Time) bool { return a.pacer.wait(a.done, a.stop, a.alarm, due) }

func (a *answer) send(data []byte) bool { return a.w.Send(data) == nil }

// interruptions are the kinds that strike between two tokens.
var interruptions = []Kind{Stall, BadJSON, ErrorLine, ResetMidstream, Die}

// nextStrike returns the first token after one before which a kind strikes, or
// the end: no write reaches across it.
func (a *answer) nextStrike(token int) int {
	next := a.total
	for _, k := range interruptions {
		if f, ok := a.script[k]; ok && f.After > token {
			next = min(next, f.After)
		}
	}
	return next
}

// interrupt lets strike what does before a token; false ends the stream. What
// should strike after more tokens than there are strikes after the last.
func (a *answer) interrupt(token int) bool {
	for _, k := range interruptions {
		if f, ok := a.script[k]; ok && min(f.After, a.total) == token && !a.strike(f) {
			return false
		}
	}
	return true
}

func (a *answer) strike(f Fault) bool {
	switch f.Kind {
	case Stall:
		return a.sleep(a.now().Add(a.script.wait(Stall, maxWait)))
	case BadJSON:
		return a.send(append(a.Open(nil), a.End+a.End...))
	case ErrorLine:
		a.send(a.Event(nil, string(failure("in the stream").JSON())))
		a.send(a.Event(nil, "[DONE]"))
	case ResetMidstream:
		a.conn.reset()
		panic(http.ErrAbortHandler) // net/http's way to say that nothing more may be written
	case Die:
		a.die()
		panic(http.ErrAbortHandler)
	}
	return false
}

// newJitter returns the draws of one request.
func newJitter(seed uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(number)))
}
