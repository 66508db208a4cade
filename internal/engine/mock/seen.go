package mock

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
)

// maxLog bounds the requests that are kept.
const maxLog = 1 << 16

// Seen is what came to a server.
type Seen struct {
	Requests    []Request // for an answer, valid or not, in the order of arrival: the first 65536
	Valid       int       // of all requests for an answer
	Invalid     int
	Dropped     int // requests that [CloseOnReuse] left without a byte; they are not among the others
	InFlightMax int // most requests for an answer at once, those that waited for a slot included
	RunningMax  int // most that had a slot at once
	Connections int
	Tokens      int // sent
}

// load is what goes on now.
type load struct{ inFlight, running, prompt int }

// Seen returns what came so far.
func (s *Server) Seen() Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	seen.Requests = slices.Clone(seen.Requests)
	return seen
}

// seal notes where a request came from and what it must not be kept as.
func (q *Request) seal(r *http.Request, c *conn, body []byte) {
	q.Conn, q.Path, q.Proto = c.number, r.URL.Path, r.Proto
	q.BodySHA256 = digest(body)
	if auth := r.Header.Get("Authorization"); auth != "" {
		q.AuthSHA256 = digest([]byte(auth))
	}
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// enter numbers and logs a request and says what it meets.
func (s *Server) enter(q Request, valid bool) (Request, script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults script
	q.Status = http.StatusBadRequest
	if valid {
		s.seen.Valid++
		q.Number = s.seen.Valid
		faults = scriptOf(s.config.Faults, q.Number)
		q.Faults, q.Status = faults.kinds(), http.StatusOK
		if e := faults.refusal(); e != nil {
			q.Status = e.Status
		}
		s.load.prompt += q.PromptTokens
	} else {
		s.seen.Invalid++
	}
	if len(s.seen.Requests) < maxLog {
		s.seen.Requests = append(s.seen.Requests, q)
	}
	return q, faults
}

// note changes what was seen and what goes on.
func (s *Server) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.seen.InFlightMax = max(s.seen.InFlightMax, s.load.inFlight)
	s.seen.RunningMax = max(s.seen.RunningMax, s.load.running)
}

// drop ends a connection whose request is not answered.
func (s *Server) drop(c *conn) {
	s.note(func() { s.seen.Dropped++ })
	_ = c.Close()
}
