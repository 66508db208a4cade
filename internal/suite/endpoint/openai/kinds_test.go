package openai_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// TestWholeAnswers holds answers of each kind, as servers write them, against
// the outcome that they have.
func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	embed := func() (openai.Body, error) { return openai.Embeddings("m", []string{"a", "b"}) }
	rerank := func() (openai.Body, error) { return openai.Rerank("m", "q", []string{"a", "b"}) }
	hear := func() (openai.Body, error) { return openai.Transcription("m", "x.WAV", []byte("RIFF")) }
	const one, two = `{"embedding":[0.1,-2],"index":0,"object":"embedding"}`, `{"index":1,"embedding":[1e-3,0]}`
	for name, c := range map[string]struct {
		ask     func() (openai.Body, error)
		answer  string
		outcome openai.Outcome
		reason  string
		tokens  int
	}{
		"embeddings":          {embed, `{"data":[` + one + `,` + two + `],"usage":{"prompt_tokens":7,"total_tokens":7}}`, openai.OK, "", 7},
		"without an index":    {embed, `{"data":[{"embedding":[1]},{"embedding":[2]}]}`, openai.OK, "", -1},
		"out of order":        {embed, `{"data":[` + two + `,` + one + `]}`, openai.OK, "", -1},
		"one is missing":      {embed, `{"data":[` + one + `]}`, openai.Invalid, "embedding 1 of 2 is missing", -1},
		"one twice":           {embed, `{"data":[` + one + `,` + one + `]}`, openai.Invalid, "embedding 0 is one too many", -1},
		"one too many":        {embed, `{"data":[` + one + `,` + two + `,{"index":2,"embedding":[1,2]}]}`, openai.Invalid, "embedding 2 is one too many: 2 were asked", -1},
		"not a number":        {embed, `{"data":[{"index":0,"embedding":[null,1]},` + two + `]}`, openai.Invalid, "embedding 0 holds null", -1},
		"zero":                {embed, `{"data":[{"index":0,"embedding":[0,0]},` + two + `]}`, openai.Invalid, "empty or all 0", -1},
		"two sizes":           {embed, `{"data":[` + one + `,{"index":1,"embedding":[1]}]}`, openai.Invalid, "has 1 numbers, and the first one 2", -1},
		"base64":              {embed, `{"data":[{"index":0,"embedding":"AACAPw=="}]}`, openai.BadJSON, "correct request.api", -1},
		"cut":                 {embed, `{"data":[` + one, openai.BadJSON, "is not what", -1},
		"something else":      {embed, `<html>`, openai.BadJSON, "<html>", -1},
		"an error behind 200": {embed, `{"error":{"message":"no such model"}}`, openai.ErrorInStream, "no such model", -1},
		"ranks":               {rerank, `{"results":[{"index":1,"relevance_score":0.9,"document":{"text":"b"}},{"index":0,"relevance_score":-3}],"usage":{"total_tokens":9}}`, openai.OK, "", 9},
		"ranks as a list":     {rerank, `[{"index":1,"score":0.9},{"index":0,"score":0.1}]`, openai.OK, "", -1},
		"a rank is missing":   {rerank, `{"results":[{"index":1,"relevance_score":0.9}]}`, openai.Invalid, "result 0 of 2 is missing", -1},
		"a rank of nothing":   {rerank, `{"results":[{"index":-1,"relevance_score":0.9}]}`, openai.Invalid, "result -1 is one too many", -1},
		"no score":            {rerank, `{"results":[{"index":1}]}`, openai.Invalid, "no index or no score", -1},
		"no results":          {rerank, `{}`, openai.BadJSON, "is not what", -1},
		"a text":              {hear, `{"text":"hello"}`, openai.OK, "", -1},
		"silence":             {hear, `{"text":""}`, openai.OK, "", -1},
		"no text":             {hear, `{"segments":[]}`, openai.BadJSON, "is not what", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := c.ask()
			if err != nil || body.Streams() {
				t.Fatal(err)
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if name := "file"; body.Path() == "/v1/audio/transcriptions" {
					if _, h, err := r.FormFile(name); err != nil || h.Filename != "recording.wav" || r.FormValue("model") != "m" {
						t.Errorf("form %v, %v", r.Form, err)
					}
				}
				_, _ = w.Write([]byte(c.answer))
			}))
			defer s.Close()
			reply := client(t, openai.Options{BaseURL: s.URL}).Whole(t.Context(), body)
			if reply.Outcome != c.outcome || !strings.Contains(reply.Reason, c.reason) || reply.PromptTokens != c.tokens || reply.EOF <= reply.Send || reply.First != 0 {
				t.Errorf("%+v", reply)
			}
		})
	}
}

// FuzzWhole reads hostile answers.
func FuzzWhole(f *testing.F) {
	f.Add(`{"data":[{"index":0,"embedding":[0.1]}],"usage":{"prompt_tokens":7}}`)
	f.Add(`{"results":[{"index":0,"relevance_score":1e999}]}`)
	f.Add(`{"data":[{"index":1e300,"embedding":[[1]]}]}`)
	embed, err := openai.Embeddings("m", []string{"a"})
	if err != nil {
		f.Fatal(err)
	}
	rerank, err := openai.Rerank("m", "q", []string{"a"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, body := range []openai.Body{embed, rerank} {
			if tokens, err := body.Check([]byte(answer)); tokens < 0 || err != nil && err.Error() == "" {
				t.Errorf("%q: %d tokens, %v", answer, tokens, err)
			}
		}
	})
}
