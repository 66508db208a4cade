package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// work runs the command on lines of input, with a ticking clock.
func work(t *testing.T, env, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Command{&out, &err, func(string) string { return env }, ticker()}.Worker(t.Context(), strings.NewReader(input), args)
	return code, out.String(), err.String()
}

type workedOff struct {
	ID     int
	Result *Report
	Error  string
}

// TestWorkerAnswersAsBench compares each answer with that of a fresh bench, in
// an order in which state left from one request would show in the next.
func TestWorkerAnswersAsBench(t *testing.T) {
	loaded := []string{"--model", "micro", "--seed", "7", "--backend", "cpu_parallel", "--threads", "2", "--runs", "2"}
	requests := []struct {
		params string
		flags  []string
	}{
		{`{"prompt":"The gate is","decode_tokens":9}`, []string{"--prompt", "The gate is", "--decode-tokens", "9"}},
		{`{"prompt":"x","decode_tokens":3}`, []string{"--prompt", "x", "--decode-tokens", "3"}},
		{`{"prompt_tokens":200,"decode_tokens":1}`, []string{"--prompt-tokens", "200", "--decode-tokens", "1"}},
		{`{"prompt":"--runs=9"}`, []string{"--prompt", "--runs=9"}},
		{`{}`, nil},
		{`{"prompt":"The gate is","decode_tokens":9}`, []string{"--prompt", "The gate is", "--decode-tokens", "9"}},
	}
	var input strings.Builder
	for i, r := range requests {
		_ = json.NewEncoder(&input).Encode(map[string]any{"id": i + 1, "method": "run", "params": json.RawMessage(r.params)})
	}
	code, stdout, stderr := work(t, "f16", input.String(), loaded...)
	if code != ExitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	in := json.NewDecoder(strings.NewReader(stdout))
	in.DisallowUnknownFields()
	for i, r := range requests {
		var got workedOff
		if err := in.Decode(&got); err != nil || got.ID != i+1 || got.Result == nil {
			t.Fatalf("answer %d: %+v, %v", i+1, got, err)
		}
		// On the ticking clock even the rates must be those of a fresh process.
		want := report(t, "f16", append(loaded[2:len(loaded):len(loaded)], r.flags...)...)
		if diff := cmp.Diff(&want, got.Result); diff != "" {
			t.Errorf("%s (-bench +worker):\n%s", r.params, diff)
		}
	}
	if in.More() {
		t.Errorf("more answers than requests: %s", stdout)
	}
}

func TestWorkerSpeaksTheProtocol(t *testing.T) {
	for _, test := range []struct {
		input, want string // in the one answer
		code        int
	}{
		{`{"id":1,"method":"ping"}`, `{"id":1,"result":{}}`, ExitOK},
		{`{"id":2,"method":"ping","params":{}}`, `{"id":2,"result":{}}`, ExitOK},
		{"{\"id\":3,\"method\":\"shutdown\"}\n{\"id\":4,\"method\":\"ping\"}", `{"id":3,"result":{}}`, ExitOK},
		{`{"id":5,"method":"fly"}`, "choose run, ping or shutdown", ExitOK},
		{`{"id":6,"method":"run","params":{"prompt":""}}`, "give some text", ExitOK},
		{`{"id":7,"method":"run","params":{"prompt":"x","prompt_tokens":3}}`, "drop one", ExitOK},
		{`{"id":8,"method":"run","params":{"decode_tokens":100000}}`, "choose 1 to", ExitOK},
		{`{"id":9,"method":"run","params":{"colour":"red"}}`, "prompt_tokens, and decode_tokens", ExitOK},
		{`{"id":10,"method":"run","params":[1]}`, "prompt_tokens, and decode_tokens", ExitOK},
		{"", "", ExitOK},
		{"hello", "", ExitFailure},
		{strings.Repeat("x", maxRequest+1), "", ExitFailure},
	} {
		code, stdout, stderr := work(t, "", test.input, "--model", "micro")
		if code != test.code || (stderr == "") != (code == ExitOK) {
			t.Errorf("%.80s: exit %d, %s", test.input, code, stderr)
		}
		if !strings.Contains(stdout, test.want) || strings.Count(stdout, "\n") != min(1, len(test.want)) {
			t.Errorf("%.80s: answered %s, want one line with %s", test.input, stdout, test.want)
		}
	}
}

func TestWorkerRefuses(t *testing.T) {
	for args, want := range map[string]string{"--model huge": "tiny", "--colour red": "-h", "extra": "unexpected"} {
		code, stdout, stderr := work(t, "", "", strings.Fields(args)...)
		if code != ExitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
	}
	if code, stdout, _ := work(t, "", "", "-h"); code != ExitOK || !strings.Contains(stdout, `"method":"run"`) {
		t.Errorf("help: exit %d, %q", code, stdout)
	}
}

// The input is a pipe without a writer.
func TestWorkerStopsWithTheContext(t *testing.T) {
	in, _ := io.Pipe()
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	var out, stderr bytes.Buffer
	code := Command{&out, &stderr, func(string) string { return "" }, time.Now}.Worker(ctx, in, []string{"--model", "micro"})
	if code != ExitFailure || stderr.Len() == 0 {
		t.Errorf("exit %d, %q", code, &stderr)
	}
}

func TestWorkerWithoutAReaderIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	in := strings.NewReader(`{"id":1,"method":"ping"}`)
	code := Command{brokenWriter{}, &stderr, func(string) string { return "" }, time.Now}.Worker(t.Context(), in, []string{"--model", "micro"})
	if code != ExitFailure || !strings.Contains(stderr.String(), "disk full") {
		t.Errorf("exit %d, %q", code, &stderr)
	}
}

func FuzzWorker(f *testing.F) {
	f.Add(`{"id":1,"method":"run","params":{"prompt_tokens":1,"decode_tokens":1}}`)
	f.Add("{\"id\":[{}],\"method\":\"run\",\"params\":null}\n{}\n\xff")
	f.Add(`{"id":1,"method":"run","params":{"decode_tokens":-9e999,"prompt":"\ud800\u0000"}}`)
	f.Fuzz(func(t *testing.T, input string) {
		if len(input) > 200 { // a longer prompt is computed, not parsed
			return
		}
		var out, stderr bytes.Buffer
		c := Command{&out, &stderr, func(string) string { return "" }, time.Now}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		code := c.Worker(ctx, strings.NewReader(input), []string{"--model", "micro", "--runs", "1", "--warmup", "0", "--prompt-tokens", "1", "--decode-tokens", "1"})
		if code != ExitOK && stderr.Len() == 0 {
			t.Errorf("%q: exit %d without a word", input, code)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: answered %q", input, line)
			}
		}
	})
}
