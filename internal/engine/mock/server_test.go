package mock

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
	"github.com/accelgate/accelgate/internal/testing/tlstest"
)

const (
	chatPath       = "/v1/chat/completions"
	completionPath = "/v1/completions"
	chatStream     = `{"model":"m","messages":[{"role":"user","content":"one two three four"}],"stream":true,"max_tokens":6,"stream_options":{"include_usage":true}}`
	chatWhole      = `{"model":"m","messages":[{"role":"user","content":"one two three four"}],"max_tokens":6}`
	textStream     = `{"prompt":"one two three four","stream":true,"max_tokens":6}`
	textWhole      = `{"prompt":[1,2,3,4],"max_tokens":6}`
)

func start(t testing.TB, c Config, faults ...string) *Server {
	t.Helper()
	c.Now = time.Now
	for _, text := range faults {
		f, err := parseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Faults = append(c.Faults, f)
	}
	s := New(c)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// reply is an answer as a plain client sees it.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of the request or of reading the body
}

func post(ctx context.Context, s *Server, path, body string) reply {
	return postBy(ctx, http.DefaultClient, s, path, body)
}

func postBy(ctx context.Context, client *http.Client, s *Server, path, body string) (r reply) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	request.Header.Set("Authorization", "Bearer secret")
	response, err := client.Do(request)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(data), err}
}

// wait waits for something that other goroutines bring about.
func wait(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for !condition() {
		if t.Context().Err() != nil {
			t.Fatalf("%s did not come", what)
		}
		runtime.Gosched()
	}
}

const answerText = " the gate opens when both sides" // the first six tokens

// TestAnswers has a row for each kind that shows in what a client reads.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, path, body, faults string
		engine                   Engine
		status                   int
		text                     string // of all deltas, or of the answer
		has, lacks               []string
		broken                   bool // the body ends in an error
	}{
		{name: "chat", has: []string{`"role":"assistant"`, `"finish_reason":"length"`, "data: [DONE]\n\n", `"model":"m"`,
			`"choices":[],"usage":{"prompt_tokens":4,"total_tokens":10,"completion_tokens":6}}`}, lacks: []string{"timings", "\r"}},
		{name: "chat without usage", body: strings.ReplaceAll(chatStream, `"include_usage":true`, ""), lacks: []string{`"usage"`}},
		{name: "completions", path: completionPath, body: textStream, has: []string{"text_completion", `"model":"mock"`}, lacks: []string{"role", "usage", "delta"}},
		{name: "chat at once", body: chatWhole, has: []string{`"usage":{"prompt_tokens":4,"total_tokens":10,"completion_tokens":6}`, `"object":"chat.completion"`}},
		{name: "completions at once", path: completionPath, body: textWhole, has: []string{`"prompt_tokens":4`, `"finish_reason":"length"`}},
		{name: "timings", engine: LlamaCPP, has: []string{`"timings":{"prompt_n":4,"prompt_ms":0,"predicted_n":6,"predicted_ms":0}`}},
		{name: "continuous usage", body: strings.ReplaceAll(chatStream, "include_usage", "continuous_usage_stats"),
			has: []string{`"completion_tokens":0}`, `"completion_tokens":3}`}},
		{name: "no default length", path: completionPath, body: `{"prompt":"x"}`, text: answerText + " have been", has: []string{`"completion_tokens":8`}},

		{faults: "rate-limit:for=7s", status: 429, has: []string{"rate_limit_exceeded"}},
		{faults: "http-500", status: 500, has: []string{`"error"`}},
		{faults: "http-400", status: 400, has: []string{`"error"`}},
		{faults: "error-body", has: []string{`{"error":`}, text: "-"},
		{faults: "error-line:after=2", has: []string{`data: {"error":`, "[DONE]"}, text: " the gate"},
		{faults: "error-line", body: chatWhole, has: []string{`{"error":`}, text: "-"},
		{faults: "bad-json:after=2", has: []string{"\"index\":0,\n\n"}, text: "-"},
		{faults: "bad-json", body: chatWhole, text: "-", lacks: []string{"usage"}},
		{faults: "empty", text: "-", lacks: []string{"data"}},
		{faults: "no-done", lacks: []string{"[DONE]"}},
		{faults: "no-finish", lacks: []string{`"finish_reason":"`}},
		{faults: "no-finish", body: chatWhole, has: []string{`"finish_reason":null`}},
		{faults: "short", text: " the gate opens", has: []string{`"stop"`, `"completion_tokens":3`}},
		{faults: "short:after=1", text: " the", has: []string{`"stop"`}},
		{faults: "prompt-cut", has: []string{`"prompt_tokens":2`}},
		{faults: "prompt-zero", has: []string{`"prompt_tokens":0`}},
		{faults: "hidden", text: " when both sides", has: []string{`"completion_tokens":6,"completion_tokens_details":{"reasoning_tokens":3}`}},
		{faults: "hidden:after=5", text: " sides", has: []string{`"reasoning_tokens":5`}},
		{faults: "hidden", body: chatWhole, lacks: []string{"reasoning_tokens"}},
		{faults: "no-space", has: []string{"data:{", "data:[DONE]"}, lacks: []string{"data: "}},
		{faults: "crlf", has: []string{"}\r\n\r\n", "[DONE]\r\n\r\n"}},
		{faults: "pings", has: []string{": keepalive\n\ndata: {"}},
		{faults: "multi-token", has: []string{`" the gate"`, `" both sides"`, `"completion_tokens":6`}},
		{faults: "multi-token:n=4", has: []string{`" the gate opens when"`, `" both sides"`}},
		{faults: "no-usage", lacks: []string{`"usage"`}},
		{faults: "no-usage", body: chatWhole, lacks: []string{`"usage"`}},
		{faults: "usage-on-finish", has: []string{`"length"}],"usage"`}, lacks: []string{`"choices":[]`}},
		{faults: "usage-on-every", has: []string{`"completion_tokens":0}`, `"completion_tokens":5}`}},
		{faults: "no-role", lacks: []string{"role"}},
		{faults: "reasoning", has: []string{`{"reasoning":" opens"}`, `{"content":" when"}`}},
		{faults: "reasoning:after=1", engine: SGLang, has: []string{`{"reasoning_content":" the"}`, `{"content":" gate"}`}},
		{faults: "reasoning", body: chatWhole, has: []string{`"reasoning":" the gate opens","content":" when both sides"`}},
		{faults: "tool-calls", has: []string{`"tool_calls"`, `"name":"mock"`}, lacks: []string{`"content":" `}},
		{faults: "tool-calls", body: chatWhole, has: []string{`"content":null`, `"tool_calls"`}},
		{faults: "split", has: []string{"[DONE]"}},
		{faults: "coalesce:n=4", has: []string{"[DONE]"}},
		{faults: "close-after-reply", has: []string{"[DONE]"}},
		{faults: "stall:after=2,for=1ms", has: []string{"[DONE]"}},
		{faults: "slow-headers:for=1ms", has: []string{"[DONE]"}},
		{faults: "reset-midstream:after=2", text: " the gate", broken: true, lacks: []string{"opens"}},
		{faults: "reset-midstream", body: chatWhole, broken: true, text: "-"},
		{faults: "die:after=2", text: " the gate", broken: true},
	} {
		if c.name == "" {
			c.name = c.faults
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var faults []string
			if c.faults != "" {
				faults = append(faults, c.faults)
			}
			s := start(t, Config{Engine: c.engine, Tokens: 8}, faults...)
			r := post(t.Context(), s, or(c.path, chatPath), or(c.body, chatStream))
			if want := orInt(c.status, http.StatusOK); r.status != want {
				t.Fatalf("status %d, want %d: %v %s", r.status, want, r.err, r.body)
			}
			if (r.err != nil) != c.broken {
				t.Errorf("reading ended with %v, want an error: %v", r.err, c.broken)
			}
			for _, want := range c.has {
				if !strings.Contains(r.body, want) {
					t.Errorf("no %q in\n%s", want, r.body)
				}
			}
			for _, bad := range c.lacks {
				if strings.Contains(r.body, bad) {
					t.Errorf("there is %q in\n%s", bad, r.body)
				}
			}
			if want := or(c.text, answerText); want != "-" && r.status == http.StatusOK {
				if got := textOf(t, r); got != want {
					t.Errorf("the text is %q, want %q", got, want)
				}
			}
		})
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func orInt(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// textOf reads the text of an answer, and fails where a line is no JSON.
func textOf(t *testing.T, r reply) string {
	t.Helper()
	if r.header.Get("Content-Type") == "application/json" {
		return textIn(t, r.body)
	}
	var all strings.Builder
	for line := range strings.Lines(r.body) {
		line = strings.TrimRight(line, "\r\n")
		data, found := strings.CutPrefix(line, "data:")
		switch data = strings.TrimPrefix(data, " "); {
		case line == "" || line == ": keepalive" || data == "[DONE]":
		case !found:
			t.Errorf("a line that is none of an event stream: %q", line)
		default:
			all.WriteString(textIn(t, data))
		}
	}
	return all.String()
}

func textIn(t *testing.T, data string) string {
	t.Helper()
	type part struct {
		Content, Reasoning string
		ReasoningContent   string `json:"reasoning_content"`
		ToolCalls          []struct {
			Function struct{ Arguments string }
		} `json:"tool_calls"`
	}
	var chunk struct {
		Choices []struct {
			Text           string
			Delta, Message part
		}
	}
	if err := json.Unmarshal([]byte(data), &chunk); err != nil {
		t.Errorf("%v in %s", err, data)
	}
	text := ""
	for _, c := range chunk.Choices {
		text += c.Text
		for _, p := range []part{c.Delta, c.Message} {
			text += p.Reasoning + p.ReasoningContent + p.Content
			for _, call := range p.ToolCalls {
				text += call.Function.Arguments
			}
		}
	}
	return text
}

func TestRateLimitSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	s := start(t, Config{}, "rate-limit:at=2,for=7s")
	if r := post(t.Context(), s, chatPath, chatStream); r.status != http.StatusOK {
		t.Errorf("the first request got %d", r.status)
	}
	r := post(t.Context(), s, chatPath, chatStream)
	if got := r.header.Get("Retry-After"); r.status != http.StatusTooManyRequests || got != "7" {
		t.Errorf("status %d, Retry-After %q, want 429 and 7", r.status, got)
	}
}

// dial sends a request over a connection of its own.
func dial(t *testing.T, s *Server, body string) (net.Conn, *bufio.Reader) {
	t.Helper()
	address, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", address.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ask(t, c, body)
	return c, bufio.NewReader(c)
}

func ask(t *testing.T, c net.Conn, body string) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body); err != nil {
		t.Fatal(err)
	}
}

// writes returns the body of an answer as the server wrote it: net/http makes
// one chunk of the text between two flushes.
func writes(t *testing.T, r *bufio.Reader) (all []string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v in the headers", err)
		}
		if line == "\r\n" {
			break
		}
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, all)
		}
		size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		chunk := make([]byte, size+2)
		if _, err := io.ReadFull(r, chunk); err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			return all
		}
		all = append(all, string(chunk[:size]))
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		want  int // the role, the tokens, the tail
		lines int // in the first write with a token
	}{
		{"no-usage", 1 + 6 + 1, 1},
		{"coalesce:n=4", 1 + 2 + 1, 4},
		{"multi-token:n=4", 1 + 2 + 1, 1},
		{"split:n=3", 1 + 3*6 + 1, 0},
		{"pings", 1 + 2*6 + 1, 0},
	} {
		_, r := dial(t, start(t, Config{}, c.fault), chatStream)
		all := writes(t, r)
		if len(all) != c.want {
			t.Errorf("%s: %d writes, want %d: %q", c.fault, len(all), c.want, all)
		}
		if got := strings.Count(all[1], "data: {"); c.lines > 0 && got != c.lines {
			t.Errorf("%s: %d lines in a write, want %d: %q", c.fault, got, c.lines, all[1])
		}
	}
}

func TestCloseAfterReplyPromisesToStay(t *testing.T) {
	t.Parallel()
	_, r := dial(t, start(t, Config{Engine: LlamaCPP}, CloseAfterReply.fault()), chatStream)
	head, _ := r.Peek(200)
	if !strings.Contains(string(head), "Keep-Alive: timeout=5") || strings.Contains(string(head), "Connection: close") {
		t.Errorf("the headers do not promise to stay: %q", head)
	}
	writes(t, r)
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after the answer: %q, %v, want an end", rest, err)
	}
}

func (k Kind) fault() string { return string(k) }

func TestConnectionsStayOtherwise(t *testing.T) {
	t.Parallel()
	s := start(t, Config{})
	c, r := dial(t, s, chatStream)
	writes(t, r)
	ask(t, c, chatStream)
	writes(t, r)
	if seen := s.Seen(); seen.Connections != 1 || seen.Valid != 2 {
		t.Errorf("%d connections for %d requests, want 1 for 2", seen.Connections, seen.Valid)
	}
}

func TestCloseOnReuse(t *testing.T) {
	t.Parallel()
	s := start(t, Config{}, "close-on-reuse:at=1")
	var got []bool
	for range 3 {
		got = append(got, post(t.Context(), s, chatPath, chatStream).err == nil)
	}
	seen := s.Seen()
	if fmt.Sprint(got) != "[true false true]" || seen.Dropped != 1 || seen.Valid != 2 || seen.Connections != 2 {
		t.Errorf("requests went %v, seen %+v", got, seen)
	}
}

func TestResetIsAReset(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"reset-midstream:after=2", "die:after=2"} {
		if r := post(t.Context(), start(t, Config{}, fault), chatPath, chatStream); !errors.Is(r.err, syscall.ECONNRESET) {
			t.Errorf("%s: %v, want a reset", fault, r.err)
		}
	}
}

func TestFaultsByNumber(t *testing.T) {
	t.Parallel()
	s := start(t, Config{}, "http-500:every=3", "rate-limit:at=4")
	var got []int
	for i := range 7 {
		if i == 2 { // an invalid request does not count
			post(t.Context(), s, chatPath, "{}")
		}
		got = append(got, post(t.Context(), s, chatPath, chatStream).status)
	}
	if want := "[200 200 500 429 200 500 200]"; fmt.Sprint(got) != want {
		t.Errorf("statuses %v, want %s", got, want)
	}
}

func TestStallLastsUntilTheClientLeaves(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"stall:after=3", "slow-headers:for=1h"} {
		s := start(t, Config{}, fault)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan reply)
		go func() { done <- post(ctx, s, chatPath, chatStream) }()
		wait(t, "the stall", func() bool { return s.Seen().RunningMax == 1 && (fault != "stall:after=3" || s.Seen().Tokens == 3) })
		cancel()
		if r := <-done; !errors.Is(r.err, context.Canceled) || strings.Contains(r.body, "when") {
			t.Errorf("%s: %v, body %q", fault, r.err, r.body)
		}
		wait(t, "the end of the request", func() bool { return strings.Contains(s.metrics(), "running 0\n") })
	}
}

func TestDieTakesAllWithIt(t *testing.T) {
	t.Parallel()
	s := start(t, Config{}, "stall:at=1,after=2", "die:at=2")
	done := make(chan reply)
	go func() { done <- post(t.Context(), s, chatPath, chatStream) }()
	wait(t, "the first request", func() bool { return s.Seen().Tokens == 2 })
	if r := post(t.Context(), s, chatPath, chatStream); r.err == nil {
		t.Error("the request that killed the server ended well")
	}
	if r := <-done; r.err == nil {
		t.Error("the other request ended well")
	}
	if r := post(t.Context(), s, chatPath, chatStream); !errors.Is(r.err, syscall.ECONNREFUSED) {
		t.Errorf("afterwards: %v, want a refused connection", r.err)
	}
}

func TestSlotsQueue(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Slots: 1}, "stall:at=1")
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan reply), make(chan reply)
	go func() { first <- post(ctx, s, chatPath, chatStream) }()
	wait(t, "the first request", func() bool { return s.Seen().RunningMax == 1 })
	go func() { second <- post(t.Context(), s, chatPath, chatStream) }()
	wait(t, "the second request", func() bool { return s.Seen().InFlightMax == 2 })
	if m := s.metrics(); !strings.Contains(m, "vllm:num_requests_waiting 1\n") {
		t.Errorf("nothing waits:\n%s", m)
	}
	cancel()
	<-first
	if r := <-second; r.err != nil || textOf(t, r) != answerText {
		t.Errorf("the second request: %v %s", r.err, r.body)
	}
	if seen := s.Seen(); seen.RunningMax != 1 {
		t.Errorf("%d requests had the one slot at once", seen.RunningMax)
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	s := start(t, Config{}, "reasoning:at=1")
	post(t.Context(), s, chatPath, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a b"}]}],"stream":true,
		"max_completion_tokens":3,"temperature":0,"ignore_eos":true,"stream_options":{"include_usage":true}}`)
	post(t.Context(), s, completionPath, `{"prompt":17}`)
	seen := s.Seen()
	if len(seen.Requests) != 2 || seen.Valid != 1 || seen.Invalid != 1 || seen.Tokens != 3 || seen.InFlightMax != 1 {
		t.Fatalf("seen %+v", seen)
	}
	q := seen.Requests[0]
	sum := sha256.Sum256([]byte("Bearer secret"))
	if q.AuthSHA256 != hex.EncodeToString(sum[:]) || strings.Contains(fmt.Sprintf("%+v", seen), "secret") {
		t.Errorf("the key is not kept as its digest: %+v", q)
	}
	if q.Temperature == nil || *q.Temperature != 0 || len(q.BodySHA256) != 64 {
		t.Errorf("temperature %v, digest %q", q.Temperature, q.BodySHA256)
	}
	q.Temperature, q.BodySHA256, q.AuthSHA256 = nil, "", ""
	want := Request{Number: 1, Conn: 1, Path: chatPath, Proto: "HTTP/1.1", Status: 200, Faults: []Kind{Reasoning}, PromptTokens: 2,
		Request: openai.Request{Model: "m", Chat: true, Stream: true, StreamOptions: openai.StreamOptions{IncludeUsage: true},
			IgnoreEOS: true, MaxTokens: 3}}
	if fmt.Sprintf("%+v", q) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", q, want)
	}
	if q := seen.Requests[1]; q.Status != 400 || q.Number != 0 {
		t.Errorf("the invalid request is kept as %+v", q)
	}
}

func TestTLSAndHTTP2(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string]string{"http/1.1": "HTTP/1.1", "h2": "HTTP/2.0"} {
		listener, roots := tlstest.Listen(t, protocol)
		s := start(t, Config{Listener: listener}, "reset-midstream:at=2,after=1")
		s.URL = "https://" + listener.Addr().String()
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
		t.Cleanup(client.CloseIdleConnections)
		if r := postBy(t.Context(), client, s, chatPath, chatStream); r.err != nil || textOf(t, r) != answerText {
			t.Errorf("%s: %v %s", want, r.err, r.body)
		}
		if r := postBy(t.Context(), client, s, chatPath, chatStream); r.err == nil {
			t.Errorf("%s: a reset came to a good end: %s", want, r.body)
		}
		if got := s.Seen().Requests[0].Proto; got != want {
			t.Errorf("the request came by %s, want %s", got, want)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine Engine
		has    map[string]string
		lacks  []string
	}{
		{VLLM, map[string]string{"/version": `{"version":"0.0.0-mock"}`, "/v1/models": `"id":"mock"`, "/health": "", "/metrics": "vllm:generation_tokens_total 6\n"},
			[]string{"/props", "/get_server_info"}},
		{SGLang, map[string]string{"/get_server_info": `"model_path":"mock"`, "/metrics": "sglang:prompt_tokens_total 4\n"}, []string{"/props", "/version"}},
		{LlamaCPP, map[string]string{"/props": `"total_slots":3`, "/health": `{"status":"ok"}`, "/metrics": "llamacpp:requests_processing 0\n"},
			[]string{"/version", "/get_server_info"}},
	} {
		s := start(t, Config{Engine: c.engine, Slots: 3})
		post(t.Context(), s, chatPath, chatStream)
		wait(t, "the end of the request", func() bool { return strings.Contains(s.metrics(), " 0\n") })
		for path, want := range c.has {
			status, body := get(t, s, path)
			if status != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s %s: %d %s, want %s", c.engine, path, status, body, want)
			}
		}
		for _, path := range c.lacks {
			if status, body := get(t, s, path); status != http.StatusNotFound || !strings.Contains(body, `{"error":`) {
				t.Errorf("%s %s: %d %s, want 404", c.engine, path, status, body)
			}
		}
	}
}

func get(t *testing.T, s *Server, path string) (status int, body string) {
	t.Helper()
	response, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	dump, err := httputil.DumpResponse(response, true)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(dump)
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {Now: time.Now, TTFT: -1}, {Now: time.Now, Engine: "tgi"},
		{Now: time.Now, Listen: "nowhere"}, {Now: time.Now, Faults: []Fault{{Kind: "sulk"}}}} {
		s := New(c)
		err := s.Start()
		if err == nil || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%+v: %v", c, err)
		}
		s.Close()
	}
}
