package mock

import (
	"math/rand/v2"
	"strconv"
)

// newJitter returns the draws of one request.
func newJitter(seed uint64, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(number)))
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
