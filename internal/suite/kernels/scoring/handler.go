package scoring

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

// The limits of requests.
const (
	maxBody     = 16 << 20
	maxBatch    = 1000
	maxRequests = 256 // at once
	maxWait     = 3600.0
)

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (any, error){
		"GET /{$}":                          s.about,
		"GET /health":                       s.health,
		"GET /definitions":                  s.definitions,
		"GET /definitions/{name}":           s.definition,
		"GET /definitions/{name}/workloads": s.workloads,
		"GET /workloads/{uuid}":             s.workload,
		"POST /evaluate":                    s.evaluate,
		"GET /tasks/{id}":                   s.task,
		"POST /tasks/batch":                 s.batch,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			value, err := answer(r)
			reply(w, value, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, nil, problem{http.StatusNotFound, "Not Found: GET / lists what there is"})
	})
	slots := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			reply(w, nil, problem{http.StatusServiceUnavailable, "too many requests at once: try again later"})
			return
		}
		if err := s.admit(r); err != nil {
			reply(w, nil, err)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		s.extend(w, r)
		mux.ServeHTTP(w, r)
	})
}

// extend gives a request that may wait the time for it.
func (s *Server) extend(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	if r.Method == http.MethodGet { // has no body to wait for
		_ = c.SetReadDeadline(time.Time{})
	}
	_ = c.SetWriteDeadline(s.Now().Add(time.Duration(maxWait)*time.Second + time.Minute))
}

// problem is a refusal with its status code.
type problem struct {
	code   int
	detail string
}

func (p problem) Error() string { return p.detail }

// reply writes JSON; errors have FastAPI's form.
func reply(w http.ResponseWriter, value any, err error) {
	code := http.StatusOK
	if err != nil {
		p := problem{http.StatusInternalServerError, err.Error()}
		_ = errors.As(err, &p)
		code, value = p.code, map[string]string{"detail": text.Clip(p.detail, maxReason)}
		if code == http.StatusServiceUnavailable || code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "10")
		}
		if code == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	data, err := json.Marshal(value)
	if err != nil {
		code, data = http.StatusInternalServerError, []byte(`{"detail":"the answer is not JSON: see the server's log"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(append(data, '\n'))
}

// admit refuses requests without the token, and those that a page in a browser on
// this host could make: they have an origin, or ask for a name that leads here.
func (s *Server) admit(r *http.Request) error {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	switch {
	case r.Header.Get("Origin") != "":
		return problem{http.StatusForbidden, "requests of browsers' pages are refused: ask with another client"}
	case s.Token != "" && !sameToken(r.Header.Get("Authorization"), s.Token):
		return problem{http.StatusUnauthorized, "the token is missing or wrong: send the header 'Authorization: Bearer TOKEN'"}
	case s.Token == "" && !slices.Contains(s.Hosts, strings.Trim(host, "[]")):
		return problem{http.StatusForbidden, fmt.Sprintf("the server has another name than %.80q: ask for 127.0.0.1", host)}
	}
	if r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return problem{http.StatusUnsupportedMediaType, "send JSON, with the header 'Content-Type: application/json'"}
		}
	}
	return nil
}

func sameToken(header, token string) bool {
	given, found := strings.CutPrefix(header, "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return found && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (s *Server) about(*http.Request) (any, error) {
	type endpoint struct {
		Method      string `json:"method"`
		Path        string `json:"path"`
		Description string `json:"description"`
	}
	return map[string]any{"name": "accelgate kernels serve", "endpoints": []endpoint{
		{"GET", "/", "Server info and endpoints"},
		{"GET", "/health", "Lanes and the length of the queue"},
		{"GET", "/definitions", "List all definitions"},
		{"GET", "/definitions/{name}", "Get a definition by name"},
		{"GET", "/definitions/{name}/workloads", "List workloads of a definition"},
		{"GET", "/workloads/{uuid}", "Get a workload by UUID"},
		{"POST", "/evaluate", "Submit a solution"},
		{"GET", "/tasks/{task_id}", "Get a task and its traces; ?timeout=SECONDS waits for them"},
		{"POST", "/tasks/batch", "Get several tasks"},
	}}, nil
}

func (s *Server) health(*http.Request) (any, error) {
	type worker struct {
		Device  string `json:"device"`
		Healthy bool   `json:"healthy"`
		Task    string `json:"task_id,omitempty"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	workers, status := []worker{}, "ok"
	for _, lane := range s.Lanes {
		workers = append(workers, worker{cmp.Or(lane, "default"), !s.stopping, s.busy[lane]})
	}
	if s.stopping {
		status = "stopping"
	}
	return map[string]any{"status": status, "workers": workers, "queue_size": len(s.queue)}, nil
}

func (s *Server) definitions(*http.Request) (any, error) {
	type info struct {
		Name        string  `json:"name"`
		Description *string `json:"description"`
	}
	list := []info{}
	for _, d := range s.Dataset.Definitions {
		one := info{Name: d.Name}
		if d.Description != "" {
			one.Description = &d.Description
		}
		list = append(list, one)
	}
	return list, nil
}

func notFound(what, name string) error {
	return problem{http.StatusNotFound, fmt.Sprintf("%s not found: %s", what, text.Quote(name, 80))}
}

func (s *Server) definition(r *http.Request) (any, error) {
	d := s.Dataset.Definition(r.PathValue("name"))
	if d == nil {
		return nil, notFound("Definition", r.PathValue("name"))
	}
	data, err := flashinfer.EncodeDefinition(d)
	return json.RawMessage(data), err
}

func (s *Server) workloads(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if s.Dataset.Definition(name) == nil {
		return nil, notFound("Definition", name)
	}
	list := []json.RawMessage{}
	for _, w := range s.Dataset.WorkloadsOf(name) {
		data, err := flashinfer.EncodeWorkload(&w.Workload)
		if err != nil {
			return nil, err
		}
		list = append(list, data)
	}
	return list, nil
}

func (s *Server) workload(r *http.Request) (any, error) {
	uuid := r.PathValue("uuid")
	for _, w := range s.Dataset.Workloads {
		if w.Workload.UUID == uuid {
			data, err := flashinfer.EncodeWorkload(&w.Workload)
			return json.RawMessage(data), err
		}
	}
	return nil, notFound("Workload", uuid)
}

// read decodes a body strictly: a misspelt key must not ask for something else.
func read(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("more follows the document")
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes: send a smaller solution", maxBody)}
	}
	return problem{http.StatusUnprocessableEntity, fmt.Sprintf("the body is not what is expected (%v): correct it", err)}
}
