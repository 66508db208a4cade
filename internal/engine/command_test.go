package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ticker returns a clock that advances by a millisecond whenever it is read.
func ticker() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}

// bench runs the command with a ticking clock.
func bench(t *testing.T, env string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	getenv := func(name string) string {
		if name == kvCacheEnv {
			return env
		}
		return ""
	}
	code = Command{&out, &err, getenv, ticker()}.Bench(t.Context(), args)
	return code, out.String(), err.String()
}

// report runs the micro model and decodes what is printed, which must be one
// object without unknown fields.
func report(t *testing.T, env string, args ...string) Report {
	t.Helper()
	code, stdout, stderr := bench(t, env, append([]string{"--model", "micro"}, args...)...)
	if code != ExitOK || stderr != "" {
		t.Fatalf("%q: exit %d, %s", args, code, stderr)
	}
	var r Report
	in := json.NewDecoder(strings.NewReader(stdout))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		t.Fatalf("%q: %v in %s", args, err, stdout)
	}
	if in.More() || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("%q: more than one line: %s", args, stdout)
	}
	return r
}

func TestBenchReports(t *testing.T) {
	got := report(t, "f16", "--seed", "7", "--prompt", "gate", "--decode-tokens", "5", "--runs", "2", "--warmup", "0", "--backend", "cpu_parallel", "--threads", "2")
	tokens, _ := answer(t, newModel(t, options{Model: "micro", Seed: 7}), "gate", 5)
	want := Report{
		Engine: "accelgate embedded", Model: "micro", Seed: 7, Backend: "cpu_parallel", Threads: 2,
		KVCacheDType: "f16", PromptTokens: 4, TokenIDs: tokens, Text: decode(tokens),
	}
	measured := cmpopts.IgnoreFields(Report{}, "PrefillTPS", "DecodeTPS", "ModelLoadMS", "Runs", "Operators")
	if diff := cmp.Diff(got, want, measured); diff != "" {
		t.Errorf("got -, want +\n%s", diff)
	}
	if len(got.Runs.PrefillTPS) != 2 || len(got.Runs.DecodeTPS) != 2 {
		t.Errorf("runs %+v, want 2 of each", got.Runs)
	}
	if got.ModelLoadMS != 1 { // two readings of the clock
		t.Errorf("model_load_ms is %v, want 1", got.ModelLoadMS)
	}
	if got.PrefillTPS != slices.Max(got.Runs.PrefillTPS) || got.DecodeTPS != slices.Max(got.Runs.DecodeTPS) {
		t.Errorf("rates %v and %v are not the fastest of %+v", got.PrefillTPS, got.DecodeTPS, got.Runs)
	}
}

func TestOneTokenIsNotDecoded(t *testing.T) {
	_, stdout, _ := bench(t, "", "--model", "micro", "--decode-tokens", "1")
	if strings.Contains(stdout, "decode_tps") || !strings.Contains(stdout, `"prefill_tps"`) {
		t.Errorf("printed %s", stdout)
	}
	if got := report(t, "", "--decode-tokens", "1"); len(got.TokenIDs) != 1 {
		t.Errorf("answered %v, want one token", got.TokenIDs)
	}
}

// TestOperatorsAddUp counts with a clock on which every operator takes a
// millisecond.
func TestOperatorsAddUp(t *testing.T) {
	const prompt, answered, layers = 200, 6, 2 // two chunks, one token each for the others
	got := report(t, "q8_0", "--prompt-tokens", "200", "--decode-tokens", "6", "--runs", "1")
	const forwards = 2 + answered - 1
	want := map[string]int64{
		"embed": forwards, "rmsnorm": forwards*layers*2 + answered, "matmul.qkv": forwards * layers, "rope": forwards * layers,
		"kv.write": forwards * layers, "kv.read": forwards * layers, "attention": forwards * layers, "matmul.o": forwards * layers,
		"matmul.ffn": forwards * layers * 2, "silu": forwards * layers, "add": forwards * layers * 2,
		"matmul.logits": answered, "sample": answered,
	}
	var total float64
	calls := map[string]int64{}
	for i, o := range got.Operators {
		calls[o.Name] = o.Calls
		total += o.TotalMS
		if o.TotalMS != float64(o.Calls) || i > 0 && o.TotalMS > got.Operators[i-1].TotalMS {
			t.Errorf("operator %d is %+v after %+v", i, o, got.Operators[max(i-1, 0)])
		}
	}
	if diff := cmp.Diff(calls, want); diff != "" {
		t.Errorf("calls: got -, want +\n%s", diff)
	}
	whole := 1000 * (prompt/got.PrefillTPS + (answered-1)/got.DecodeTPS)
	if outside := whole - total; outside < 0 || outside > 3*answered {
		t.Errorf("operators took %v ms of %v ms", total, whole)
	}
}

// TestInjectedSlowdownIsReported checks what a report says of a slow-down; how
// slow it is, is counted in [TestInjectedSlowdownIsAShareOfTheWork].
func TestInjectedSlowdownIsReported(t *testing.T) {
	plain := report(t, "", "--decode-tokens", "8")
	got := report(t, "", "--decode-tokens", "8", "--inject-slowdown", "decode=30%")
	if diff := cmp.Diff(got.Injected, Slowdown{"decode": 30}); diff != "" {
		t.Errorf("injected: got -, want +\n%s", diff)
	}
	if !slices.Equal(got.TokenIDs, plain.TokenIDs) {
		t.Error("the answer changed")
	}
	calls := func(r Report) map[string]int64 {
		all := map[string]int64{}
		for _, o := range r.Operators {
			all[o.Name] = o.Calls
		}
		return all
	}
	injected := calls(got)
	if injected["injected"] == 0 {
		t.Error("the repeated work is charged to nothing")
	}
	delete(injected, "injected")
	if diff := cmp.Diff(injected, calls(plain)); diff != "" {
		t.Errorf("calls of the operators: got -, plain +\n%s", diff)
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, c := range []struct {
		env  string
		args string
		want string // in the message: what to type
	}{
		{"", "--colour red", "-h"},
		{"", "--seed -1", "-h"},
		{"", "--runs many", "-h"},
		{"", "--inject-slowdown decode=30", "decode=30%"},
		{"", "--inject-slowdown decode=100%", "below 100%"},
		{"", "--inject-slowdown decode=1% --inject-slowdown decode=2%", "remove one"},
		{"", "prompt", "--prompt"},
		{"", "--model huge", "tiny, micro, small"},
		{"", "--backend cuda", "cpu, cpu_parallel"},
		{"", "--threads 4", "cpu_parallel"},
		{"f64", "", "f32, f16, q8_0"},
		{"", "--prompt= ", "--prompt-tokens"},
		{"", "--prompt x --prompt-tokens 3", "drop one"},
		{"", "--prompt-tokens 0", "1 to 8191"},
		{"", "--prompt-tokens 2147483647", "1 to 8191"},
		{"", "--decode-tokens 0", "1 to 8192"},
		{"", "--decode-tokens 2147483647", "1 to 8192"},
		{"", "--prompt-tokens 8000 --decode-tokens 193", "shorten"},
		{"", "--prompt " + strings.Repeat("x", maxTokens), "shorten"},
		{"", "--runs 0", "1 to 1000"},
		{"", "--runs 1001", "1 to 1000"},
		{"", "--warmup -1", "0 to 1000"},
	} {
		code, stdout, stderr := bench(t, c.env, strings.Fields(c.args)...)
		if code != ExitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q %.50q: exit %d, printed %q, %q; want %q", c.env, c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	code, stdout, stderr := bench(t, "", "-h")
	if code != ExitOK || stderr != "" {
		t.Errorf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{
		"--model", "--seed", "--backend", "--threads", "--prompt", "--prompt-tokens", "--decode-tokens",
		"--runs", "--warmup", "--inject-slowdown", "tiny, micro", "cpu, cpu_parallel", "f32, f16, q8_0", "decode=30%,",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s is missing in\n%s", want, stdout)
		}
	}
}

func TestBenchStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, stderr bytes.Buffer
	code := Command{&out, &stderr, func(string) string { return "" }, time.Now}.Bench(ctx, []string{"--model", "micro", "--prompt", "x"})
	if code != ExitFailure || out.Len() > 0 || stderr.Len() == 0 {
		t.Errorf("exit %d, printed %q, %q", code, &out, &stderr)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestUnwritableReportIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	code := Command{brokenWriter{}, &stderr, func(string) string { return "" }, time.Now}.Bench(t.Context(), []string{"--model", "micro", "--prompt", "x"})
	if code != ExitFailure || !strings.Contains(stderr.String(), "disk full") {
		t.Errorf("exit %d, %q", code, &stderr)
	}
}

func TestStandingClockIsAFailure(t *testing.T) {
	var out, stderr bytes.Buffer
	standing := func() time.Time { return time.Unix(0, 0) }
	code := Command{&out, &stderr, func(string) string { return "" }, standing}.Bench(t.Context(), []string{"--model", "micro", "--prompt", "x"})
	if code != ExitFailure || out.Len() > 0 || !strings.Contains(stderr.String(), "--decode-tokens") {
		t.Errorf("exit %d, printed %q, %q", code, &out, &stderr)
	}
}
