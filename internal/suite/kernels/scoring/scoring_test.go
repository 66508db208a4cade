package scoring_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/routers"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/scoring"
)

// dataset writes one definition with three workloads.
func dataset(t testing.TB) *flashinfer.Dataset {
	t.Helper()
	dir := t.TempDir()
	line := `{"definition":"d","solution":null,"workload":{"uuid":"w%d","axes":{"n":%d},"inputs":{"x":%s}},"evaluation":null}`
	for name, content := range map[string]string{
		"definitions/d.json": `{"name": "d", "op_type": "o", "axes": {"n": {"type": "var"}}, "inputs": {"x": {"shape": ["n"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "def run(x):\n    return x  # it's <x> & \"$HOME\"\n"}`,
		"definitions/e.json": `{"name": "e", "op_type": "o", "axes": {"n": {"type": "var"}}, "inputs": {"x": {"shape": ["n"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "def run(x):\n    return x\n"}`,
		"workloads/d.jsonl":  fmt.Sprintf(line+"\n"+line+"\n"+line, 1, 1, `{"type":"random"}`, 2, 2, `{"type":"random"}`, 3, 3, `{"type":"safetensors","path":"./blob/x.safetensors","tensor_key":"x"}`),
		"blob/x.safetensors": "x",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// measure stands in for measuring: it appends a trace for each workload of the task's
// dataset, as kernels run does, but for solutions whose description says otherwise.
func measure(_ context.Context, job scoring.Job) error {
	ds, err := flashinfer.Load(job.Data)
	if err != nil {
		return err
	}
	s := ds.Solutions[0]
	path, err := flashinfer.TracePath(ds.Definitions[0], s.Author)
	if err != nil {
		return err
	}
	for i, w := range ds.Workloads {
		if s.Description == "skip" && i > 0 {
			return errors.New("no worker builds it")
		}
		_, err := flashinfer.AppendTrace(ds.Root, path, &flashinfer.Trace{Definition: w.Definition, Workload: w.Workload, Solution: s.Name, Evaluation: &flashinfer.Evaluation{
			Status: flashinfer.RuntimeError, Environment: flashinfer.Environment{Hardware: "A"}, Timestamp: "2026-01-02T03:04:05", Gate: watch(job.Tools)}})
		if err != nil {
			return err
		}
	}
	return nil
}

// served is a server of a test.
type served struct {
	address string
	token   string
	end     func() error
	// contract is the description that the server gives of itself.
	contract func(testing.TB) routers.Router
}

func serve(t testing.TB, o scoring.Options) *served {
	t.Helper()
	if o.Dataset == nil {
		o.Dataset = dataset(t)
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Score == nil {
		o.Score = measure
	}
	if o.Queue == 0 {
		o.Queue = 100
	}
	o.Tools = []string{"ncu", "compute-sanitizer"}
	o.Lanes, o.Hosts, o.Now, o.Warn = append(o.Lanes, ""), []string{"127.0.0.1"}, time.Now, func(w string) { t.Error(w) }
	s, err := scoring.New(o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener, log.New(io.Discard, "", 0)) }()
	end := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return described(&served{address: "http://" + listener.Addr().String(), token: o.Token, end: end})
}

// ask sends a request and returns the status code and the document. What is accepted
// and what is answered must be as the server describes it.
func (s *served) ask(t testing.TB, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	r, resp, text := s.send(t, method, path, body, headers...)
	s.judge(t, r, body, resp, text)
	return resp.StatusCode, string(bytes.TrimSpace(text))
}

// send sends a request and returns it with the answer.
func (s *served) send(t testing.TB, method, path, body string, headers ...string) (*http.Request, *http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !json.Valid(text) && resp.Header.Get("Content-Type") == "application/json" {
		t.Fatalf("%s %s: %q, %v", method, path, text, err)
	}
	return r, resp, text
}

func solution(name, description string) string {
	return fmt.Sprintf(`{"name":%q,"definition":"d","author":"me","description":%q,"spec":{"language":"python","target_hardware":["cpu"],"entry_point":"m.py::run"},"sources":[{"path":"m.py","content":"x"}]}`, name, description)
}

type task struct {
	ID     string            `json:"task_id"`
	Kind   string            `json:"kind"`
	Name   string            `json:"normalized_solution_name"`
	Status scoring.Status    `json:"status"`
	Traces []json.RawMessage `json:"traces"`
	Logs   []struct {
		Definition, Solution, Log string
		Workload                  struct{ UUID string }
	} `json:"logs"`
	Error string `json:"error"`
}

func (s *served) submit(t testing.TB, body string) task {
	t.Helper()
	return s.submitTo(t, "/evaluate", body)
}

func (s *served) submitTo(t testing.TB, path, body string) (made task) {
	t.Helper()
	code, text := s.ask(t, "POST", path, body)
	if err := json.Unmarshal([]byte(text), &made); err != nil || code != 200 {
		t.Fatalf("%d, %s", code, text)
	}
	return made
}

func (s *served) wait(t testing.TB, id string) (got task) {
	t.Helper()
	code, text := s.ask(t, "GET", "/tasks/"+id+"?timeout=60", "")
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != 200 {
		t.Fatalf("%d, %s", code, text)
	}
	return got
}

// TestTask: a solution is measured with the workloads that were asked for, and its
// traces have the name that the server gave it.
func TestTask(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{})
	all := s.submit(t, `{"solution":`+solution("s", "")+`}`)
	some := s.submit(t, `{"solution":`+solution("s", "")+`,"workload_uuids":["w3","w1","w3"]}`)
	lacking := s.submit(t, `{"solution":`+solution("s", "skip")+`}`)
	if !strings.HasPrefix(all.Name, "s_") || all.Name == some.Name {
		t.Errorf("names: %q, %q", all.Name, some.Name)
	}
	if got := s.wait(t, all.ID); got.Status != scoring.Completed || got.Kind != "evaluate" || got.Logs != nil || len(got.Traces) != 3 || !strings.Contains(string(got.Traces[0]), all.Name) {
		t.Errorf("all: %+v", got)
	}
	if got := s.wait(t, some.ID); got.Status != scoring.Completed || len(got.Traces) != 2 || !strings.Contains(string(got.Traces[0]), `"w3"`) {
		t.Errorf("some: %+v", got)
	}
	if got := s.wait(t, lacking.ID); got.Status != scoring.Failed || len(got.Traces) != 1 || got.Error != "2 workloads of 3 without a trace: no worker builds it" {
		t.Errorf("lacking: %+v", got)
	}
	code, text := s.ask(t, "POST", "/tasks/batch", `{"task_ids":["`+all.ID+`","`+some.ID+`"],"timeout":5}`)
	if code != 200 || strings.Count(text, `"completed"`) != 2 {
		t.Errorf("batch: %d, %s", code, text)
	}
}

// TestAnswers: every request that the server refuses says why, in FastAPI's form.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{})
	evaluate := func(body string) []string { return []string{"POST", "/evaluate", body} }
	for _, c := range []struct {
		request []string
		code    int
		want    string
	}{
		{[]string{"GET", "/", ""}, 200, `"/evaluate"`},
		{[]string{"GET", "/health", ""}, 200, `{"status":"ok","workers":[{"device":"default","healthy":true}],"queue_size":0}`},
		{[]string{"GET", "/definitions", ""}, 200, `[{"name":"d","description":null},{"name":"e","description":null}]`},
		{[]string{"GET", "/definitions/d", ""}, 200, `"op_type":"o"`},
		{[]string{"GET", "/definitions/x", ""}, 404, `{"detail":"Definition not found: \"x\""}`},
		{[]string{"GET", "/definitions/d/workloads", ""}, 200, `"uuid":"w3"`},
		{[]string{"GET", "/definitions/e/workloads", ""}, 200, `[]`},
		{[]string{"GET", "/workloads/w2", ""}, 200, `{"axes":{"n":2},`},
		{[]string{"GET", "/workloads/%2e%2e%2fx", ""}, 404, "Workload not found"},
		{[]string{"GET", "/tasks/" + strings.Repeat("0", 32), ""}, 404, "Task not found"},
		{[]string{"GET", "/tasks/x?timeout=NaN", ""}, 422, "from 0 to 3600"},
		{[]string{"POST", "/tasks/batch", `{"task_ids":[],"timeout":1e9}`}, 422, "at most 1000 tasks"},
		{[]string{"POST", "/shutdown", `{}`}, 404, "Not Found"},
		{[]string{"DELETE", "/evaluate", ``}, 404, "Not Found"},
		{evaluate(``), 422, "the body is not what is expected"},
		{evaluate(`{}`), 422, "solution"},
		{evaluate(`{"solution":` + solution("s", "") + `,"workload_uuid":["w1"]}`), 422, "unknown field"},
		{evaluate(`{"solution":` + solution("s", "") + `}{}`), 422, "more follows"},
		{evaluate(`{"solution":` + solution("s", "") + `,"workload_uuids":["w9"]}`), 400, "No workload"},
		{evaluate(`{"solution":` + strings.Replace(solution("s", ""), `"d"`, `"x"`, 1) + `}`), 400, "Definition not found"},
		{evaluate(`{"solution":` + strings.Replace(solution("s", ""), `"d"`, `"e"`, 1) + `}`), 400, "No workloads found"},
		{evaluate(`{"solution":` + strings.Replace(solution("s", ""), `"me"`, `"../me"`, 1) + `}`), 422, "cannot name a file"},
		{evaluate(`{"solution":` + strings.Replace(solution("s", ""), `"m.py"`, `"../m.py"`, 1) + `}`), 422, "does not stay in the solution's folder"},
		{evaluate(`{"solution":{"name":"` + strings.Repeat("x", 17<<20) + `"}}`), 413, "more than"},
	} {
		code, text := s.ask(t, c.request[0], c.request[1], c.request[2])
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d, %.300s; want %d, %s", c.request[0], c.request[1], code, text, c.code, c.want)
		}
	}
}

// TestAdmission: pages in a browser, other names and wrong tokens are refused.
func TestAdmission(t *testing.T) {
	t.Parallel()
	open, closed := serve(t, scoring.Options{}), serve(t, scoring.Options{Token: "abc"})
	for _, c := range []struct {
		s       *served
		headers []string
		code    int
	}{
		{open, nil, 200}, {open, []string{"Host", "127.0.0.1"}, 200}, {open, []string{"Host", "evil.example"}, 403}, {open, []string{"Origin", "null"}, 403},
		{closed, nil, 401}, {closed, []string{"Authorization", "Bearer abd"}, 401}, {closed, []string{"Authorization", "abc"}, 401},
		{closed, []string{"Authorization", "Bearer abc", "Host", "gpu.example"}, 200}, {closed, []string{"Authorization", "Bearer abc", "Origin", "http://evil.example"}, 403},
	} {
		if code, text := c.s.ask(t, "GET", "/definitions", "", c.headers...); code != c.code {
			t.Errorf("%q: %d, want %d: %s", c.headers, code, c.code, text)
		}
	}
	if code, _ := open.ask(t, "POST", "/evaluate", `{"solution":`+solution("s", "")+`}`, "Content-Type", "text/plain"); code != 415 {
		t.Errorf("text/plain: %d", code)
	}
}

// TestQueue: of many clients at once so many are accepted as the queue holds, and the
// others are asked to come again.
func TestQueue(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := serve(t, scoring.Options{Queue: 3, Score: func(ctx context.Context, job scoring.Job) error {
		select {
		case <-release:
		case <-ctx.Done():
			return ctx.Err()
		}
		return measure(ctx, job)
	}})
	first := s.submit(t, `{"solution":`+solution("s", "")+`}`)
	for s.look(t, first.ID).Status != scoring.Running {
		time.Sleep(time.Millisecond)
	}
	var mu sync.Mutex
	var clients sync.WaitGroup
	ids, refused := []string{first.ID}, 0
	for range 20 {
		clients.Go(func() {
			code, text := s.ask(t, "POST", "/evaluate", `{"solution":`+solution("s", "")+`}`)
			var made task
			_ = json.Unmarshal([]byte(text), &made)
			mu.Lock()
			defer mu.Unlock()
			if code == 200 {
				ids = append(ids, made.ID)
			} else if code == 429 && strings.Contains(text, "the queue is full") {
				refused++
			}
		})
	}
	clients.Wait()
	if len(ids) != 4 || refused != 17 {
		t.Errorf("%d accepted, %d refused", len(ids), refused)
	}
	close(release)
	for _, id := range ids {
		if got := s.wait(t, id); got.Status != scoring.Completed {
			t.Errorf("%+v", got)
		}
	}
}

func (s *served) look(t testing.TB, id string) (got task) {
	t.Helper()
	_, text := s.ask(t, "GET", "/tasks/"+id, "")
	_ = json.Unmarshal([]byte(text), &got)
	return got
}

// TestRestart: what has ended stays, what a stopped server was measuring is measured by
// the next one, and what a killed server was measuring has failed.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir, ds := t.TempDir(), dataset(t)
	slow := make(chan struct{}, 1)
	first := serve(t, scoring.Options{Dir: dir, Dataset: ds, Score: func(ctx context.Context, job scoring.Job) error {
		if loaded, _ := flashinfer.Load(job.Data); loaded != nil && loaded.Solutions[0].Description == "slow" {
			slow <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}
		return measure(ctx, job)
	}})
	done := first.submit(t, `{"solution":`+solution("s", "")+`}`)
	first.wait(t, done.ID)
	stopped := first.submit(t, `{"solution":`+solution("s", "slow")+`}`)
	waiting := first.submit(t, `{"solution":`+solution("s", "")+`}`)
	<-slow
	if _, err := scoring.New(scoring.Options{Dataset: ds, Dir: dir, Now: time.Now}); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("two servers: %v", err)
	}
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(dir, waiting.ID, "task.json") // as if it had been measured when the server was killed
	text, err := os.ReadFile(killed)
	if err == nil {
		err = os.WriteFile(killed, bytes.Replace(text, []byte(`"pending"`), []byte(`"running"`), 1), 0o644)
	}
	half := filepath.Join(dir, strings.Repeat("a", 32)) // as if the server had been killed while it accepted a task
	if err := errors.Join(err, os.MkdirAll(filepath.Join(half, "data"), 0o755)); err != nil {
		t.Fatal(err)
	}
	second := serve(t, scoring.Options{Dir: dir, Dataset: ds})
	for _, c := range []struct {
		id   string
		want scoring.Status
	}{{done.ID, scoring.Completed}, {stopped.ID, scoring.Completed}, {waiting.ID, scoring.Failed}} {
		if got := second.wait(t, c.id); got.Status != c.want || c.want == scoring.Completed && len(got.Traces) != 3 || c.want == scoring.Failed && !strings.Contains(got.Error, "was killed") {
			t.Errorf("%+v, want %s", got, c.want)
		}
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unfinished folder stays: %v", err)
	}
}

// FuzzBodies: no body makes the server fail, and what it accepts has a task.
func FuzzBodies(f *testing.F) {
	s := serve(f, scoring.Options{Queue: 1 << 30})
	f.Add("/evaluate", `{"solution":`+solution("s", "")+`,"workload_uuids":null}`)
	f.Add("/evaluate", `{"solution":`+solution("a/b", "")+`}`)
	f.Add("/evaluate", `{"solution":null,"workload_uuids":[""]}`)
	f.Add("/profile", `{"solution":`+solution("s", "")+`,"tools":["ncu","--mode","ncu"]}`)
	f.Add("/profile", `{"solution":`+solution("s", "")+`,"tools":null}`)
	f.Add("/tasks/batch", `{"task_ids":["x"],"timeout":-1}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		if path != "/evaluate" && path != "/profile" {
			path = "/tasks/batch"
		}
		_, resp, text := s.send(t, "POST", path, body) // not judged: keys in capitals are accepted
		code := resp.StatusCode
		if code >= 500 {
			t.Errorf("%d: %s", code, text)
		}
		var made task
		if path != "/tasks/batch" && code == 200 && (json.Unmarshal(text, &made) != nil || s.wait(t, made.ID).Status != scoring.Completed) {
			t.Errorf("%s has no task", text)
		}
	})
}
