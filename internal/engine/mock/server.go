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
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// Server is one server. Its methods are safe for concurrent use, once Start has
// returned.
type Server struct {
	// URL is the server's address without a path, once it is started.
	URL string

	config Config
	now    func() time.Time
	pacer  *pacer
	web    *openai.Server

	listener net.Listener
	stop     chan struct{} // nothing is waited for any more
	stopped  sync.Once
	end      context.CancelFunc // of the server; nil before it is started
	ended    sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]*conn
	dead  bool // connections that still come are reset
	seen  Seen
	load  load
}

// farewell is how long requests have to end when all connections are reset.
const farewell = time.Minute

// New returns a server that is not started yet.
func New(c Config) *Server {
	s := &Server{config: c.withDefaults(), now: c.Now, stop: make(chan struct{}), conns: map[net.Conn]*conn{}}
	s.web = openai.New(openai.Config{
		Model: s, Queue: openai.NewQueue(c.Slots, math.MaxInt, s.stop), Routes: s.routes(), MaxBody: maxBody, Adapt: adapt, Now: c.Now,
	})
	return s
}

// Start listens and serves until Close. It refuses a configuration that makes
// no sense. A server starts once.
func (s *Server) Start() error {
	if s.now == nil {
		return errors.New("mock: Config.Now is absent: give it time.Now")
	}
	if err := s.config.check(); err != nil {
		return err
	}
	s.listener = s.config.Listener
	var err error
	if s.listener == nil {
		if s.listener, err = net.Listen("tcp", s.config.Listen); err != nil {
			return fmt.Errorf("listen: %w: choose another address", err)
		}
	}
	if s.pacer, err = newPacer(s.now, s.config.Listener != nil); err != nil {
		_ = s.listener.Close()
		return err
	}
	web := &http.Server{
		Handler: http.HandlerFunc(s.handle), ConnContext: s.connect, ConnState: s.connState, ReadHeaderTimeout: openai.HeaderTimeout,
		ErrorLog: log.New(io.Discard, "", 0), // resets and handshakes that fail are the point
	}
	if s.config.H2C {
		web.Protocols = new(http.Protocols)
		web.Protocols.SetUnencryptedHTTP2(true)
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.Background())
	s.ended.Go(func() { // with an error if a fault let the server die
		_ = openai.Serve(ctx, web, s.listener, openai.Ending{Farewell: farewell, BreakOff: s.die})
		s.pacer.close()
	})
	s.ended.Go(s.pacer.run)
	s.URL = "http://" + s.listener.Addr().String()
	return nil
}

// Close resets all connections and returns when nothing of a started server
// runs any more.
func (s *Server) Close() {
	if s.end == nil {
		return
	}
	s.end()
	s.die()
	s.ended.Wait()
}

// die stops listening, resets all connections and ends all waits. Connections
// come first: net/http would bring the answer of a wait that ends to a good end.
func (s *Server) die() {
	s.stopped.Do(func() {
		_ = s.listener.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dead = true
		for _, c := range s.conns {
			c.reset()
		}
		close(s.stop)
	})
}

// handle counts a request and adds an engine's headers to the response.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "uvicorn")
	if s.config.Engine == LlamaCPP {
		w.Header().Set("Server", "llama.cpp")
		w.Header().Set("Keep-Alive", "timeout=5, max=100")
	}
	if r.Method == http.MethodPost && r.URL.Path != "/tokenize" {
		if c := connOf(r); c.closeOnReuse.Load() && r.ProtoMajor == 1 {
			s.drop(c)
			panic(http.ErrAbortHandler) // net/http's way to say that nothing may be written
		}
		s.note(func() { s.load.inFlight++ })
		defer s.note(func() { s.load.inFlight-- })
	}
	s.web.ServeHTTP(w, r)
}

// routes returns what is served beside text.
func (s *Server) routes() map[string]openai.Route {
	all := s.pages()
	all["/tokenize"] = openai.Route{Method: http.MethodPost, Serve: s.tokenize}
	for path, k := range others {
		accept := func(r *http.Request, body []byte) (openai.Answer, *openai.Error) { return k.accept(s, r, body) }
		all[path] = openai.Route{Method: http.MethodPost, Serve: func(w http.ResponseWriter, r *http.Request) { s.web.Admit(accept)(w, r) }}
	}
	return all
}

// adapt gives an error the type and code that vLLM would.
func adapt(e *openai.Error) {
	if e.Code != e.Status {
		e.Type, e.Code = strings.ReplaceAll(http.StatusText(e.Status), " ", "")+"Error", e.Status
	}
}

// Accept takes a request for text.
func (s *Server) Accept(r *http.Request, body []byte, chat bool) (openai.Answer, *openai.Error) {
	q, refused := readRequest(body, chat)
	c := connOf(r)
	return s.accept(r, body, q, refused, func(ctx context.Context, w *openai.Response, q Request, script script) {
		s.answer(ctx, w, c, q, script)
	})
}

// accept notes a request and returns its answer, unless it is wrong or meets a refusal.
func (s *Server) accept(r *http.Request, body []byte, q Request, refused *openai.Error,
	answer func(context.Context, *openai.Response, Request, script)) (openai.Answer, *openai.Error) {
	q.seal(r, connOf(r), body)
	q, script := s.enter(q, refused == nil)
	if refused == nil {
		refused = script.refusal()
	}
	if refused != nil {
		return nil, refused
	}
	return func(ctx context.Context, w *openai.Response) {
		s.note(func() { s.load.running++ })
		defer s.note(func() { s.load.running-- })
		answer(ctx, w, q, script)
	}, nil
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

// refusal returns the first refusal that a request meets, nil for none.
func (s script) refusal() *openai.Error {
	for _, f := range refusals {
		if !s.has(f.kind) {
			continue
		}
		e := &openai.Error{Status: f.status, Type: f.name, Code: f.status, Message: "the mock fails as configured: " + string(f.kind)}
		if f.kind == RateLimit {
			e.RetryAfter = s.wait(RateLimit, time.Second)
		}
		return e
	}
	return nil
}

// failure is an error in an answer that has begun.
func failure(where string) *openai.Error {
	return &openai.Error{Type: "internal_error", Code: http.StatusInternalServerError, Message: "the mock fails as configured " + where}
}

func (s *Server) answer(ctx context.Context, w *openai.Response, c *conn, q Request, script script) {
	a := &answer{Server: s, renderer: newRenderer(s.config, q, script), w: w, conn: c, done: ctx.Done(), start: s.now(),
		total: s.length(q, script), alarm: newAlarm()}
	if s.config.Jitter > 0 {
		a.jitter = newJitter(s.config.Seed, q.Number)
	}
	if script.has(SlowHeaders) && !a.sleep(a.start.Add(script.wait(SlowHeaders, time.Second))) {
		return
	}
	c.closeWhenIdle.Store(script.has(CloseAfterReply))
	c.closeOnReuse.Store(script.has(CloseOnReuse))
	w.Header().Set("Content-Type", "application/json")
	if q.Stream {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
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
	total := cmp.Or(q.MaxTokens, s.config.Tokens)
	f, short := script[Short]
	switch {
	case short && f.After > 0:
		return min(total, f.After)
	case short:
		return max(1, total/2)
	}
	return total
}
