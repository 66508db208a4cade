package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// running is `engine serve` on a free port.
type running struct {
	url  string
	stop func() (code int, stderr string) // ends the context and waits
}

// startServe runs the command until the test ends. The environment holds
// NAME=VALUE pairs.
func startServe(t *testing.T, environ []string, args ...string) running {
	t.Helper()
	read, write := io.Pipe()
	getenv := func(name string) string {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	var code int
	var group sync.WaitGroup
	group.Go(func() {
		code = Command{write, &stderr, getenv, time.Now}.Serve(ctx, append([]string{"--listen", "127.0.0.1:0", "--model", "micro"}, args...))
		write.Close()
	})
	stop := sync.OnceValues(func() (int, string) {
		cancel()
		group.Wait()
		return code, stderr.String()
	})
	t.Cleanup(func() { stop() })
	line, err := bufio.NewReader(read).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("printed %q, %v", line, err)
	}
	return running{url, stop}
}

// ask sends a request and returns status and body.
func (r running) ask(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(data)
}

// served is what a request of either kind, streamed or not, can be answered
// with.
type served struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index          int
		Text           string
		Message, Delta struct{ Role, Content string }
		FinishReason   *string `json:"finish_reason"`
		Logprobs       any
	}
	Usage *usageCounts
}

type usageCounts struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func strictly(t *testing.T, data string, into any) {
	t.Helper()
	in := json.NewDecoder(strings.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
}

// whole asks for an answer at once.
func (r running) whole(t *testing.T, path, body string) served {
	t.Helper()
	response, data := r.ask(t, http.MethodPost, path, body)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", body, response.Status, data)
	}
	var s served
	strictly(t, data, &s)
	return s
}

// streamed asks for events and returns them without the [DONE], which must be
// there.
func (r running) streamed(t *testing.T, path, body string) (events []served) {
	t.Helper()
	response, data := r.ask(t, http.MethodPost, path, body)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s %s", body, response.Status, data)
	}
	parts := strings.Split(data, "\n\n")
	if n := len(parts); n < 3 || parts[n-1] != "" || parts[n-2] != "data: [DONE]" {
		t.Fatalf("%s: the stream ends in %q", body, parts)
	}
	for _, part := range parts[:len(parts)-2] {
		var s served
		strictly(t, strings.TrimPrefix(part, "data: "), &s)
		events = append(events, s)
	}
	return events
}

// TestServeAnswersAsSession sends the same prompt in every form.
func TestServeAnswersAsSession(t *testing.T) {
	t.Parallel()
	r := startServe(t, []string{kvCacheEnv + "=q8_0"}, "--seed", "7")
	m := newModel(t, options{Model: "micro", Seed: 7, KVCache: "q8_0"})
	for _, c := range []struct{ path, prompt, body string }{
		{"/v1/completions", "Hi \"ü\"", `"prompt":"Hi \"ü\""`},
		{"/v1/completions", "Hi", `"model":"micro","prompt":["Hi"],"temperature":1,"seed":5,"ignore_eos":true,"n":1,"stop":null`},
		{"/v1/completions", "Hi\x00\xff", `"prompt":[72,105,0,255]`},
		{"/v1/chat/completions", "user: Hi\nassistant: ", `"messages":[{"role":"user","content":"Hi"}]`},
		{"/v1/chat/completions", "system: a b\nuser: c\nassistant: ",
			`"messages":[{"role":"system","content":[{"type":"text","text":"a "},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]`},
	} {
		tokens, _ := answer(t, m, c.prompt, 9)
		want, usage := decode(tokens), usageCounts{len(c.prompt), 9, len(c.prompt) + 9}
		got := r.whole(t, c.path, "{"+c.body+`,"max_tokens":9}`)
		if choice := got.Choices[0]; choice.Text+choice.Message.Content != want || *choice.FinishReason != "length" || *got.Usage != usage {
			t.Errorf("%s: got %+v, %+v, want %q, %+v", c.body, choice, got.Usage, want, usage)
		}
		events := r.streamed(t, c.path, "{"+c.body+`,"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}`)
		text := ""
		for _, e := range events[:len(events)-1] {
			text += e.Choices[0].Text + e.Choices[0].Delta.Content
		}
		if text != want {
			t.Errorf("%s: streamed %q, want %q", c.body, text, want)
		}
		if last := events[len(events)-1]; len(last.Choices) != 0 || last.Usage == nil || *last.Usage != usage {
			t.Errorf("%s: the last event is %+v, want usage %+v", c.body, last, usage)
		}
	}
}

// TestStreamShape pins the bytes of both kinds of stream.
func TestStreamShape(t *testing.T) {
	t.Parallel()
	r := startServe(t, nil)
	tokens, _ := answer(t, newModel(t, options{Model: "micro", Seed: 1}), "user: x\nassistant: ", 2)
	created := func(data string) string {
		_, after, _ := strings.Cut(data, `"created":`)
		number, _, _ := strings.Cut(after, ",")
		return number
	}
	event := func(head, choices, tail string) string {
		return "data: {" + head + `,"created":T,"model":"micro","choices":[` + choices + "]" + tail + "}\n\n"
	}
	quoted := func(token int) string {
		return `"` + string(appendEscaped(nil, []byte{byte(token)})) + `"`
	}
	chat, plain := `"id":"chatcmpl-1","object":"chat.completion.chunk"`, `"id":"cmpl-2","object":"text_completion"`
	want := event(chat, `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`, `,"usage":null`) +
		event(chat, `{"index":0,"delta":{"content":`+quoted(tokens[0])+`},"finish_reason":null}`, `,"usage":null`) +
		event(chat, `{"index":0,"delta":{"content":`+quoted(tokens[1])+`},"finish_reason":null}`, `,"usage":null`) +
		event(chat, `{"index":0,"delta":{},"finish_reason":"length"}`, `,"usage":null`) +
		event(chat, "", `,"usage":{"prompt_tokens":19,"total_tokens":21,"completion_tokens":2}`) + "data: [DONE]\n\n"
	_, got := r.ask(t, "POST", "/v1/chat/completions",
		`{"messages":[{"role":"user","content":"x"}],"max_tokens":2,"stream":true,"stream_options":{"include_usage":true}}`)
	got = strings.ReplaceAll(got, `"created":`+created(got), `"created":T`)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("chat: got -, want +\n%s", diff)
	}
	want = event(plain, `{"index":0,"text":`+quoted(tokens[0])+`,"logprobs":null,"finish_reason":null}`, "") +
		event(plain, `{"index":0,"text":"","logprobs":null,"finish_reason":"length"}`, "") + "data: [DONE]\n\n"
	_, got = r.ask(t, "POST", "/v1/completions", `{"prompt":"user: x\nassistant: ","max_completion_tokens":1,"stream":true}`)
	got = strings.ReplaceAll(got, `"created":`+created(got), `"created":T`)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("completions: got -, want +\n%s", diff)
	}
}

// TestServeStops asks for an answer up to something that it holds.
func TestServeStops(t *testing.T) {
	t.Parallel()
	r := startServe(t, nil)
	tokens, _ := answer(t, newModel(t, options{Model: "micro", Seed: 1}), "stop", 12)
	text := decode(tokens)
	stop, _ := json.Marshal(text[5:8])
	want := text[:strings.Index(text, text[5:8])]
	body := `{"prompt":"stop","max_tokens":12,"stop":["never this",` + string(stop) + `]`
	if got := r.whole(t, "/v1/completions", body+"}"); got.Choices[0].Text != want || *got.Choices[0].FinishReason != "stop" || got.Usage.CompletionTokens != len(want)+3 {
		t.Errorf("%q up to %s: got %+v, %+v", text, stop, got.Choices[0], got.Usage)
	}
	got := ""
	for _, e := range r.streamed(t, "/v1/completions", body+`,"stream":true}`) {
		got += e.Choices[0].Text
	}
	if got != want {
		t.Errorf("%q up to %s: streamed %q, want %q", text, stop, got, want)
	}
}

func TestServeManyAtOnce(t *testing.T) {
	t.Parallel()
	r := startServe(t, nil, "--slots", "8")
	m := newModel(t, options{Model: "micro", Seed: 1})
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			prompt := fmt.Sprintf("prompt %d", i)
			want, _ := answer(t, m, prompt, 20)
			var got []byte
			for _, e := range r.streamed(t, "/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":20,"stream":true}`, prompt)) {
				got = append(got, e.Choices[0].Text...)
			}
			if string(got) != decode(want) {
				t.Errorf("%s: got %q, want %q", prompt, got, decode(want))
			}
		})
	}
	group.Wait()
	_, metrics := r.ask(t, "GET", "/metrics", "")
	for _, want := range []string{"accelgate_generation_tokens_total 640\n", "accelgate_prompt_tokens_total 278\n", "accelgate_requests_waiting 0\n",
		"accelgate_request_success_total{finished_reason=\"length\"} 32\n", "# TYPE accelgate_steps_total counter\n"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %q:\n%s", want, metrics)
		}
	}
}

// TestDisconnectFreesTheSlot leaves an answer that would take the only slot
// for long, and then asks for another.
func TestDisconnectFreesTheSlot(t *testing.T) {
	t.Parallel()
	r := startServe(t, nil, "--slots", "1", "--context", "8192")
	for i, stream := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		body := fmt.Sprintf(`{"prompt":"x","max_tokens":8000,"stream":%v}`, stream)
		request, err := http.NewRequestWithContext(ctx, "POST", r.url+"/v1/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		group.Go(func() {
			if response, err := http.DefaultClient.Do(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
		for metrics := ""; !strings.Contains(metrics, fmt.Sprintf("accelgate_prompt_tokens_total %d\n", i+1)); time.Sleep(time.Millisecond) {
			_, metrics = r.ask(t, "GET", "/metrics", "")
		}
		cancel()
		group.Wait()
	}
	r.whole(t, "/v1/completions", `{"prompt":"x","max_tokens":1}`)
	_, metrics := r.ask(t, "GET", "/metrics", "")
	if !strings.Contains(metrics, "accelgate_request_cancelled_total 2\n") {
		t.Errorf("metrics do not show 2 cancelled requests:\n%s", metrics)
	}
}

func TestServeRefusesRequests(t *testing.T) {
	t.Parallel()
	r := startServe(t, nil, "--context", "64")
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/v1/completions", `{`, 400, "invalid_json"},
		{"POST", "/v1/completions", `{"prompt":"x"} x`, 400, "invalid_json"},
		{"POST", "/v1/completions", `{}`, 400, "missing_prompt"},
		{"POST", "/v1/completions", `{"prompt":["a","b"]}`, 400, "invalid_json"},
		{"POST", "/v1/completions", `{"prompt":[256]}`, 400, "invalid_json"},
		{"POST", "/v1/completions", `{"prompt":"x","max_tokens":0}`, 400, "invalid_value"},
		{"POST", "/v1/completions", `{"prompt":"x","max_tokens":1.5}`, 400, "invalid_json"},
		{"POST", "/v1/completions", `{"prompt":"x","max_tokens":64}`, 400, "context_length_exceeded"},
		{"POST", "/v1/completions", `{"prompt":"` + strings.Repeat("x", 64) + `"}`, 400, "context_length_exceeded"},
		{"POST", "/v1/completions", `{"prompt":"x","n":2}`, 400, "unsupported_value"},
		{"POST", "/v1/completions", `{"prompt":"x","temperature":-1}`, 400, "invalid_value"},
		{"POST", "/v1/completions", `{"prompt":"x","stop":""}`, 400, "invalid_value"},
		{"POST", "/v1/completions", `{"prompt":"x","stop":["1","2","3","4","5"]}`, 400, "invalid_value"},
		{"POST", "/v1/completions", `{"prompt":"x","model":"gpt"}`, 404, "model_not_found"},
		{"POST", "/v1/chat/completions", `{"prompt":"x"}`, 400, "missing_messages"},
		{"POST", "/v1/chat/completions", `{"messages":[{"role":"cat","content":"x"}]}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "invalid_json"},
		{"POST", "/v1/completions", strings.Repeat(" ", maxBody+1), 413, "request_too_large"},
		{"GET", "/v1/completions", "", 405, "method_not_allowed"},
		{"POST", "/health", "", 405, "method_not_allowed"},
		{"GET", "/version", "", 404, "not_found"},
		{"GET", "/", "", 404, "not_found"},
	} {
		response, data := r.ask(t, c.method, c.path, c.body)
		var refused struct{ Error openai.Error }
		strictly(t, data, &refused)
		if e := refused.Error; response.StatusCode != c.status || e.Code != c.code || e.Message == "" || e.Type != "invalid_request_error" {
			t.Errorf("%s %s %.60q: got %s %s, want %d %s", c.method, c.path, c.body, response.Status, data, c.status, c.code)
		}
		if (response.Header.Get("Allow") != "") != (c.status == 405) {
			t.Errorf("%s %s: Allow is %q", c.method, c.path, response.Header.Get("Allow"))
		}
	}
	if got := r.whole(t, "/v1/completions", `{"prompt":"x"}`); got.Usage.CompletionTokens != 63 {
		t.Errorf("without max_tokens the answer has %d tokens, want the 63 that are left", got.Usage.CompletionTokens)
	}
}

// TestFullQueueRefuses starts a server whose queue is shorter than the
// command's.
func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	s := newScheduler(newModel(t, options{Model: "micro"}), 1, 64, nil) // which does not run
	a := newAPI(s, 64, 0, "", time.Now)
	if _, err := a.web.Queue.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := running{url: startAPI(t, a.web)}
	response, data := r.ask(t, "POST", "/v1/completions", `{"prompt":"x"}`)
	if response.StatusCode != 429 || response.Header.Get("Retry-After") == "" || !strings.Contains(data, "rate_limit_error") {
		t.Errorf("got %s %v %s", response.Status, response.Header, data)
	}
	s.close()
	if response, data := r.ask(t, "POST", "/v1/completions", `{"prompt":"x"}`); response.StatusCode != 503 {
		t.Errorf("stopping: got %s %s", response.Status, data)
	}
}

func TestServeAsksForTheKey(t *testing.T) {
	t.Parallel()
	r := startServe(t, []string{"KEY=s3cret"}, "--api-key-env", "KEY")
	for header, want := range map[string]int{"": 401, "Bearer wrong": 401, "Basic s3cret": 401, "Bearer s3cret": 200, "bearer s3cret": 200} {
		if response, data := r.ask(t, "GET", "/v1/models", "", "Authorization", header); response.StatusCode != want || strings.Contains(data, "s3cret") {
			t.Errorf("%q: got %s %s, want %d", header, response.Status, data, want)
		}
	}
	for _, path := range []string{"/health", "/metrics"} {
		if response, _ := r.ask(t, "GET", path, ""); response.StatusCode != 200 {
			t.Errorf("%s: got %s, want it without a key", path, response.Status)
		}
	}
}

func TestServeDescribesItself(t *testing.T) {
	t.Parallel()
	revisions := []string{}
	for _, c := range []struct{ env, seed string }{{"", "1"}, {"", "2"}, {"f16", "1"}} {
		r := startServe(t, []string{kvCacheEnv + "=" + c.env}, "--seed", c.seed)
		_, data := r.ask(t, "GET", "/v1/models", "")
		var models struct {
			Data []struct{ ID, Owned_by, Revision string }
		}
		if err := json.Unmarshal([]byte(data), &models); err != nil || len(models.Data) != 1 {
			t.Fatalf("%v in %s", err, data)
		}
		if m := models.Data[0]; m.ID != "micro" || m.Owned_by != "accelgate" || len(m.Revision) != 40 || slices.Contains(revisions, m.Revision) {
			t.Errorf("%+v describes itself as %+v", c, m)
		}
		revisions = append(revisions, models.Data[0].Revision)
		if _, data := r.ask(t, "GET", "/health", ""); data != "{\"status\":\"ok\"}\n" {
			t.Errorf("health is %q", data)
		}
	}
}

// TestServeStopsCleanly ends the context with answers under way. How much of
// them is computed in the time that is left depends on the host, but none
// may look complete without being so.
func TestServeStopsCleanly(t *testing.T) {
	t.Parallel()
	r := startServe(t, nil, "--context", "8192")
	var bodies []io.ReadCloser
	for _, tokens := range []int{2, 8191} {
		response, err := http.Post(r.url+"/v1/completions", "application/json",
			strings.NewReader(fmt.Sprintf(`{"prompt":"x","max_tokens":%d,"stream":true}`, tokens)))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		bodies = append(bodies, response.Body)
	}
	if code, stderr := r.stop(); code != ExitOK || stderr != "" {
		t.Errorf("exit %d, %q", code, stderr)
	}
	for _, body := range bodies {
		data, err := io.ReadAll(body)
		complete, broken := strings.HasSuffix(string(data), "data: [DONE]\n\n"), strings.Contains(string(data), `"code":"stopping"`)
		if err == nil && complete == broken {
			t.Errorf("an answer is neither complete nor does it say why: %.300q", data)
		}
	}
	if _, err := http.Get(r.url + "/health"); err == nil {
		t.Error("a stopped server still answers")
	}
}

func TestServeRefusesFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--model huge": "tiny", "--colour red": "-h", "extra": "unexpected", "--slots 0": "1 to 256", "--context 9000": "2 to 8192",
		"--api-key-env NONE": "empty or not set", "--inject-slowdown x": "decode=30%", "--listen 999.0.0.1:1": "--listen",
	} {
		var out, stderr bytes.Buffer
		code := Command{&out, &stderr, func(string) string { return "" }, time.Now}.Serve(t.Context(), strings.Fields(args))
		if code == ExitOK || out.Len() > 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit %d, %q, %q, want %q", args, code, &out, &stderr, want)
		}
	}
	var out bytes.Buffer
	if code := (Command{&out, io.Discard, nil, nil}).Serve(t.Context(), []string{"-h"}); code != ExitOK || !strings.Contains(out.String(), "/v1/models") || strings.Contains(out.String(), "%!") {
		t.Errorf("help: exit %d, %s", code, &out)
	}
}

// slowReader is the response to a client that takes the body only when it is let.
type slowReader struct {
	*httptest.ResponseRecorder
	begun, take chan struct{}
}

func (s slowReader) Write(data []byte) (int, error) {
	s.begun <- struct{}{}
	<-s.take
	return s.ResponseRecorder.Write(data)
}

// TestSlotIsHeldUntilTheResponseIsWritten: a client that does not read keeps its slot, though its answer is computed.
func TestSlotIsHeldUntilTheResponseIsWritten(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := newScheduler(newModel(t, options{Model: "micro"}), 1, 64, nil)
		startScheduler(t, s)
		a := newAPI(s, 64, 1, "", time.Now)
		ask := func(w http.ResponseWriter) {
			body := fmt.Sprintf(`{"prompt":"x","max_tokens":1,"stream":%v}`, stream)
			a.web.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/v1/completions", strings.NewReader(body)))
		}
		slow := slowReader{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
		next := httptest.NewRecorder()
		var group sync.WaitGroup
		group.Go(func() { ask(slow) })
		<-slow.begun // its one token is computed
		group.Go(func() { ask(next) })
		for a.web.Queue.Waiting.Load() == 0 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if running := a.web.Queue.Running.Load(); running != 1 {
			t.Errorf("stream %v: %d requests have the one slot", stream, running)
		}
		close(slow.take)
		go func() {
			for range slow.begun {
			}
		}()
		group.Wait()
		close(slow.begun)
		if got := s.counts.answerTokens.Load(); slow.Code != 200 || next.Code != 200 || got != 2 {
			t.Errorf("stream %v: status %d and %d, %d tokens, want 200 and 200, 2", stream, slow.Code, next.Code, got)
		}
	}
}
