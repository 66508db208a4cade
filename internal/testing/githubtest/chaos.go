package githubtest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is a way in which a request goes wrong.
type Kind string

// The kinds of faults. Those that say "after" let the request take effect and
// lose its answer.
const (
	Forbidden   Kind = "forbidden"    // 403, as for a token that lacks a permission
	ReadOnly    Kind = "read-only"    // 403 to a write, as for an archived repository
	Missing     Kind = "missing"      // 404
	Conflict    Kind = "conflict"     // 409
	Invalid     Kind = "invalid"      // 422
	TooMany     Kind = "too-many"     // 429 with Retry-After
	Secondary   Kind = "secondary"    // 403 for the secondary rate limit, with Retry-After or without
	Down        Kind = "down"         // 5xx before the request takes effect
	DownAfter   Kind = "down-after"   // 5xx after it took effect
	Truncated   Kind = "truncated"    // the answer's body ends early
	Empty       Kind = "empty"        // the answer of success is {}
	Null        Kind = "null"         // the answer of success is null
	Short       Kind = "short"        // a file's contents end early, in an answer that is whole
	Slow        Kind = "slow"         // the answer's body pauses
	ResetBefore Kind = "reset-before" // the connection ends before the request takes effect
	ResetAfter  Kind = "reset-after"  // the connection ends after it took effect
	Duplicate   Kind = "duplicate"    // the network delivers the request twice
	Late        Kind = "late"         // the connection ends, and the request takes effect two requests later
	Exhausted   Kind = "exhausted"    // 403 for the primary rate limit, which is reset in some seconds
	MovedBase   Kind = "moved-base"   // somebody pushes to the default branch just before; the request itself is served
)

// Kinds returns all kinds of faults.
func Kinds() []Kind {
	return append([]Kind{Forbidden, ReadOnly, Missing, Conflict, Invalid, Duplicate, Late, Short}, Transient()...)
}

// Transient returns the kinds that say nothing of the request itself: who sends
// it again may well succeed.
func Transient() []Kind {
	return []Kind{TooMany, Secondary, Exhausted, Down, DownAfter, Truncated, Empty, Null, Slow, ResetBefore, ResetAfter, MovedBase}
}

// Chaos makes a share of the requests fail at random. The same seed and the
// same order of requests give the same faults.
type Chaos struct {
	Seed  uint64  `json:"seed"`
	Share float64 `json:"share"`           // of the requests, 0 to 1
	Kinds []Kind  `json:"kinds,omitempty"` // each as likely as the others; all where empty
	// At strikes that request alone, From that one and all that follow, whatever Share
	// is. The first one is 1.
	At   int `json:"at,omitempty"`
	From int `json:"from,omitempty"`
	// Pause is how long a slow body pauses, and one that trickles before each byte;
	// Latency is the longest time that a request takes to arrive and its answer to
	// return, each. Both are in nanoseconds in a file. Latency is of [Server.Direct] only.
	Pause   time.Duration `json:"pause,omitempty"`
	Latency time.Duration `json:"latency,omitempty"`
	// Sleep pauses in a body; nil means a timer.
	Sleep func(context.Context, time.Duration) error `json:"-"`
}

// chaos draws faults. The server's lock guards it.
type chaos struct {
	Chaos
	random *rand.Rand
	drawn  int // requests so far
	pushes int
	late   []lateRequest
}

// lateRequest takes effect once so many requests have come.
type lateRequest struct {
	after int
	serve func()
}

// arrive serves the late requests that are due.
func (c *chaos) arrive(requests int) {
	for c != nil && len(c.late) > 0 && c.late[0].after <= requests {
		due := c.late[0]
		c.late = c.late[1:]
		due.serve()
	}
}

func newChaos(c Chaos) (*chaos, error) {
	if c.Share < 0 || c.Share > 1 {
		return nil, fmt.Errorf("chaos: share is %v: give one from 0 to 1", c.Share)
	}
	for _, k := range c.Kinds {
		if all := append(Kinds(), Answers()...); !slices.Contains(all, k) {
			return nil, fmt.Errorf("chaos: no kind %q: choose from %v", k, all)
		}
	}
	if len(c.Kinds) == 0 {
		c.Kinds = Kinds()
	}
	if c.Sleep == nil {
		c.Sleep = pause
	}
	return &chaos{Chaos: c, random: rand.New(rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15))}, nil
}

// Disturb makes requests fail from now on.
func (s *Server) Disturb(by Chaos) error {
	made, err := newChaos(by)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chaos = made
	return nil
}

// draw returns what goes wrong with the next request, or "".
func (c *chaos) draw(r *http.Request) Kind {
	if c == nil || !c.strikes() {
		return ""
	}
	switch kind := c.Kinds[c.random.IntN(len(c.Kinds))]; {
	case kind == ReadOnly && r.Method == http.MethodGet:
		return Down
	case kind.strikes(r):
		return kind
	}
	return ""
}

// strikes reports whether something goes wrong with the next request.
func (c *chaos) strikes() bool {
	c.drawn++
	switch {
	case c.At > 0:
		return c.drawn == c.At
	case c.From > 0:
		return c.drawn >= c.From
	}
	return c.random.Float64() < c.Share
}

// latency returns how long something is on its way: mostly not long.
func (c *chaos) latency() time.Duration {
	if c == nil || c.Latency <= 0 {
		return 0
	}
	u := c.random.Float64()
	return time.Duration(u * u * u * float64(c.Latency))
}

// delivery is a response and how it reaches the client.
type delivery struct {
	response
	reset bool          // it does not
	cut   bool          // half of its body does
	pause time.Duration // in the middle of its body
	drops time.Duration // before each byte
	sleep func(context.Context, time.Duration) error
}

// struck serves a request that something of this kind happens to.
func (s *Server) struck(kind Kind, r *http.Request, serve func() response) delivery {
	switch kind {
	case ResetBefore:
		return delivery{reset: true}
	case ResetAfter:
		serve()
		return delivery{reset: true}
	case Late:
		s.chaos.late = append(s.chaos.late, lateRequest{len(s.requests) + 2, func() { serve() }})
		return delivery{reset: true}
	case Duplicate:
		first := delivery{response: serve()}
		serve()
		return first
	case DownAfter:
		serve()
		return delivery{response: encode(s.fail(kind))}
	case Truncated:
		return delivery{response: serve(), cut: true}
	case Empty, Null, Short:
		return delivery{response: hollowed(kind, serve())}
	case Slow:
		return delivery{response: serve(), pause: s.chaos.Pause, sleep: s.chaos.Sleep}
	case MovedBase:
		s.pushToDefault(r)
		return delivery{response: serve()}
	}
	if slices.Contains(Answers(), kind) {
		return s.broken(kind, serve)
	}
	return delivery{response: encode(s.fail(kind))}
}

// hollowed takes from an answer of success what it holds.
func hollowed(kind Kind, r response) response {
	if r.status != http.StatusOK && r.status != http.StatusCreated || !json.Valid(r.body) {
		return r
	}
	switch kind {
	case Empty:
		r.body = []byte("{}")
	case Null:
		r.body = []byte("null")
	case Short:
		r.body = shortened(r.body)
	}
	return r
}

// shortened takes the second half from the contents of a file; its size stays.
func shortened(body []byte) []byte {
	var file map[string]any
	if json.Unmarshal(body, &file) != nil {
		return body
	}
	text, ok := file["content"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(data) == 0 {
		return body
	}
	file["content"] = wrap(base64.StdEncoding.EncodeToString(data[:len(data)/2]))
	if short, err := json.Marshal(file); err == nil {
		return short
	}
	return body
}

// fail returns what GitHub answers to a request that fails in this way.
func (s *Server) fail(kind Kind) reply {
	switch kind {
	case Forbidden:
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	case ReadOnly:
		return failure(http.StatusForbidden, "Repository was archived so is read-only.")
	case Missing:
		return notFound()
	case Conflict:
		return failure(http.StatusConflict, "Git Repository is busy.")
	case Invalid:
		return refused("Validation Failed")
	case Exhausted:
		return s.exhausted(1 + s.chaos.random.IntN(5))
	case TooMany:
		return after(failure(http.StatusTooManyRequests, "API rate limit exceeded."), 1+s.chaos.random.IntN(5))
	case Secondary:
		r := failure(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
		if s.chaos.random.IntN(2) == 0 {
			return after(r, 1+s.chaos.random.IntN(5))
		}
		return r
	}
	status := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return failure(status[s.chaos.random.IntN(len(status))], "Server Error")
}

// exhausted is the primary rate limit, used up until so many seconds from now.
func (s *Server) exhausted(seconds int) reply {
	r := failure(http.StatusForbidden, "API rate limit exceeded for installation ID 1.")
	r.header = http.Header{"Date": {s.clock.UTC().Format(http.TimeFormat)}, "X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {"0"},
		"X-Ratelimit-Reset": {strconv.FormatInt(s.clock.Unix()+int64(seconds), 10)}}
	return r
}

func after(r reply, seconds int) reply {
	r.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return r
}

// pushToDefault moves the default branch of the repository that a request is
// about.
func (s *Server) pushToDefault(r *http.Request) {
	path := strings.SplitN(strings.TrimPrefix(s.byName(r).URL.Path, "/repos/"), "/", 3)
	if len(path) < 2 {
		return
	}
	repo := s.repos[strings.ToLower(path[0]+"/"+path[1])]
	if repo == nil {
		return
	}
	s.chaos.pushes++
	name := "refs/heads/" + repo.defaultBranch
	files := map[string]string{fmt.Sprintf("pushed/%d.txt", s.chaos.pushes): "moved\n"}
	repo.refs[name] = repo.git.commitFiles(files, "push", s.sign(repo.owner), repo.refs[name])
}
