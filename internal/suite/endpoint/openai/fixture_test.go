package openai_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var update = flag.Bool("update", false, "rewrite what the streams in testdata are expected to yield")

// given describes how a stream is served and asked for.
type given struct {
	Status       int    `json:"status,omitempty"`
	ContentType  string `json:"content_type,omitempty"`
	Location     string `json:"location,omitempty"`
	ExpectOutput int    `json:"expect_output,omitempty"`
	ExpectPrompt int    `json:"expect_prompt,omitempty"`
	MaxTokens    int    `json:"max_tokens,omitempty"`
	Encoding     string `json:"content_encoding,omitempty"`
}

// want is what of a reply does not depend on time.
type want struct {
	Outcome      openai.Outcome `json:"outcome"`
	Reason       string         `json:"reason,omitempty"`
	Chunks       int            `json:"chunks"`
	Tokens       int            `json:"token_chunks"`
	Prompt       int            `json:"prompt_tokens"`
	Output       int            `json:"output_tokens"`
	Streamed     int            `json:"streamed_tokens,omitempty"` // where they are not all
	Cached       int            `json:"cached_tokens"`
	Source       string         `json:"source,omitempty"`
	Note         string         `json:"note,omitempty"`
	FinishReason string         `json:"finish_reason,omitempty"`
	Events       []string       `json:"events"` // that have a time
	PromptMS     float64        `json:"server_prompt_ms,omitempty"`
	DecodeMS     float64        `json:"server_decode_ms,omitempty"`
}

type expectation struct {
	Given given `json:"given"`
	Want  want  `json:"want"`
}

func view(r openai.Reply) want {
	v := want{Outcome: r.Outcome, Reason: r.Reason, Chunks: r.Chunks, Tokens: len(r.Tokens), Prompt: r.PromptTokens, Output: r.OutputTokens,
		Cached: r.CachedTokens, Source: r.Source, Note: r.Note, FinishReason: r.FinishReason, PromptMS: zeroNaN(r.ServerPromptMS), DecodeMS: zeroNaN(r.ServerDecodeMS)}
	if r.StreamedTokens != r.OutputTokens {
		v.Streamed = r.StreamedTokens
	}
	for _, e := range []struct {
		name string
		at   time.Duration
	}{{"first_chunk", r.FirstChunk}, {"first", r.First}, {"first_content", r.FirstContent}, {"last", r.Last},
		{"finish", r.Finish}, {"usage", r.Usage}, {"done", r.Done}, {"eof", r.EOF}} {
		if e.at != 0 {
			v.Events = append(v.Events, e.name)
		}
	}
	return v
}

func zeroNaN(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// clock counts from just before the test, so that no event is at 0.
func clock() func() time.Duration {
	start := time.Now().Add(-time.Second)
	return func() time.Duration { return time.Since(start) }
}

func client(t testing.TB, o openai.Options) *openai.Client {
	t.Helper()
	if o.Now == nil {
		o.Now = clock()
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func chat(t testing.TB) openai.Body {
	t.Helper()
	body, err := openai.Encode(openai.Request{Chat: true, Model: "m", Prompt: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestStreams serves each testdata/streams/*.sse and holds the reply against
// the .json beside it.
func TestStreams(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/streams/*.sse")
	const odd = 63 // servers that were seen to answer differently; there are more
	if err != nil || len(files) < odd {
		t.Fatalf("%d streams, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".sse"), func(t *testing.T) {
			t.Parallel()
			text := readFile(t, name)
			beside := strings.TrimSuffix(name, ".sse") + ".json"
			e := readExpectation(t, beside)
			r := ask(t, text, e.Given)
			checkTimes(t, r)
			if *update {
				e.Want = view(r)
				writeExpectation(t, beside, e)
				return
			}
			if diff := cmp.Diff(view(r), e.Want); diff != "" {
				t.Errorf("got - want + (run with -update to accept):\n%s", diff)
			}
		})
	}
}

// ask serves one body over a real connection and asks for it.
func ask(t *testing.T, text []byte, g given) openai.Reply {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if g.ContentType != "" {
			w.Header().Set("Content-Type", g.ContentType)
		}
		if g.Location != "" {
			w.Header().Set("Location", g.Location)
		}
		if g.Encoding != "" {
			w.Header().Set("Content-Encoding", g.Encoding)
		}
		w.WriteHeader(max(g.Status, http.StatusOK))
		_, _ = w.Write(text)
	}))
	defer server.Close()
	c := client(t, openai.Options{BaseURL: server.URL})
	return c.Stream(t.Context(), chat(t), openai.Expect{OutputTokens: g.ExpectOutput, PromptTokens: g.ExpectPrompt, MaxTokens: g.MaxTokens})
}

// checkTimes holds what is true of every reply.
func checkTimes(t testing.TB, r openai.Reply) {
	t.Helper()
	if len(r.Tokens) != len(r.Reads) {
		t.Errorf("%d tokens, %d reads", len(r.Tokens), len(r.Reads))
	}
	if n := len(r.Tokens); n > 0 && (r.Tokens[0] != r.First || r.Tokens[n-1] != r.Last) {
		t.Errorf("tokens from %v to %v, first %v, last %v", r.Tokens[0], r.Tokens[n-1], r.First, r.Last)
	}
	for i := range r.Tokens[:max(0, len(r.Tokens)-1)] {
		if r.Tokens[i] > r.Tokens[i+1] || r.Reads[i] > r.Reads[i+1] || r.Reads[i] == r.Reads[i+1] && r.Tokens[i] != r.Tokens[i+1] {
			t.Errorf("token %d at %v in read %d, the next at %v in read %d", i, r.Tokens[i], r.Reads[i], r.Tokens[i+1], r.Reads[i+1])
		}
	}
	if r.Done != 0 && r.EOF != r.Done {
		t.Errorf("[DONE] at %v, the end at %v", r.Done, r.EOF)
	}
	for _, at := range []time.Duration{r.Conn, r.Headers, r.FirstChunk, r.First, r.FirstContent, r.Last, r.Finish, r.Usage, r.Done} {
		if at != 0 && (at < r.Send || at > r.EOF) {
			t.Errorf("an event at %v, not from sending at %v to the end at %v", at, r.Send, r.EOF)
		}
	}
	if len(r.Reason) > 700 || (r.Outcome == openai.OK) != (r.Reason == "") {
		t.Errorf("outcome %s for the reason %q", r.Outcome, r.Reason)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readExpectation(t *testing.T, name string) (e expectation) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && *update {
		return e
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatalf("%v: run with -update to write it", err)
	}
	return e
}

func writeExpectation(t *testing.T, name string, e expectation) {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(e); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedStreams reads what real engines sent.
func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "recorded streams were NOT read", "llm/*.sse")
	all := []string{"first_chunk", "first", "first_content", "last", "finish", "usage", "done", "eof"}
	for name, w := range map[string]want{
		"llama-server-chat-stream-usage.sse":   {Chunks: 7, Tokens: 6, Prompt: 54, Output: 6, PromptMS: 647.919, DecodeMS: 32.338},
		"llama-server-chat-stream-nousage.sse": {Chunks: 3, Tokens: 2, Prompt: 40, Output: 2, Cached: 39, PromptMS: 65.01, DecodeMS: 381.753},
		"llama-server-completions-stream.sse":  {Chunks: 5, Tokens: 4, Prompt: 7, Output: 4, PromptMS: 41.613, DecodeMS: 2806.917},
		"node-llama-cpp-chat-stream-usage.sse": {Chunks: 6, Tokens: 4, Prompt: 6, Output: 4, Cached: -1},
		"llama-server-chat-stream-bytes.sse":   {Chunks: 61, Tokens: 60, Prompt: 40, Output: 60, PromptMS: 2961.59, DecodeMS: 19582.412},
	} {
		w.Outcome, w.Source, w.FinishReason, w.Events = openai.OK, openai.FromUsage, "length", all
		got := view(ask(t, readFile(t, filepath.Join(dir, "llm", name)), given{}))
		if diff := cmp.Diff(got, w); diff != "" {
			t.Errorf("%s: got - want +\n%s", name, diff)
		}
	}
}

// TestRecordedFailures reads what a real llama-server answered to requests that it could not serve, to one
// without a stream, and half of a stream that was cut.
func TestRecordedFailures(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "recorded answers were NOT read", "llm/*.txt")
	for name, w := range map[string]struct {
		given   given
		outcome openai.Outcome
		reason  string
		prompt  int
	}{
		"llama-server-error-badjson.txt":    {given{Status: 500}, openai.HTTP5xx, "parse error at line 1, column 10", -1},
		"llama-server-error-nomessages.txt": {given{Status: 500}, openai.HTTP5xx, "key 'messages' not found", -1},
		"llama-server-error-toolong.txt":    {given{}, openai.Truncated, "ended without a finish reason after 2 chunks", -1},
		"llama-server-chat-nostream.json":   {given{ContentType: "application/json"}, openai.BadJSON, "is not a stream", 40},
	} {
		body := bytes.TrimSuffix(bytes.TrimSpace(readFile(t, filepath.Join(dir, "llm", name))), []byte("\n500")) // the status stands behind the body
		r := ask(t, body, w.given)
		checkTimes(t, r)
		if r.Outcome != w.outcome || !strings.Contains(r.Reason, w.reason) || r.PromptTokens != w.prompt {
			t.Errorf("%s: %s (%s), %d tokens in the prompt", name, r.Outcome, r.Reason, r.PromptTokens)
		}
	}
}
