// Package mock is an OpenAI-compatible server that sends the configured tokens
// at exact times, and shows every way of misbehaving
// that clients have met. Tests of clients use it in process ([New]) and, where
// the client's own processor time counts, as a command in a process of its own
// ([Command]).
//
// It is not a model: its answers are a fixed row of words, one token each, of
// exactly the length that the request asks for, and the tokens of a prompt are
// its words. Nothing of a request's text or of its Authorization header is kept
// but SHA-256 digests.
package mock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// Server is one server. Its methods are safe for concurrent use, once Start has
// returned.
type Server struct {
	// URL is the server's address without a path, once it is started.
	URL string

	config Config
	now    func() time.Time
	pacer  *pacer
	slots  chan struct{} // nil: no limit
	http   *httptest.Server

	stop    chan struct{} // nothing is waited for any more
	stopped sync.Once
	paced   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]*conn
	dead  bool // connections that still come are reset
	seen  Seen
	load  load
}

// New returns a server that is not started yet.
func New(c Config) *Server {
	s := &Server{config: c.withDefaults(), now: c.Now, stop: make(chan struct{}), conns: map[net.Conn]*conn{}}
	if c.Slots > 0 {
		s.slots = make(chan struct{}, c.Slots)
	}
	return s
}

// Start listens and serves until Close. It refuses a configuration that makes
// no sense. A server starts once.
func (s *Server) Start() error {
	if s.now == nil {
		return errors.New("openaitest: Config.Now is absent: give it time.Now")
	}
	if err := s.config.check(); err != nil {
		return err
	}
	listener, err := s.listen()
	if err != nil {
		return err
	}
	if s.pacer, err = newPacer(s.now, s.config.Listener != nil); err != nil {
		_ = listener.Close()
		return err
	}
	s.paced.Go(s.pacer.run)
	s.http = &httptest.Server{
		Listener: listener, EnableHTTP2: s.config.HTTP2,
		Config: &http.Server{
			Handler: s.routes(), ConnContext: s.connect, ConnState: s.connState,
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          log.New(io.Discard, "", 0), // resets and handshakes that fail are the point
		},
	}
	if s.config.H2C {
		s.http.Config.Protocols = new(http.Protocols)
		s.http.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	if s.config.TLS {
		s.http.StartTLS()
	} else {
		s.http.Start()
	}
	s.URL = s.http.URL
	return nil
}

func (s *Server) listen() (net.Listener, error) {
	if s.config.Listener != nil {
		return s.config.Listener, nil
	}
	listener, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w: choose another address", err)
	}
	return listener, nil
}

// Client returns a client that accepts the server's certificate.
func (s *Server) Client() *http.Client { return s.http.Client() }

// Close resets all connections and returns when nothing of a started server
// runs any more.
func (s *Server) Close() {
	if s.http == nil {
		return
	}
	s.die()
	s.http.Close()
	s.pacer.close()
	s.paced.Wait()
}

// die stops listening, resets all connections and ends all waits. Connections
// come first: net/http would bring the answer of a wait that ends to a good end.
func (s *Server) die() {
	s.stopped.Do(func() {
		_ = s.http.Listener.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dead = true
		for _, c := range s.conns {
			c.reset()
		}
		close(s.stop)
	})
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, true) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, false) })
	mux.HandleFunc("POST /tokenize", s.tokenize)
	for path, k := range others {
		mux.HandleFunc("POST "+path, s.serveKind(k))
	}
	for path, page := range pages(s.config.Engine) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			s.header(w, page.mime)
			_, _ = io.WriteString(w, page.render(s)) // the client may be gone
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, http.StatusNotFound, "NotFoundError", "there is no such page: see /v1/models")
	})
	return mux
}

func (s *Server) header(w http.ResponseWriter, mime string) {
	h := w.Header()
	h.Set("Content-Type", mime)
	if s.config.Engine == LlamaCPP {
		h.Set("Server", "llama.cpp")
		h.Set("Keep-Alive", "timeout=5, max=100")
	} else {
		h.Set("Server", "uvicorn")
	}
}

func (s *Server) fail(w http.ResponseWriter, status int, kind, message string) {
	s.header(w, "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, errorObject(kind, message, status)) // the client may be gone
}

// generate answers one request for an answer.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, chat bool) {
	c := connOf(r)
	if c.closeOnReuse.Load() && r.ProtoMajor == 1 {
		s.drop(c)
		panic(http.ErrAbortHandler) // net/http's way to say that nothing may be written
	}
	s.admit(w, r, func(data []byte) (Request, error) { return readRequest(data, chat) }, func(q Request, script script, started time.Time) {
		s.answer(w, r, c, q, script, started)
	})
}

// admit reads a request, notes it, and calls answer once a slot is free, unless the request is wrong or refused.
// A request starts when it arrives, or, where slots are few, when it has one.
func (s *Server) admit(
	w http.ResponseWriter,
	r *http.Request,
	read func([]byte) (Request, error),
	answer func(q Request, script script, started time.Time),
) {
	arrived := s.now()
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var q Request
	if err == nil {
		q, err = read(data)
	}
	q.seal(r, connOf(r), data)
	q, script := s.enter(q, err == nil)
	defer s.leave()
	if err != nil {
		s.fail(w, http.StatusBadRequest, "BadRequestError", err.Error())
		return
	}
	if s.refuse(w, script) {
		return
	}
	release, ok := s.slot(r)
	if !ok {
		return
	}
	defer release()
	if s.slots != nil {
		arrived = s.now()
	}
	answer(q, script, arrived)
}

// slot waits until the request may be answered, and returns what ends that. It
// is false if the client or the server is gone before.
func (s *Server) slot(r *http.Request) (release func(), ok bool) {
	if s.slots != nil {
		select {
		case s.slots <- struct{}{}:
		case <-r.Context().Done():
			return nil, false
		case <-s.stop:
			return nil, false
		}
	}
	s.running(1)
	return func() {
		s.running(-1)
		if s.slots != nil {
			<-s.slots
		}
	}, true
}

// refusals are the kinds in whose place there is no answer.
var refusals = []struct {
	kind   Kind
	status int
	name   string
}{
	{RateLimit, http.StatusTooManyRequests, "rate_limit_exceeded"},
	{ServerError, http.StatusInternalServerError, "InternalServerError"},
	{BadRequest, http.StatusBadRequest, "BadRequestError"},
	{ErrorBody, http.StatusOK, "internal_error"},
}

// refuse answers with the first refusal that the request meets, if any.
func (s *Server) refuse(w http.ResponseWriter, script script) bool {
	for _, f := range refusals {
		if !script.has(f.kind) {
			continue
		}
		if f.kind == RateLimit {
			w.Header().Set("Retry-After", strconv.Itoa(int(script.wait(RateLimit, time.Second).Seconds())))
		}
		s.fail(w, f.status, f.name, "the mock fails as configured: "+string(f.kind))
		return true
	}
	return false
}

// statusOf is what a valid request is answered with.
func statusOf(script script) int {
	for _, f := range refusals {
		if script.has(f.kind) {
			return f.status
		}
	}
	return http.StatusOK
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, c *conn, q Request, script script, start time.Time) {
	a := &answer{
		Server: s, renderer: newRenderer(s.config, q, script), w: w, flusher: http.NewResponseController(w),
		conn: c, done: r.Context().Done(), start: start, total: s.length(q, script), alarm: newAlarm(),
	}
	if s.config.Jitter > 0 {
		a.jitter = newJitter(s.config.Seed, q.Number)
	}
	if script.has(SlowHeaders) && !a.sleep(start.Add(script.wait(SlowHeaders, time.Second))) {
		return
	}
	c.closeWhenIdle.Store(script.has(CloseAfterReply))
	c.closeOnReuse.Store(script.has(CloseOnReuse))
	if q.Stream {
		s.header(w, "text/event-stream; charset=utf-8")
	} else {
		s.header(w, "application/json")
	}
	switch {
	case script.has(Empty):
		a.send(nil)
	case q.Stream:
		a.stream()
	default:
		a.whole()
	}
}

// length returns how many tokens are sent.
func (s *Server) length(q Request, script script) int {
	total := q.MaxTokens
	if total == 0 {
		total = s.config.Tokens
	}
	f, short := script[Short]
	switch {
	case short && f.After > 0:
		return min(total, f.After)
	case short:
		return max(1, total/2)
	}
	return total
}

// serve starts a server, says so, and closes it when ctx is done.
func serve(ctx context.Context, c Config, started func(url string)) error {
	s := New(c)
	if err := s.Start(); err != nil {
		return err
	}
	defer s.Close()
	started(s.URL)
	select {
	case <-ctx.Done():
	case <-s.stop: // it died, as told
		<-ctx.Done()
	}
	return nil
}
