package engine

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// startAPI serves a handler on a free port until the test ends.
func startAPI(t *testing.T, handler http.Handler) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: openai.HeaderTimeout}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { server.Close() })
	return "http://" + listener.Addr().String()
}

// TestCutter feeds answers byte by byte.
func TestCutter(t *testing.T) {
	for _, c := range []struct {
		stops      []string
		text, want string
		done       bool
	}{
		{nil, "abc", "abc", false},
		{[]string{"b"}, "abc", "a", true},
		{[]string{"abd"}, "ababd", "ab", true},
		{[]string{"abd"}, "abab", "abab", false},
		{[]string{"aab"}, "aaaab", "aa", true},
		{[]string{"c", "bc"}, "abc", "a", true},
		{[]string{"xyz", "bcd"}, "abcxyz", "abc", true},
		{[]string{"\n\n"}, "a\nb\n\nc", "a\nb", true},
	} {
		cut, got, done := cutter{stops: c.stops}, "", false
		for i := 0; i < len(c.text) && !done; i++ {
			var shown []byte
			shown, done = cut.next(c.text[i])
			got += string(shown)
		}
		if !done {
			got += string(cut.rest())
		}
		if got != c.want || done != c.done {
			t.Errorf("%q up to %q: got %q, %v, want %q, %v", c.text, c.stops, got, done, c.want, c.done)
		}
	}
}

// FuzzCutter compares with a search in the whole answer.
func FuzzCutter(f *testing.F) {
	f.Add("ababd", "abd", "b")
	f.Add("aaaa", "aab", "aaa")
	f.Fuzz(func(t *testing.T, text, one, other string) {
		if one == "" || other == "" || len(text) > 1000 {
			return
		}
		cut, got, done := cutter{stops: []string{one, other}}, "", false
		for i := 0; i < len(text) && !done; i++ {
			var shown []byte
			shown, done = cut.next(text[i])
			got += string(shown)
		}
		if !done {
			got += string(cut.rest())
		}
		end := len(text)
		for i := range len(text) + 1 { // the first end of a stop string
			if strings.HasSuffix(text[:i], one) || strings.HasSuffix(text[:i], other) {
				end = i
				break
			}
		}
		if !strings.HasPrefix(text[:end], got) || done != (strings.Contains(text, one) || strings.Contains(text, other)) || !done && got != text {
			t.Errorf("%q up to %q or %q: got %q, %v", text, one, other, got, done)
		}
		if done && text[:end] != got+one && text[:end] != got+other {
			t.Errorf("%q up to %q or %q: got %q, which neither follows", text, one, other, got)
		}
	})
}

// FuzzRequest checks that what is accepted can be computed and what is not
// has a reason.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		`{"model":"tiny","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"prompt":[1,2,255],"max_tokens":9,"stop":["a","b"],"n":1,"temperature":0}`,
		`{"prompt":["x"],"max_completion_tokens":null,"stop":"x"}`,
		`{"prompt":{},"messages":null,"stop":[null]}`, `[`, "null", "\xff", `{"messages":[{"content":null}],"max_tokens":1e99}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, chat bool) {
		const context = 64
		r, refused := parseRequest(data, chat, "tiny", context)
		if refused != nil {
			if refused.Status < 400 || refused.Status >= 500 || refused.Message == "" || refused.Code == "" {
				t.Errorf("%q: refused with %+v", data, refused)
			}
			return
		}
		s := sequence{capacity: context}
		if err := s.check(r.prompt); err != nil || r.limit < 1 || len(r.prompt)+r.limit > context {
			t.Errorf("%q: accepted as %+v: %v", data, r, err)
		}
		for _, stop := range r.Stop {
			if stop == "" || len(stop) > maxStop {
				t.Errorf("%q: accepted stop %q", data, stop)
			}
		}
	})
}
