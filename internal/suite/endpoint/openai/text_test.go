package openai_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// TestTextIsKept puts an answer together from its chunks, and lets Accept judge
// it.
func TestTextIsKept(t *testing.T) {
	t.Parallel()
	const end = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, c := range map[string]struct{ stream, want string }{
		"escapes": {`data: {"choices":[{"delta":{"content":"{\"a\": \u00e9\\n"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"\ud83d\ude00}"}}]}` + "\n\n" + end,
			`{"a": é\n😀}`},
		"reasoning aside": {`data: {"choices":[{"delta":{"reasoning":"hm"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"yes","refusal":null}}]}` + "\n\n" + end, "yes"},
		"null":            {`data: {"choices":[{"delta":{"content":null,"refusal":"no"}}]}` + "\n\n" + end, ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(c.stream))
		}))
		client := client(t, openai.Options{BaseURL: s.URL})
		reply := client.Stream(t.Context(), chat(t), openai.Expect{Text: true})
		if reply.Outcome != openai.OK || reply.Text != c.want {
			t.Errorf("%s: %s %q, want %q", name, reply.Outcome, reply.Text, c.want)
		}
		reply = client.Stream(t.Context(), chat(t), openai.Expect{Text: true, Accept: func(text string) error {
			if text != c.want {
				t.Errorf("%s: judged %q", name, text)
			}
			return errors.New("a\x1bb")
		}})
		if reply.Outcome != openai.Invalid || !strings.HasPrefix(reply.Reason, "a?b: ") {
			t.Errorf("%s: %s %q", name, reply.Outcome, reply.Reason)
		}
		if reply = client.Stream(t.Context(), chat(t), openai.Expect{}); reply.Text != "" {
			t.Errorf("%s: kept unasked", name)
		}
		s.Close()
	}
}
