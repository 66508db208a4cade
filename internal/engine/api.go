package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// maxBody bounds a request, in bytes.
const maxBody = 1 << 20

// api is the model behind an HTTP server. It answers with a scheduler.
type api struct {
	*scheduler
	web     *openai.Server
	context int // tokens of a prompt and its answer
	now     func() time.Time
	ids     atomic.Uint64
}

// newAPI returns a server whose slots are those of the scheduler.
func newAPI(s *scheduler, context, waiting int, key string, now func() time.Time) *api {
	a := &api{scheduler: s, context: context, now: now}
	a.web = openai.New(openai.Config{
		Model: a, Queue: openai.NewQueue(cap(s.given), waiting, s.stopped), Key: key, MaxBody: maxBody, Now: now,
		Routes: map[string]openai.Route{
			"/v1/models": openai.Page("application/json", a.models),
			"/health":    openai.Page("application/json", func() string { return "{\"status\":\"ok\"}\n" }),
			"/metrics": openai.Page("text/plain; version=0.0.4; charset=utf-8", func() string {
				return openai.Metrics(a.counts.metrics(a.web.Queue))
			}),
		},
	})
	return a
}

func (a *api) models() string {
	data, _ := json.Marshal(map[string]any{"object": "list", "data": []any{map[string]any{
		"id": a.model.name, "object": "model", "created": 0, "owned_by": "accelgate",
		"revision": a.model.revision(), "max_model_len": a.context,
	}}}) // strings and numbers have no error
	return string(data) + "\n"
}

// revision identifies what decides the answers, in 40 hexadecimal digits like
// a commit. Backend and threads do not.
func (m *model) revision() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", m.name, m.options.Seed, m.options.KVCache))
	return hex.EncodeToString(sum[:20])
}

// Accept takes a prompt or a chat that fits.
func (a *api) Accept(_ *http.Request, body []byte, chat bool) (openai.Answer, *openai.Error) {
	asked, refused := parseRequest(body, chat, a.model.name, a.context)
	if refused != nil {
		return nil, refused
	}
	g := newGeneration(asked.prompt, asked.limit, a.now())
	return func(ctx context.Context, w *openai.Response) {
		if err := a.push(g); err != nil {
			a.web.Fail(w, a.web.Refuse(err))
			return
		}
		defer g.giveUp()
		if r := a.newReply(w, asked); asked.Stream {
			r.stream(ctx, g)
		} else {
			r.whole(ctx, g)
		}
	}, nil
}
