package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/worker"
)

type message struct {
	ID     int            `json:"id"`
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
}

// serve is a child that uses the protocol.
func serve(run func(params map[string]any) any) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		var result any = map[string]any{}
		if m.Method == "run" {
			served.request = m
			result = run(m.Params)
		}
		if result != nil {
			reply(m.ID, "result", result)
		}
		if m.Method == "shutdown" {
			return
		}
	}
}

// served is what the child reports about itself.
var served struct {
	request message
	runs    int
}

func reply(id int, kind string, value any) {
	line, err := json.Marshal(map[string]any{"id": id, kind: value})
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

// server is the program "server": it does what the params say.
func server(arg string) {
	switch arg {
	case "mute":
		fmt.Println("I never say anything useful")
		time.Sleep(time.Hour)
	case "dies":
		fmt.Fprintln(os.Stderr, "no such model")
		os.Exit(3)
	case "refuses":
		var m message
		_ = json.NewDecoder(os.Stdin).Decode(&m)
		reply(m.ID, "error", "not today")
		time.Sleep(time.Hour)
	}
	serve(func(params map[string]any) any {
		served.runs++
		what, _ := params["do"].(string)
		return acts[what](params)
	})
	if arg == "stubborn" {
		time.Sleep(time.Hour)
	}
}

var acts = map[string]func(params map[string]any) any{
	"":     func(params map[string]any) any { return params },
	"runs": func(map[string]any) any { return served.runs },
	"exit": func(params map[string]any) any { os.Exit(int(params["code"].(float64))); return nil },
	"hang": func(map[string]any) any { time.Sleep(time.Hour); return nil },
	"last": func(map[string]any) any { reply(served.request.ID, "result", "last"); os.Exit(0); return nil },
	"linger": func(map[string]any) any {
		reply(served.request.ID, "result", "linger")
		time.Sleep(100 * time.Millisecond)
		os.Exit(0)
		return nil
	},
	"later": func(map[string]any) any { time.AfterFunc(10*time.Millisecond, func() { os.Exit(4) }); return "later" },
	"error": func(params map[string]any) any { reply(served.request.ID, "error", params["error"]); return nil },
	"raw": func(params map[string]any) any {
		fmt.Println(strings.ReplaceAll(params["line"].(string), "ID", fmt.Sprint(served.request.ID)))
		return nil
	},
	"chatter": func(map[string]any) any {
		fmt.Println("loading")
		fmt.Fprintln(os.Stderr, "to stderr")
		for _, line := range []string{"{", "{}", `{"id":null,"result":1}`, `{"id":"7","result":1}`, "[1]", "7", "", `{"id":-1,"result":1}`} {
			fmt.Println(line)
		}
		reply(served.request.ID, "result", "right")
		reply(served.request.ID, "result", "twice")
		return nil
	},
	"early": func(map[string]any) any {
		reply(served.request.ID, "result", "right")
		reply(served.request.ID+1, "result", "the next one")
		return nil
	},
	"guess": func(map[string]any) any { reply(served.request.ID+1, "result", "another one"); return nil },
	"fail at the end": func(params map[string]any) any {
		go func() { io.Copy(io.Discard, os.Stdin); os.Exit(3) }()
		reply(served.request.ID, "result", "right")
		select {}
	},
	"long":      func(params map[string]any) any { return strings.Repeat("x", int(params["bytes"].(float64))) },
	"close out": func(map[string]any) any { os.Stdout.Close(); time.Sleep(time.Hour); return nil },
	"stop reading": func(map[string]any) any {
		reply(served.request.ID, "result", "no more")
		time.Sleep(time.Hour)
		return nil
	},
}

func run(t testing.TB, params string) worker.Request {
	req := request(t, "server", "")
	req.Params = json.RawMessage(params)
	return req
}

// persistent returns a worker that is closed with the test.
func persistent(t testing.TB, w *worker.Persistent) *worker.Persistent {
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func ask(t testing.TB, w worker.Worker, params string) worker.Response {
	t.Helper()
	resp, err := w.Do(within(t), run(t, params))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

const loads = `{"do":"runs"}`

func TestPersistentAnswers(t *testing.T) {
	t.Parallel()
	const limit = 10000
	long := strings.Repeat("é", 2000)
	of := func(bytes int) string { return fmt.Sprintf(`{"do":"long","bytes":%d}`, bytes) }
	tooLong := "the answer is longer than 10000 bytes: return less, or raise the limit"
	const around = len(`{"id":4503599627370496,"result":""}`)
	for _, test := range []struct {
		name, params string
		want         worker.Response // End, ExitCode, Stdout, Message and Unanswered
		wantRuns     string          // that the process has served after one more
	}{
		{name: "result", params: `{"prompt":"a\n<&>","n":[1,{}]}`, want: worker.Response{End: worker.Exited, Stdout: []byte(`{"n":[1,{}],"prompt":"a\n\u003c\u0026\u003e"}`)}, wantRuns: "2"},
		{name: "no params", params: ``, want: worker.Response{End: worker.Exited, Stdout: []byte(`{}`)}, wantRuns: "2"},
		{name: "params on lines", params: "{\n\"a\":\n1}", want: worker.Response{End: worker.Exited, Stdout: []byte(`{"a":1}`)}, wantRuns: "2"},
		{name: "null", params: `{"do":"raw","line":"{\"id\":ID,\"result\":null,\"error\":null}"}`, want: worker.Response{End: worker.Exited, Stdout: []byte(`null`)}, wantRuns: "2"},
		{name: "chatter", params: `{"do":"chatter"}`, want: worker.Response{End: worker.Exited, Stdout: []byte(`"right"`)}, wantRuns: "2"},
		{name: "last words", params: `{"do":"last"}`, want: worker.Response{End: worker.Exited, Stdout: []byte(`"last"`)}, wantRuns: "1"},
		{name: "dies unasked", params: `{"do":"linger"}`, want: worker.Response{End: worker.Exited, Stdout: []byte(`"linger"`)}, wantRuns: "1"},
		{name: "error", params: `{"do":"error","error":"too long"}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Message: "too long"}, wantRuns: "2"},
		{name: "error object", params: `{"do":"error","error":{"code":-32000}}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Message: `{"code":-32000}`}, wantRuns: "2"},
		{name: "long error", params: `{"do":"error","error":"` + long + `"}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Message: long[:1000] + "..."}, wantRuns: "2"},
		{name: "broken UTF-8", params: `{"do":"raw","line":"{\"id\":ID,\"error\":\"\\ud800\"}"}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Message: "\uFFFD"}, wantRuns: "2"},
		{name: "neither", params: `{"do":"raw","line":"{\"id\":ID}"}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Message: `the answer has neither a result nor an error: write {"id":...,"result":...}`}, wantRuns: "2"},
		{name: "two results", params: `{"do":"raw","line":"{\"id\":ID,\"result\":5,\"result\":500}"}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Contradicts: true,
			Message: `the result contradicts itself: the key "result" occurs twice in one object; print it once`}, wantRuns: "2"},
		{name: "two results by case", params: `{"do":"raw","line":"{\"id\":ID,\"result\":5,\"Result\":500}"}`, want: worker.Response{End: worker.Refused, ExitCode: -1, Contradicts: true,
			Message: `the result contradicts itself: the key "result" occurs twice in one object; print it once`}, wantRuns: "2"},
		{name: "keys of a result by case", params: `{"do":"raw","line":"{\"id\":ID,\"result\":{\"a\":1,\"A\":2}}"}`, want: worker.Response{End: worker.Exited, Stdout: []byte(`{"a":1,"A":2}`)}, wantRuns: "2"},
		{name: "at the limit", params: of(limit - around), want: worker.Response{End: worker.Exited, Stdout: []byte(`"` + strings.Repeat("x", limit-around) + `"`)}, wantRuns: "2"},
		{name: "over the limit", params: of(limit - around + 1), want: worker.Response{End: worker.Refused, ExitCode: -1, Message: tooLong}, wantRuns: "2"},
		{name: "far over the limit", params: of(10_000_000), want: worker.Response{End: worker.Refused, ExitCode: -1, Message: tooLong}, wantRuns: "2"},
		{name: "crash", params: `{"do":"exit","code":3}`, want: worker.Response{End: worker.Exited, ExitCode: 3, Unanswered: true}, wantRuns: "1"},
		{name: "exit", params: `{"do":"exit","code":0}`, want: worker.Response{End: worker.Exited, Unanswered: true}, wantRuns: "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := persistent(t, &worker.Persistent{MaxReply: limit})
			got := ask(t, w, test.params)
			if got.Wall <= 0 || got.OK() == (test.want.End != worker.Exited || test.want.Unanswered) || got.OK() != (got.Reason() == "") {
				t.Errorf("wall %v, OK %v, reason %q", got.Wall, got.OK(), got.Reason())
			}
			if !strings.Contains(got.Log, test.want.Message) {
				t.Errorf("log %q lacks the message", got.Log)
			}
			got = worker.Response{End: got.End, ExitCode: got.ExitCode, Stdout: got.Stdout, Message: got.Message, Contradicts: got.Contradicts, Unanswered: got.Unanswered}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if got := ask(t, w, loads); string(got.Stdout) != test.wantRuns {
				t.Errorf("the process has served %s (%s), want %s", got.Stdout, got.Reason(), test.wantRuns)
			}
		})
	}
}

// TestPersistentReportsTheLoad: each answer says how long its process took to come up.
func TestPersistentReportsTheLoad(t *testing.T) {
	w := persistent(t, &worker.Persistent{})
	first, second := ask(t, w, loads), ask(t, w, loads)
	if first.Load <= 0 || first.Load != second.Load {
		t.Errorf("the process took %v and %v to load, want one time above 0", first.Load, second.Load)
	}
}

func TestPersistentLogsWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{})
	ask(t, w, `{"do":"error","error":"of the first request"}`)
	got := ask(t, w, `{"do":"chatter"}`)
	for _, want := range []string{"loading\n", "{\n{}\n", "[1]\n7\n\n"} { // what follows the answer may come later
		if !strings.Contains(got.Log, want) {
			t.Errorf("log lacks %q:\n%s", want, got.Log)
		}
	}
	if strings.Contains(got.Log, "first") || strings.Contains(got.Log, "right") {
		t.Errorf("log holds more than that of the request:\n%s", got.Log)
	}
	if got := ask(t, w, `{}`); string(got.Stdout) != `{}` {
		t.Errorf("a stale answer was taken: %s", got.Stdout)
	}
}

func TestPersistentRefusesParams(t *testing.T) {
	t.Parallel()
	for _, params := range []string{"[]", "1", "{", "{} {}", "null", `"x"`} {
		got, err := new(worker.Persistent).Do(within(t), run(t, params))
		if err != nil || got.End != worker.NotStarted || !strings.Contains(got.Reason(), "JSON object") {
			t.Errorf("%s: reason %q, error %v, want a refusal", params, got.Reason(), err)
		}
	}
	got, err := new(worker.Isolated).Do(within(t), run(t, "{}"))
	if err != nil || got.End != worker.NotStarted || !strings.Contains(got.Reason(), "persistent") {
		t.Errorf("isolated: reason %q, error %v, want a refusal", got.Reason(), err)
	}
}

func TestPersistentStartsAnewForAnotherKey(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{Environ: []string{"A=1"}})
	for _, test := range []struct {
		name   string
		change func(*worker.Request)
		want   string
	}{
		{"first", func(*worker.Request) {}, "1"},
		{"again", func(*worker.Request) {}, "2"},
		{"timeout", func(r *worker.Request) { r.Timeout = time.Minute }, "3"},
		{"args", func(r *worker.Request) { r.Args = append(r.Args, "x") }, "1"},
		{"env", func(r *worker.Request) { r.Env = append(r.Env, "A=2") }, "1"},
		{"dir", func(r *worker.Request) { r.Dir = os.TempDir() }, "1"},
		{"unset", func(r *worker.Request) { r.Unset = []string{"A"} }, "1"},
		{"unset again", func(r *worker.Request) { r.Unset = []string{"A"} }, "2"},
	} {
		req := run(t, loads)
		test.change(&req)
		got, err := w.Do(within(t), req)
		if err != nil || string(got.Stdout) != test.want || got.Restarts != 0 {
			t.Errorf("%s: served %s, %d restarts, reason %q, error %v, want %s", test.name, got.Stdout, got.Restarts, got.Reason(), err, test.want)
		}
	}
}

// A process that does not come up was not started, whatever kept it.
func TestPersistentIsNotReady(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]struct{ reason, log string }{
		"mute":    {"did not answer the first ping within 2s", "never say"},
		"dies":    {"ended before it was ready: exit code 3", "no such model"},
		"refuses": {"refused the first ping", ""},
	} {
		t.Run(arg, func(t *testing.T) {
			t.Parallel()
			w := persistent(t, &worker.Persistent{Grace: soonToo})
			if arg == "mute" {
				w.StartTimeout = 2 * time.Second
			}
			got, err := w.Do(within(t), request(t, "server", arg))
			if err != nil || got.End != worker.NotStarted || got.ExitCode != -1 || got.StartErr == nil ||
				!strings.Contains(got.Reason(), want.reason) || !strings.Contains(got.Log, want.log) {
				t.Errorf("%+v, error %v, want %q", got, err, want.reason)
			}
		})
	}
	got, err := new(worker.Persistent).Do(within(t), worker.Request{Args: []string{"absent"}})
	if err != nil || got.End != worker.NotStarted || !errors.Is(got.StartErr, worker.ErrNotFound) {
		t.Errorf("%+v, error %v, want %v", got, err, worker.ErrNotFound)
	}
}

const soonToo = 10 * time.Millisecond

func TestPersistentTimeout(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{Grace: soonToo})
	if got := ask(t, w, loads); string(got.Stdout) != "1" {
		t.Fatalf("%+v", got)
	}
	req := run(t, `{"do":"hang"}`)
	req.Timeout = 100 * time.Millisecond
	got, err := w.Do(within(t), req)
	if err != nil || got.End != worker.TimedOut || got.OK() || got.Wall < req.Timeout {
		t.Errorf("%+v, error %v, want a timeout", got, err)
	}
	if got := ask(t, w, loads); string(got.Stdout) != "1" || got.Restarts != 0 {
		t.Errorf("served %s with %d restarts, want a new process", got.Stdout, got.Restarts)
	}
}

func TestPersistentCancel(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{Grace: soonToo})
	ask(t, w, loads)
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(within(t))
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	got, err := w.Do(ctx, run(t, `{"do":"hang"}`))
	if !errors.Is(err, cause) || got.End != worker.Cancelled {
		t.Errorf("%+v, error %v, want %v", got, err, cause)
	}
	if got, err := w.Do(ctx, run(t, `{}`)); !errors.Is(err, cause) || got.End != worker.Cancelled {
		t.Errorf("%+v, error %v, want %v", got, err, cause)
	}
}

// A child that does not read cannot hold up Do, however much it is asked.
func TestPersistentWriteHasALimit(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{Grace: soonToo})
	if got := ask(t, w, `{"do":"stop reading"}`); !got.OK() {
		t.Fatal(got.Reason())
	}
	req := run(t, `{"fill":"`+strings.Repeat("x", 1<<20)+`"}`)
	req.Timeout = 100 * time.Millisecond
	if got, err := w.Do(within(t), req); err != nil || got.End != worker.TimedOut {
		t.Errorf("%+v, error %v, want a timeout", got.End, err)
	}
}

func TestPersistentClosedOutput(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{Grace: soonToo})
	got := ask(t, w, `{"do":"close out"}`)
	if got.End != worker.Refused || !strings.Contains(got.Message, "closed its standard output") {
		t.Errorf("%+v, want a refusal", got)
	}
	if got := ask(t, w, loads); string(got.Stdout) != "1" {
		t.Errorf("served %s, want a new process", got.Stdout)
	}
}

// A process that dies between requests is replaced, and the caller gets a warning.
func TestPersistentRestarts(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{HealthTimeout: time.Second, Grace: soonToo})
	ask(t, w, `{"do":"later"}`)
	time.Sleep(200 * time.Millisecond) // it exits meanwhile; if not, it is found by the write or not at all
	got := ask(t, w, loads)
	if string(got.Stdout) != "1" || got.Restarts != 1 || !strings.Contains(got.Log, "(exit code 4)") {
		t.Errorf("served %s, %d restarts, log %q, want one restart and why", got.Stdout, got.Restarts, got.Log)
	}
	ask(t, w, `{"do":"stop reading"}`)
	time.Sleep(1100 * time.Millisecond) // until it is worth a ping
	got = ask(t, w, loads)
	if string(got.Stdout) != "1" || got.Restarts != 1 || !strings.Contains(got.Log, "did not answer a ping") {
		t.Errorf("served %s, %d restarts, log %q, want one restart and why", got.Stdout, got.Restarts, got.Log)
	}
}

func TestPersistentEndsTheStubborn(t *testing.T) {
	t.Parallel()
	w := &worker.Persistent{Grace: soonToo}
	if got, err := w.Do(within(t), request(t, "server", "stubborn")); err != nil || !got.OK() {
		t.Fatal(got.Reason(), err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestPersistentPython runs the child that the documentation shows.
func TestPersistentPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("ACCELGATE_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skipf("the documented child was NOT tested: install python3 (%v)", err)
	}
	script := filepath.Join(t.TempDir(), "child.py")
	if err := os.WriteFile(script, []byte(example(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := persistent(t, &worker.Persistent{Environ: os.Environ(), Grace: time.Minute})
	for _, test := range []struct {
		params string
		end    worker.End
		want   string
	}{
		{`{"text":"ab","times":2}`, worker.Exited, `{"text": "abab"}`},
		{`{"text":1,"wrong":2}`, worker.Refused, "run() got an unexpected keyword argument 'wrong'"},
		{`{"text":"é"}`, worker.Exited, `{"text": "\u00e9"}`},
	} {
		got, err := w.Do(within(t), worker.Request{Args: []string{python, script}, Params: json.RawMessage(test.params)})
		if err != nil || got.End != test.end || string(got.Stdout)+got.Message != test.want {
			t.Errorf("%s: end %q, %s%s, error %v, want %s\n%s", test.params, got.End, got.Stdout, got.Message, err, test.want, got.Log)
		}
	}
}

// example cuts the Python program out of the documentation.
func example(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "persistent.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var doc string
	ast.Inspect(file, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && strings.HasPrefix(d.Doc.Text(), "Persistent is") {
			doc = d.Doc.Text()
		}
		return true
	})
	_, program, _ := strings.Cut(doc, "A child in Python:\n")
	var lines []string
	for line := range strings.Lines(program) {
		if line != "\n" && line[0] != '\t' {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "\t"))
	}
	if len(lines) < 10 {
		t.Fatalf("no program in %q", doc)
	}
	return strings.Join(lines, "")
}

// TestPersistentCrashIsBlamedOnItsOwnRequest: a process that dies in the middle
// of a request after it had served another may die of the other.
func TestPersistentCrashIsBlamedOnItsOwnRequest(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{})
	if got := ask(t, w, ""); !got.OK() {
		t.Fatal(got.Reason())
	}
	got := ask(t, w, `{"do":"exit","code":3}`)
	if !got.Unanswered || got.Restarts != 1 {
		t.Errorf("unanswered %v, restarts %d, want the crash confirmed by a fresh process", got.Unanswered, got.Restarts)
	}
	if got := ask(t, w, `{"do":"exit","code":3}`); !got.Unanswered || got.Restarts != 0 {
		t.Errorf("unanswered %v, restarts %d, want a first request's crash to be its own", got.Unanswered, got.Restarts)
	}
}

// TestPersistentAnswersBeforeItIsAsked: such an answer was once taken for that
// of the next request.
func TestPersistentAnswersBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	w := persistent(t, &worker.Persistent{})
	if got := ask(t, w, `{"do":"early"}`); !got.OK() || string(got.Stdout) != `"right"` {
		t.Fatalf("got %s, %s", got.Reason(), got.Stdout)
	}
	if got := ask(t, w, loads); got.OK() || !strings.Contains(got.Message, "was not sent") {
		t.Errorf("after an early answer: %s %q, %s", got.Reason(), got.Message, got.Stdout)
	}
	if got := ask(t, w, loads); !got.OK() {
		t.Errorf("the request after that: %s %q", got.Reason(), got.Message)
	}
	if got := ask(t, w, `{"do":"guess"}`); got.OK() || !strings.Contains(got.Message, "was not sent") {
		t.Errorf("a guess: %s %q, %s", got.Reason(), got.Message, got.Stdout)
	}
}

func TestPersistentThatFailsAfterItsLastAnswer(t *testing.T) {
	t.Parallel()
	w := &worker.Persistent{}
	if got := ask(t, w, `{"do":"fail at the end"}`); !got.OK() {
		t.Fatal(got.Reason())
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("got %v, want an error with the exit code", err)
	}
}
