// Package openai serves OpenAI's API over HTTP: paths, requests, slots, streams
// and errors. What it answers comes from a [Model].
package openai

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How long a client may take. A stalled one must not hold a connection forever.
const (
	HeaderTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	writeTimeout  = 30 * time.Second // of one [Response.Send]
)

// Model is what answers: a transformer, or a script.
type Model interface {
	// Accept returns what answers a request, or why it is refused. It is called
	// before the request waits for a slot, with a body that [Parse] reads.
	Accept(r *http.Request, body []byte, chat bool) (Answer, *Error)
}

// Answer writes the response to a request that has a slot. The context ends
// when the client goes away.
type Answer func(ctx context.Context, w *Response)

// Config is what a server consists of.
type Config struct {
	Model   Model
	Queue   *Queue
	Routes  map[string]Route // by path, besides those that Model answers
	Key     string           // that paths below /v1/ need; "" for none
	MaxBody int64            // bytes
	// Adapt, unless it is nil, puts an error into other words before it is sent.
	Adapt func(*Error)
	Now   func() time.Time
}

// Route is what a path answers to.
type Route struct {
	Method string
	Serve  http.HandlerFunc
}

// Page is a route to a text that does not depend on the request.
func Page(mime string, text func() string) Route {
	return Route{http.MethodGet, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mime)
		_, _ = io.WriteString(w, text()) // the client may be gone
	}}
}

// Server answers HTTP requests. It is a handler for an [http.Server].
type Server struct {
	Config
	routes map[string]Route
}

// New returns a server.
func New(c Config) *Server {
	s := &Server{Config: c, routes: maps.Clone(c.Routes)}
	for path, chat := range map[string]bool{"/v1/chat/completions": true, "/v1/completions": false} {
		s.routes[path] = Route{http.MethodPost, s.Admit(func(r *http.Request, body []byte) (Answer, *Error) {
			return c.Model.Accept(r, body, chat)
		})}
	}
	return s
}

// ServeHTTP answers one request. Only paths below /v1/ need the key: probes of
// health and metrics have none.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	route, known := s.routes[path]
	head := r.Method == http.MethodHead && route.Method == http.MethodGet
	switch {
	case !known:
		paths := strings.Join(slices.Sorted(maps.Keys(s.routes)), ", ")
		s.Fail(w, Refusal(http.StatusNotFound, "not_found", "there is nothing at %.100q: ask for one of %s", path, paths))
	case r.Method != route.Method && !head:
		w.Header().Set("Allow", route.Method)
		s.Fail(w, Refusal(http.StatusMethodNotAllowed, "method_not_allowed", "%.100q takes no %.20q: use %s", path, r.Method, route.Method))
	case strings.HasPrefix(path, "/v1/") && !s.authorised(r):
		const advice = "the key is missing or wrong: send the server's as Authorization: Bearer KEY"
		s.Fail(w, Refusal(http.StatusUnauthorized, "invalid_api_key", advice))
	default:
		route.Serve(w, r)
	}
}

func (s *Server) authorised(r *http.Request) bool {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return s.Key == "" || strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(key), []byte(s.Key)) == 1
}

// Fail sends an error as a whole response.
func (s *Server) Fail(w http.ResponseWriter, e *Error) {
	if s.Adapt != nil {
		s.Adapt(e)
	}
	e.write(w)
}

// Admit returns a handler that reads a request whole, waits for a slot unless
// accept refuses it, and holds the slot until the response is written.
func (s *Server) Admit(accept func(r *http.Request, body []byte) (Answer, *Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		body, refused := s.read(w, r, control)
		var answer Answer
		if refused == nil {
			answer, refused = accept(r, body)
		}
		if refused != nil {
			s.Fail(w, refused)
			return
		}
		leave, err := s.Queue.Enter(r.Context())
		if err != nil {
			s.Fail(w, s.Refuse(err)) // the client may be gone
			return
		}
		defer leave()
		answer(r.Context(), &Response{ResponseWriter: w, control: control, now: s.Now})
	}
}

// read reads all of the body, which is also what makes the context of the
// request end when the client goes away.
func (s *Server) read(w http.ResponseWriter, r *http.Request, control *http.ResponseController) ([]byte, *Error) {
	_ = control.SetReadDeadline(s.Now().Add(bodyTimeout))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.MaxBody))
	_ = control.SetReadDeadline(time.Time{}) // or the connection would end while the answer comes
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		const advice = "the body has more than %d bytes: shorten the prompt"
		return nil, Refusal(http.StatusRequestEntityTooLarge, "request_too_large", advice, s.MaxBody)
	case err != nil:
		return nil, Invalid("unreadable_body", "read the body: %v: send it whole", err)
	}
	return data, nil
}

// Refuse returns why an answer was not begun or broke off.
func (s *Server) Refuse(err error) *Error {
	switch {
	case errors.Is(err, errBusy):
		const advice = "%d requests wait already: try again later, or send fewer at once"
		return Refusal(http.StatusTooManyRequests, "queue_full", advice, s.Queue.limit)
	case errors.Is(err, ErrStopping):
		return Refusal(http.StatusServiceUnavailable, "stopping", "the server is stopping: start it again")
	}
	return Refusal(http.StatusInternalServerError, "generation_failed", "%v", err)
}

// Response is what a request is answered with.
type Response struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	renew   time.Time // when the deadline of writes is put off again: to do so for each token takes processor time
}

// Send writes at once. Nothing is still something: the headers. A client that
// takes nothing for 20 to 30 seconds loses its connection.
func (w *Response) Send(data []byte) error {
	if now := w.now(); now.After(w.renew) {
		_ = w.control.SetWriteDeadline(now.Add(writeTimeout))
		w.renew = now.Add(writeTimeout / 3)
	}
	if len(data) > 0 {
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return w.control.Flush()
}

// SendWhole sends an object as the whole response.
func (w *Response) SendWhole(object []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(object)))
	return w.Send(object)
}

// Metric is a number that /metrics shows.
type Metric struct {
	Name, Labels string // such as x_total and {reason="stop"}
	Kind, Help   string // "counter" or "gauge"; Help may be ""
	Value        float64
}

// Metrics writes numbers in the text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/. Those of one
// name follow each other.
func Metrics(all []Metric) string {
	var b strings.Builder
	last := ""
	for _, m := range all {
		if m.Name != last && m.Help != "" {
			fmt.Fprintf(&b, "# HELP %s %s\n", m.Name, m.Help)
		}
		if m.Name != last {
			fmt.Fprintf(&b, "# TYPE %s %s\n", m.Name, m.Kind)
		}
		last = m.Name
		fmt.Fprintf(&b, "%s%s %v\n", m.Name, m.Labels, m.Value)
	}
	return b.String()
}
