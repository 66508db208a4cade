package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// record takes a body through the same code as a stream.
func record(t testing.TB, r *recording, body io.Reader) error {
	t.Helper()
	var now time.Duration
	err := r.read(body, func() time.Duration { now++; return now }, func() {})
	if err == errDone {
		err = nil
	}
	return err
}

func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(files) == 0 {
		f.Fatalf("no streams: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// FuzzBody holds that no body makes the parser panic or count what is not
// there, and that the pieces it comes in do not matter.
func FuzzBody(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		expect := Expect{MaxTokens: len(body) % 4}
		parse := func(in io.Reader, complete bool) (Reply, finding) {
			var r recording
			var reply Reply
			if err := record(t, &r, in); err != nil {
				t.Fatal(err)
			}
			found := r.parse(&reply, expect, complete)
			reply.checkCounts(t, body, expect)
			if reply.Done > 0 && !r.done {
				t.Errorf("%q: [DONE] was not noticed", body)
			}
			return reply, found
		}
		_, whole := parse(bytes.NewReader(body), true)
		_, pieces := parse(iotest.OneByteReader(bytes.NewReader(body)), true)
		if !bytes.Equal(whole.failure, pieces.failure) || !bytes.Equal(whole.bad, pieces.bad) || !bytes.Equal(whole.whole, pieces.whole) {
			t.Errorf("whole %+v, in pieces %+v", whole, pieces)
		}
		parse(bytes.NewReader(body), false)
		(&Client{}).quote(message(body))
	})
}

func (r *Reply) checkCounts(t *testing.T, body []byte, expect Expect) {
	t.Helper()
	if lines := bytes.Count(body, []byte("data:")); r.Chunks > lines || len(r.Tokens) > r.Chunks || len(r.Tokens) != len(r.Reads) {
		t.Errorf("%d chunks, %d tokens, %d reads in %d lines", r.Chunks, len(r.Tokens), len(r.Reads), lines)
	}
	if r.OutputTokens < -1 || r.PromptTokens < -1 || r.CachedTokens < -1 || (r.OutputTokens < 0) != (r.Source == "") {
		t.Errorf("%d output, %d prompt, %d cached, source %q", r.OutputTokens, r.PromptTokens, r.CachedTokens, r.Source)
	}
	if r.Source == FromUsage && expect.MaxTokens > 0 && r.OutputTokens > expect.MaxTokens || r.PromptTokens >= 0 && r.CachedTokens > r.PromptTokens {
		t.Errorf("%d output of %d, %d cached of %d prompt tokens", r.OutputTokens, expect.MaxTokens, r.CachedTokens, r.PromptTokens)
	}
}

// FuzzChunk holds the cursor against encoding/json: both agree on what is
// JSON, and on what a chunk says where its names are written plainly.
func FuzzChunk(f *testing.F) {
	for _, seed := range []string{`{}`, ` [1,-0.5e+3,{"a":null}] `, `{"choices":[{"delta":{"content":"\u00e9"}}]}`, `01`, `{"a":1,}`, `"\x"`, `{"a" 1}`, `[,]`, `-`, `1.`, `tru`, "\"\x01\"", `{}x`,
		`{"usage":{"prompt_tokens":3,"completion_tokens":4.0}}`, "\"\x7f\xff\"", "", "  ", "{}\x00"} {
		f.Add([]byte(seed))
	}
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		k, ok := parseChunk(text)
		if ok != json.Valid(text) {
			t.Fatalf("%q: %t, encoding/json says %t", text, ok, json.Valid(text))
		}
		var d decoded
		if !ok || bytes.ContainsRune(text, '\\') || json.Unmarshal(text, &d) != nil || duplicates(text) {
			return
		}
		var finish, content string
		for _, c := range d.Choices {
			content += c.Delta.Content + c.Text
			if c.Finish != "" {
				finish = c.Finish
			}
		}
		if k.choice != (len(d.Choices) > 0) || string(k.finish) != finish || k.content != (content != "") {
			t.Errorf("%q: %+v, encoding/json says %+v", text, k, d)
		}
	})
}

// decoded is the same chunk for encoding/json.
type decoded struct {
	Choices []struct {
		Text   string `json:"text"`
		Finish string `json:"finish_reason"`
		Delta  struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *struct {
		Prompt int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
}

// duplicates reports whether a name stands there twice, or in another case:
// there encoding/json and the cursor differ, and neither is right.
func duplicates(text []byte) bool {
	for _, name := range []string{`"choices"`, `"delta"`, `"content"`, `"text"`, `"finish_reason"`} {
		lower := strings.ToLower(string(text))
		if n := strings.Count(string(text), name); n > 1 || strings.Count(lower, name) != n {
			return true
		}
	}
	return strings.ContainsAny(string(text), "\u017f\u212a") // fold to s and k
}
