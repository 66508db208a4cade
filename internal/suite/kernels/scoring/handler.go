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

	"github.com/accelgate/accelgate/internal/text"
)

// The limits of requests.
const (
	maxBody     = 16 << 20
	maxBatch    = 1000
	maxRequests = 256 // at once
	maxWait     = 3600.0
)

// handler answers requests. It is safe for concurrent use.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range s.routes() {
		mux.HandleFunc(route.pattern(), func(w http.ResponseWriter, r *http.Request) {
			value, err := route.answer(r)
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

// reply writes JSON, or a page; errors have FastAPI's form.
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
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if p, ok := value.(page); ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		_, _ = w.Write(p)
		return
	}
	data, err := json.Marshal(value)
	if err != nil {
		code, data = http.StatusInternalServerError, []byte(`{"detail":"the answer is not JSON: see the server's log"}`)
	}
	w.Header().Set("Content-Type", "application/json")
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

// workerInfo is a lane.
type workerInfo struct {
	Device  string `json:"device"`
	Healthy bool   `json:"healthy"`
	Task    string `json:"task_id,omitempty" jsonschema:"the task that is measured"`
}

// health is how the server is.
type health struct {
	Status  string       `json:"status" jsonschema:"ok or stopping"`
	Workers []workerInfo `json:"workers"`
	Queue   int          `json:"queue_size" jsonschema:"pending tasks"`
}

func (s *Server) health(*http.Request) (health, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := health{Status: "ok", Workers: []workerInfo{}, Queue: len(s.queue)}
	for _, lane := range s.Lanes {
		h.Workers = append(h.Workers, workerInfo{cmp.Or(lane, "default"), !s.stopping, s.busy[lane]})
	}
	if s.stopping {
		h.Status = "stopping"
	}
	return h, nil
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
