package openai_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// pages serves each path's body; others are not there.
func pages(t *testing.T, bodies map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok || r.Method != http.MethodGet {
			http.NotFound(w, r)
			return
		}
		write(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestProbe(t *testing.T) {
	t.Parallel()
	models := func(owner string) string { return `{"object":"list","data":[{"id":"m","owned_by":"` + owner + `"}]}` }
	const props = `{"default_generation_settings":{"id":0,"n_ctx":4096,"is_processing":true,"prompt":"x"},"total_slots":4,"build_info":"b7000-abc"}`
	const info = `{"version":"0.5.4","model_path":"m","revision":"abc","tp_size":2,"random_seed":77,"internal_states":[{"last_gen_throughput":1.5}]}`
	for name, tt := range map[string]struct {
		pages map[string]string
		want  openai.Server
	}{
		"vllm":               {map[string]string{"/v1/models": models("vllm"), "/version": `{"version":"0.22.1"}`}, openai.Server{Engine: openai.VLLM, Version: "0.22.1"}},
		"vllm without owner": {map[string]string{"/v1/models": models("me"), "/version": `{"version":"0.22.1"}`}, openai.Server{Engine: openai.VLLM, Version: "0.22.1"}},
		"llama.cpp":          {map[string]string{"/v1/models": models("llamacpp"), "/props": props}, openai.Server{Engine: openai.LlamaCPP, Version: "b7000-abc"}},
		"llama.cpp by page":  {map[string]string{"/v1/models": models("me"), "/props": props}, openai.Server{Engine: openai.LlamaCPP, Version: "b7000-abc"}},
		"sglang":             {map[string]string{"/v1/models": models("sglang"), "/get_server_info": info}, openai.Server{Engine: openai.SGLang, Version: "0.5.4", Revision: "abc"}},
		"our own":            {map[string]string{"/v1/models": models("accelgate")}, openai.Server{Engine: openai.Accelgate}},
		"another":            {map[string]string{"/v1/models": models("library"), "/version": "<html>", "/props": "[1]"}, openai.Server{Engine: openai.Unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client(t, openai.Options{BaseURL: pages(t, tt.pages)}).Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			shown := tt.want.Engine == openai.LlamaCPP || tt.want.Engine == openai.SGLang
			if (got.ConfigHash != "") != shown {
				t.Errorf("configuration hash %q", got.ConfigHash)
			}
			got.ConfigHash, tt.want.Models = "", []string{"m"}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("got - want +\n%s", diff)
			}
		})
	}
}

func TestConfigHashSeesFlagsAndNotMoments(t *testing.T) {
	t.Parallel()
	hash := func(props string) string {
		url := pages(t, map[string]string{"/v1/models": `{"data":[]}`, "/props": props})
		s, err := client(t, openai.Options{BaseURL: url}).Probe(t.Context())
		if err != nil || s.ConfigHash == "" {
			t.Fatalf("%+v, %v", s, err)
		}
		return s.ConfigHash
	}
	base := hash(`{"build_info":"b1","default_generation_settings":{"n_ctx":4096,"id_task":3,"params":{"top_k":40}}}`)
	if got := hash(`{"default_generation_settings":{"params":{"top_k":40},"id_task":9,"prompt":"p","n_ctx":4096},"build_info":"b1"}`); got != base {
		t.Error("another moment hashes differently")
	}
	if got := hash(`{"build_info":"b1","default_generation_settings":{"n_ctx":8192,"id_task":3,"params":{"top_k":40}}}`); got == base {
		t.Error("another context length hashes equally")
	}
}

func TestProbeErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	status := func(code int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); write(w, body) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	for url, want := range map[string]string{
		closed:                                  "nothing listens at " + closed + ": start the server, or correct base_url or --base-url",
		status(401, `{"error":"who"}`):          "(who): set the key's variable with --api-key-env",
		status(404, ""):                         "is the URL the server's root or .../v1?",
		status(200, "<html>hi</html>"):          "answers no list of models but \"<html>hi</html>\": is the URL the server's root",
		status(200, strings.Repeat("[", 1<<20)): "no list of models",
		status(503, `{"error":{"message":"Loading model"}}`):               "HTTP 503 (Loading model): look at the server's log",
		"http://no-such-host.invalid":                                      "correct base_url or --base-url",
		status(200, `{"data":[{"id":7}]}`):                                 "lists a model whose id is not text",
		status(200, `{"data":[{"id":""}]}`):                                "lists a model whose id is not text",
		status(200, "{\"data\":[{\"id\":\"a\xff\"}]}"):                     "is not UTF-8 (\"a\ufffd\"): correct the model's name at the server",
		status(200, `{"data":[{"id":"a\ud800"}]}`):                         "is not UTF-8",
		status(200, `{"data":[{"id":"`+strings.Repeat("a", 4097)+`"}]}`):   "is longer than 4096 bytes",
		status(200, `{"data":[{"id":"m"},{"id":"b\u001b[2J`+"\xff"+`"}]}`): `("b?[2J`,
	} {
		_, err := client(t, openai.Options{BaseURL: url}).Probe(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 600 {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

func TestWaitReady(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		health func(n int32) int
		models int
		err    string
	}{
		"at once":       {func(int32) int { return 200 }, 500, ""},
		"after loading": {func(n int32) int { return map[bool]int{true: 503, false: 200}[n < 4] }, 500, ""},
		"no health":     {func(int32) int { return 404 }, 200, ""},
		"wrong key":     {func(int32) int { return 404 }, 401, "--api-key-env"},
		"never":         {func(int32) int { return 503 }, 200, "HTTP 503: still loading): look at the server's log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if name == "never" && asked.Load() > 2 {
					cancel()
				}
				if r.URL.Path == "/health" {
					w.WriteHeader(tt.health(asked.Add(1)))
				} else {
					w.WriteHeader(tt.models)
				}
				write(w, `{"error":"still loading"}`)
			}))
			defer server.Close()
			err := client(t, openai.Options{BaseURL: server.URL}).WaitReady(ctx, 5*time.Millisecond)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v, want %q", err, tt.err)
			}
		})
	}
}

// TestModelsAreAsSent sends each id back as the model of a request.
func TestModelsAreAsSent(t *testing.T) {
	t.Parallel()
	ids := []string{"m", "org/model:tag@sha", "two  spaces ", "tab\tand\x1b[2J", "\u202eright", "vllm EMPTY", strings.Repeat("é", 2048), "\"quoted\\"}
	var list struct {
		Data []map[string]string `json:"data"`
	}
	for _, id := range ids {
		list.Data = append(list.Data, map[string]string{"id": id})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", "m", "x", "EMPTY", "vllm"} {
		s, err := client(t, openai.Options{BaseURL: pages(t, map[string]string{"/v1/models": string(text)}), APIKey: key}).Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Models, ids); diff != "" {
			t.Errorf("key %q: got - want +\n%s", key, diff)
		}
	}
	for _, id := range ids {
		body, err := openai.Encode(openai.Request{Model: id, Prompt: "p"})
		var sent struct{ Model string }
		if err != nil || json.Unmarshal(body.Bytes(), &sent) != nil || sent.Model != id {
			t.Errorf("%q is sent as %q, %v", id, sent.Model, err)
		}
	}
}

func TestProbeNamesAnEncoding(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		write(w, "\x1f\x8b")
	}))
	defer server.Close()
	const want = "answers in the encoding gzip, which was not asked for: turn compression off"
	if _, err := client(t, openai.Options{BaseURL: server.URL}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
