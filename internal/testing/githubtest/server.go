// Package githubtest is a GitHub that tests run against: an HTTP server with
// state, whose every request and response is checked against GitHub's own
// description of its API. It enforces GitHub's limits and permissions too.
//
// It is not a GitHub for people: what accelgate does not use is not there, and
// a request for it is a violation. A violation, be it the client's (a request
// that GitHub would not understand) or the server's own (a response that
// GitHub would not send), fails the test that started the server.
package githubtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// maxBody bounds what a request may send; GitHub's own limit for a blob is
// larger, and nothing here needs it.
const maxBody = 32 << 20

// Server is an [http.Handler] for a GitHub API at the root of its address. It
// is safe for concurrent use: requests are served one after the other.
type Server struct {
	contract *contract

	mu         sync.Mutex
	repos      map[string]*repository // by lower-case owner/name
	tokens     map[string]Token       // by value
	faults     []Fault
	requests   []Request
	violations []string
	lastID     int64
	clock      time.Time
	chaos      *chaos // nil for none
	checkEvery int
	blobBase   string
	dispatches []Dispatch

	between atomic.Pointer[func(Request)]
	acting  atomic.Bool // the function above is running
}

// Request is one line of the log.
type Request struct {
	Method    string `json:"method"`
	Path      string `json:"path"`                // with its query
	Operation string `json:"operation,omitempty"` // "issues/create-comment"
	Login     string `json:"login,omitempty"`     // who asked
	Status    int    `json:"status"`
	Fault     Kind   `json:"fault,omitempty"` // what chaos did to it
}

// String returns the request as scripts like to read it.
func (r Request) String() string { return fmt.Sprintf("%s %s %d", r.Method, r.Path, r.Status) }

// NewServer returns a server in the given state.
func NewServer(state State) (*Server, error) {
	contract, err := loadContract()
	if err != nil {
		return nil, err
	}
	s := &Server{
		contract: contract, repos: map[string]*repository{}, tokens: map[string]Token{},
		clock: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	if err := s.load(state); err != nil {
		return nil, fmt.Errorf("load the state: %w", err)
	}
	return s, nil
}

// New starts a server for one test and returns it with its address. The test
// fails if it ends with violations.
func New(t testing.TB, state State) (s *Server, address string) {
	t.Helper()
	s, err := NewServer(state)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		for _, v := range s.Violations() {
			t.Errorf("GitHub's API description is violated: %s", v)
		}
	})
	return s, server.URL
}

// ServeHTTP answers a request as GitHub would.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, inspectPrefix) {
		s.inspect(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	s.handle(r, body).send(w, r)
}

// Between makes act run before each request is served: it is the second writer
// that comes between any two requests of a client. It may use the server in
// any way; its own requests do not call it again. Nil ends this.
func (s *Server) Between(act func(next Request)) {
	if act == nil {
		s.between.Store(nil)
		return
	}
	s.between.Store(&act)
}

// handle lets the second writer act, answers a request and logs it. Requests
// are answered one at a time.
func (s *Server) handle(r *http.Request, body []byte) delivery {
	log := Request{Method: r.Method, Path: r.URL.RequestURI()}
	if act := s.between.Load(); act != nil && s.acting.CompareAndSwap(false, true) {
		(*act)(log)
		s.acting.Store(false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chaos.arrive(len(s.requests))
	log.Fault = s.chaos.draw(r)
	serve := func() response {
		if id, ok := strings.CutPrefix(r.URL.Path, blobPrefix); ok {
			return s.blob(r, id, &log)
		}
		if strings.Contains(r.URL.Path, downloadPart) {
			return s.release(r.URL.Path, &log)
		}
		return s.answer(r, body, &log)
	}
	answer := delivery{}
	if log.Fault == "" {
		answer.response = serve()
	} else {
		answer = s.struck(log.Fault, r, serve)
	}
	log.Status = answer.status
	s.requests = append(s.requests, log)
	return answer
}

// response is a reply ready to be sent.
type response struct {
	status int
	header http.Header
	body   []byte // nil for none
}

// answer finds and runs the handler of a request.
func (s *Server) answer(r *http.Request, body []byte, log *Request) response {
	base := "http://" + r.Host
	if r.URL.Path == graphqlPath {
		return s.graphql(r, body, log)
	}
	r = s.byName(r)
	exchange, err := s.contract.route(r, body)
	if err != nil {
		s.violate("request", log, err)
		return encode(notFound())
	}
	log.Operation = exchange.operation.OperationID
	if fault, ok := s.takeFault(log.Operation); ok {
		return encode(fault)
	}
	token, ok := s.authenticate(r)
	if !ok {
		return s.finish(exchange, log, base, failure(http.StatusUnauthorized, "Bad credentials"))
	}
	log.Login = token.Login
	if len(body) > 0 && !json.Valid(body) {
		s.violate("request", log, errors.New("the body is no JSON"))
		return s.finish(exchange, log, base, failure(http.StatusBadRequest, "Problems parsing JSON"))
	}
	if err := s.checked(exchange.checkRequest); err != nil {
		s.violate("request", log, err)
		return s.finish(exchange, log, base, failure(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error()))
	}
	c := &call{Server: s, token: token, params: exchange.params, url: r.URL, body: body, base: base}
	return s.finish(exchange, log, base, c.run(operations[log.Operation]))
}

// finish completes, encodes and checks a reply.
func (s *Server) finish(e *exchange, log *Request, base string, r reply) response {
	if s.skipsChecks() {
		return encode(r)
	}
	if r.body != nil {
		schema, _ := e.schema(r.status)
		full, err := completion{base: base}.complete(schema, r.body)
		if err != nil {
			s.violate("response", log, err)
		}
		r.body = full
	}
	done := encode(r)
	if err := e.checkResponse(done); err != nil {
		s.violate("response", log, err)
	}
	return done
}

// skipsChecks reports whether the request now served is one of those that
// State.CheckEvery leaves unchecked.
func (s *Server) skipsChecks() bool { return s.checkEvery > 1 && len(s.requests)%s.checkEvery != 0 }

func (s *Server) checked(check func() error) error {
	if s.skipsChecks() {
		return nil
	}
	return check()
}

// violate records that a request or a response breaks GitHub's description.
func (s *Server) violate(what string, log *Request, err error) {
	reason := strings.ReplaceAll(err.Error(), "\n", "; ")
	s.violations = append(s.violations, fmt.Sprintf("%s of %s %s: %s", what, log.Method, log.Path, reason))
}

// byName turns a request for /repositories/ID/..., the form of GitHub's own
// links, into one for /repos/OWNER/NAME/...
func (s *Server) byName(r *http.Request) *http.Request {
	for _, repo := range s.repos {
		rest, ok := strings.CutPrefix(r.URL.EscapedPath(), repo.pathByID())
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if named, err := url.Parse("/repos/" + repo.fullName() + rest); err == nil {
			named.RawQuery = r.URL.RawQuery
			r = r.Clone(r.Context())
			r.URL = named
		}
		return r
	}
	return r
}

func (r *repository) pathByID() string { return fmt.Sprintf("/repositories/%d", r.id) }

// takeFault returns the failure that is due for an operation, if any.
func (s *Server) takeFault(operation string) (reply, bool) {
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.Operation == operation && f.Times > 0 })
	if i < 0 {
		return reply{}, false
	}
	fault := &s.faults[i]
	fault.Times--
	r := failure(fault.Status, fault.Message)
	r.header = http.Header{}
	for name, value := range fault.Header {
		r.header.Set(name, value)
	}
	return r, true
}

// encode turns a reply into JSON. Like GitHub, it leaves < and > alone.
func encode(r reply) response {
	done := response{status: r.status, header: r.header.Clone()}
	if r.body == nil {
		return done
	}
	if done.header == nil {
		done.header = http.Header{}
	}
	done.header.Set("Content-Type", "application/json; charset=utf-8")
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r.body); err != nil { // what is left of it breaks the contract
		return response{status: http.StatusInternalServerError}
	}
	done.body = b.Bytes()
	return done
}
