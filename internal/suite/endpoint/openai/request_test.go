package openai_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	zero := 0.0
	for name, tt := range map[string]struct {
		request openai.Request
		body    string
		err     string
	}{
		"chat": {openai.Request{Chat: true, Model: "m", Prompt: "<é>", System: "s", MaxTokens: 8, IgnoreEOS: true, Temperature: &zero, Stop: []string{"\n"}},
			`{"ignore_eos":true,"max_tokens":8,"messages":[{"role":"system","content":"s"},{"role":"user","content":"<é>"}],"model":"m","stop":["\n"],"stream":true,"stream_options":{"include_usage":true},"temperature":0}`, ""},
		"completion": {openai.Request{Model: "m", Prompt: "p", Extra: map[string]json.RawMessage{"top_k": []byte(" 1 "), "cache_prompt": []byte("false")}},
			`{"cache_prompt":false,"model":"m","prompt":"p","stream":true,"stream_options":{"include_usage":true},"top_k":1}`, ""},
		"messages": {openai.Request{Chat: true, Model: "m", Messages: []openai.Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: "b"}}},
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}`, ""},
		"no model":        {openai.Request{Prompt: "p"}, "", "name one that the server serves"},
		"no prompt":       {openai.Request{Model: "m"}, "", "give one"},
		"two prompts":     {openai.Request{Chat: true, Model: "m", Prompt: "p", Messages: []openai.Message{{}}}, "", "give one of them"},
		"chat without":    {openai.Request{Model: "m", Prompt: "p", System: "s"}, "", "use the chat endpoint"},
		"endless":         {openai.Request{Model: "m", Prompt: "p", IgnoreEOS: true}, "", "set max_tokens"},
		"negative":        {openai.Request{Model: "m", Prompt: "p", MaxTokens: -1}, "", "use 0"},
		"no number":       {openai.Request{Model: "m", Prompt: "p", Temperature: new(math.NaN())}, "", "correct it"},
		"not UTF-8":       {openai.Request{Model: "m", Prompt: "\xff"}, "", "correct the dataset"},
		"stream in extra": {openai.Request{Model: "m", Prompt: "p", Extra: map[string]json.RawMessage{"stream": []byte("false")}}, "", "leave it out"},
		"n in extra":      {openai.Request{Model: "m", Prompt: "p", Extra: map[string]json.RawMessage{"n": []byte("2")}}, "", "leave it out"},
		"no JSON":         {openai.Request{Model: "m", Prompt: "p", Extra: map[string]json.RawMessage{"x": []byte("{")}}, "", "correct it"},
	} {
		body, err := openai.Encode(tt.request)
		if string(body.Bytes()) != tt.body {
			t.Errorf("%s: got\n%s\nwant\n%s", name, body.Bytes(), tt.body)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	hash := openai.EndpointHash("http://host:8000")
	for _, same := range []string{"http://host:8000/", "HTTP://HOST:8000/v1", "http://host:8000/v1/", "http://host:8000/v1/chat/completions", "http://me:secret@host:8000/v1/models"} {
		if got := openai.EndpointHash(same); got != hash || len(got) != 64 {
			t.Errorf("%s hashes to %q, want %q", same, got, hash)
		}
	}
	if openai.EndpointHash("https://[::1]:443/x/v1") != openai.EndpointHash("https://[::1]/x") || openai.EndpointHash("https://h") == openai.EndpointHash("http://h") {
		t.Error("default ports, or schemes")
	}
	for url, want := range map[string]string{
		"": "give one, such as http://127.0.0.1:8000", "localhost:8000": "write http://localhost:8000", "127.0.0.1:8000/v1": "write http://127.0.0.1",
		"ftp://h": "neither http nor https", "http://": "names no host", "http://:80": "names no host", "http://me:secret@h": "--api-key-env",
		"http://me:secret@h:x": "not a URL", "me:secret@h": "no scheme", "http://h?key=1": "query", "http://h\n": "not a URL", "http://h:port": "not a URL",
	} {
		_, err := openai.New(openai.Options{BaseURL: url, Now: clock()})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
	for _, key := range []string{"two words", "line\n", "\x00", "ä"} {
		if _, err := openai.New(openai.Options{BaseURL: "http://h", APIKey: key, Now: clock()}); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if _, err := openai.New(openai.Options{BaseURL: "http://h"}); err == nil {
		t.Error("no clock was accepted")
	}
}

// TestURLsThatAreRefusedHideTheirSecrets writes SECRET where a password or a
// key may stand.
func TestURLsThatAreRefusedHideTheirSecrets(t *testing.T) {
	t.Parallel()
	for url, shown := range map[string]string{
		"http://host:8000/v1?key=SECRET": `"http://host:8000"`,
		"http://host/SECRET#x":           `"http://host"`,
		"http://host/SECRET?":            `"http://host"`,
		"http://host/SECRET#":            `"http://host"`,
		"ftp://me:SECRET@host/path":      "--api-key-env",
		"ftp://me:SE/SECRET@host":        `"ftp://..."`,
		"ftp://me:x@SECRET?y@host":       "--api-key-env",
		"ftp://me:SECRET#y@host":         `"ftp://..."`,
		"ftp://host/?mail=SECRET@other":  `"ftp://..."`,
		"http://me:SECRET@host:port":     `"http://host:port"`,
		"me:SECRET@host":                 "http://host,",
		"host/SECRET?key=SECRET":         "http://host,",
		"me:SECRET@h://host":             `"..."`,
		"http://me:SECRET@host":          "--api-key-env",
		"http://SECRET@host?key=SECRET":  "--api-key-env",
	} {
		err := openai.CheckURL(url)
		if err == nil || !strings.Contains(err.Error(), shown) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %s", url, err, shown)
		}
	}
	for _, url := range []string{"http://h", "https://h:8443/v1", "http://[::1]:8000/path/v1/chat/completions"} {
		if err := openai.CheckURL(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
