package mock

import (
	"net/http"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// TestInvalidRequests: each is answered with 400 and an error that says why.
func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	s := start(t, Config{})
	for _, c := range []struct{ path, body, want string }{
		{chatPath, ``, "not a JSON object"},
		{chatPath, `[]`, "not a JSON object"},
		{chatPath, `{"messages":`, "not understood"},
		{chatPath, `{}`, "messages are absent"},
		{chatPath, `{"messages":[]}`, "messages are empty"},
		{chatPath, `{"messages":"x"}`, "messages are not understood"},
		{chatPath, `{"messages":[{"content":"x"}]}`, "role is absent"},
		{chatPath, `{"messages":[{"role":"user","content":7}]}`, "neither a text nor a list"},
		{chatPath, strings.Replace(chatWhole, `6}`, `0}`, 1), "max_tokens is 0"},
		{chatPath, strings.Replace(chatWhole, `6}`, `"6"}`, 1), "not understood"},
		{chatPath, strings.Replace(chatWhole, `6}`, `6,"n":2}`, 1), "n is 2"},
		{chatPath, strings.Replace(chatWhole, `6}`, `6,"temperature":-1}`, 1), "temperature is -1"},
		{chatPath, strings.Replace(chatWhole, `6}`, `6,"stream_options":{}}`, 1), "stream_options"},
		{chatPath, strings.Replace(chatWhole, `"m"`, `"`+strings.Repeat("m", openai.MaxName+1)+`"`, 1), "model's name"},
		{completionPath, `{}`, "prompt is absent"},
		{completionPath, `{"prompt":["a","b"]}`, "neither a text nor a list"},
	} {
		r := post(t.Context(), s, c.path, c.body)
		if r.status != http.StatusBadRequest || !strings.HasPrefix(r.body, `{"error":{"message":"`) || !strings.Contains(r.body, c.want) {
			t.Errorf("%.100s: %d %s, want 400 and %q", c.body, r.status, r.body, c.want)
		}
	}
	if seen := s.Seen(); seen.Valid != 0 {
		t.Errorf("%d of them were taken for valid", seen.Valid)
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, body := range []string{chatStream, chatWhole, textStream, textWhole, `{"prompt":null}`, `{"messages":[{"role":"a","content":[{"text":"x y"}]}]}`} {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, chat bool) {
		q, err := readRequest(data, chat)
		if err != nil {
			return
		}
		if q.MaxTokens < 0 || q.MaxTokens > maxTokens || q.PromptTokens < 0 || q.PromptTokens > len(data) || len(q.Model) > openai.MaxName || q.Chat != chat {
			t.Errorf("%q is understood as %+v", data, q)
		}
	})
}
