package engine

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// How long a client may take. A stalled one must not hold a connection forever.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	writeTimeout  = 30 * time.Second // of one chunk
	idleTimeout   = 2 * time.Minute
)

// api answers HTTP requests with a scheduler.
type api struct {
	*scheduler
	context int // tokens of a prompt and its answer
	key     string
	now     func() time.Time
	ids     atomic.Uint64
}

// route is what a path answers to.
type route struct {
	method string
	serve  func(*api, http.ResponseWriter, *http.Request)
}

var routes = map[string]route{
	"/v1/chat/completions": {http.MethodPost, func(a *api, w http.ResponseWriter, r *http.Request) { a.complete(w, r, true) }},
	"/v1/completions":      {http.MethodPost, func(a *api, w http.ResponseWriter, r *http.Request) { a.complete(w, r, false) }},
	"/v1/models":           {http.MethodGet, (*api).models},
	"/health":              {http.MethodGet, (*api).health},
	"/metrics":             {http.MethodGet, (*api).metrics},
}

// ServeHTTP answers one request. Only paths below /v1/ need the key: probes of
// health and metrics have none.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, known := routes[r.URL.Path]
	head := r.Method == http.MethodHead && route.method == http.MethodGet
	switch {
	case !known:
		refusal(
			http.StatusNotFound,
			"not_found",
			"there is nothing at %.100q: see `accelgate engine serve -h` for what there is",
			r.URL.Path,
		).write(w)
	case r.Method != route.method && !head:
		w.Header().Set("Allow", route.method)
		refusal(
			http.StatusMethodNotAllowed,
			"method_not_allowed",
			"%.100q takes no %.20q: use %s",
			r.URL.Path,
			r.Method,
			route.method,
		).write(w)
	case strings.HasPrefix(r.URL.Path, "/v1/") && !a.authorised(r):
		refusal(
			http.StatusUnauthorized,
			"invalid_api_key",
			"the key is missing or wrong: send the server's as Authorization: Bearer KEY",
		).write(w)
	default:
		route.serve(a, w, r)
	}
}

func (a *api) authorised(r *http.Request) bool {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return a.key == "" || strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(key), []byte(a.key)) == 1
}

func (a *api) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (a *api) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	a.counts.write(w, a.length())
}

func (a *api) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": a.model.name, "object": "model", "created": 0, "owned_by": "accelgate",
		"revision": a.model.revision(), "max_model_len": a.context,
	}}})
}

// revision identifies what decides the answers, in 40 hexadecimal digits like
// a commit. Backend and threads do not.
func (m *Model) revision() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", m.name, m.options.Seed, m.options.KVCache))
	return hex.EncodeToString(sum[:20])
}

// complete answers a prompt or a chat.
func (a *api) complete(w http.ResponseWriter, r *http.Request, chat bool) {
	data, refused := readBody(w, r)
	if refused != nil {
		refused.write(w)
		return
	}
	asked, refused := parseRequest(data, chat, a.model.name, a.context)
	if refused != nil {
		refused.write(w)
		return
	}
	g := newGeneration(asked.prompt, asked.limit, a.now())
	if err := a.push(g); err != nil {
		a.counts.refused.Add(1)
		a.refusal(err).write(w)
		return
	}
	defer a.cancel(g)
	reply := a.newReply(w, asked)
	if asked.stream {
		reply.stream(r.Context(), g)
	} else {
		reply.whole(r.Context(), g)
	}
}

// readBody reads all of the body, which is also what makes the context of the
// request end when the client goes away.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = control.SetReadDeadline(time.Time{}) // or the connection would end while the answer comes
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, refusal(
			http.StatusRequestEntityTooLarge,
			"request_too_large",
			"the body has more than %d bytes: shorten the prompt",
			maxBody,
		)
	case err != nil:
		return nil, invalid("unreadable_body", "read the body: %v: send it whole", err)
	}
	return data, nil
}

// refusal returns why a generation was not begun or broke off.
func (a *api) refusal(err error) *apiError {
	switch {
	case errors.Is(err, errBusy):
		return refusal(
			http.StatusTooManyRequests,
			"queue_full",
			"%d requests wait already: try again later, or send fewer at once",
			a.limit,
		)
	case errors.Is(err, errStopping):
		return refusal(http.StatusServiceUnavailable, "stopping", "the server is stopping: start it again")
	}
	return refusal(http.StatusInternalServerError, "generation_failed", "%v", err)
}
