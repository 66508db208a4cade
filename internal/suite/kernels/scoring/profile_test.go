package scoring_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/scoring"
)

// watch stands in for the tools of a task: ncu has a report, and the host does not have
// the others.
func watch(tools []string) *flashinfer.Gate {
	var g flashinfer.Gate
	for _, tool := range tools {
		p := flashinfer.Profile{Tool: tool, State: flashinfer.ToolAbsent, Note: "this host does not have it"}
		if tool == "ncu" {
			p = flashinfer.Profile{Tool: tool, State: flashinfer.Profiled, Report: json.RawMessage(`{"launches":1}`)}
		}
		g.Profiles = append(g.Profiles, p)
	}
	return &g
}

// TestProfile: the tools that are asked for watch a solution, each once, ncu if none is,
// and what they found is in the task's logs and traces.
func TestProfile(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{})
	const ncu, absent = "ncu: done\n{\"launches\":1}\n", "compute-sanitizer: absent: this host does not have it\n"
	for tools, want := range map[string]string{
		``: ncu, `,"tools":null`: ncu, `,"tools":[]`: ncu, `,"tools":["ncu","ncu"]`: ncu, `,"tools":["compute-sanitizer"]`: absent,
		`,"tools":["compute-sanitizer","ncu"]`: ncu + absent,
	} {
		made := s.submitTo(t, "/profile", `{"solution":`+solution("s", "")+`,"workload_uuids":["w2","w1"]`+tools+`}`)
		got := s.wait(t, made.ID)
		if got.Status != scoring.Completed || got.Kind != "profile" || len(got.Traces) != 2 || len(got.Logs) != 2 {
			t.Fatalf("%s: %+v", tools, got)
		}
		if l := got.Logs[0]; l.Log != want || l.Workload.UUID != "w2" || l.Definition != "d" || l.Solution != made.Name {
			t.Errorf("%s: %+v", tools, l)
		}
		if strings.Count(string(got.Traces[0]), `"tool":`) != strings.Count(want, "\n")-strings.Count(want, "{") {
			t.Errorf("%s: %s", tools, got.Traces[0])
		}
	}
}

// TestUnwatched: a case that does not pass has no report, and its log says why.
func TestUnwatched(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{Score: func(ctx context.Context, job scoring.Job) error {
		job.Tools = nil
		return measure(ctx, job)
	}})
	got := s.wait(t, s.submitTo(t, "/profile", `{"solution":`+solution("s", "")+`}`).ID)
	if len(got.Logs) != 3 || !strings.HasPrefix(got.Logs[2].Log, "ncu: not run: the case is RUNTIME_ERROR, and tools watch cases that pass: correct the solution") {
		t.Errorf("%+v", got)
	}
}

// TestProfileRefusals: tools that accelgate does not have, options, other keys, and what
// POST /evaluate refuses.
func TestProfileRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{Score: func(context.Context, scoring.Job) error { t.Error("a refused task is measured"); return nil }})
	for _, c := range []struct {
		keys string
		code int
		want string
	}{
		{`,"tools":["nsight"]`, 422, `unknown tool \"nsight\": write ncu or compute-sanitizer`},
		{`,"tools":["ncu","--replay=x"]`, 422, `unknown tool \"--replay=x\"`},
		{`,"tools":["ncu --set full"]`, 422, "unknown tool"},
		{`,"tools":["ncu,compute-sanitizer"]`, 422, "unknown tool"},
		{`,"tools":["NCU"]`, 422, "unknown tool"},
		{`,"tools":["/tmp/ncu"]`, 422, "unknown tool"},
		{`,"tools":["` + strings.Repeat("x", 1<<20) + `"]`, 422, "(cut): write ncu or"},
		{`,"tools":"ncu"`, 422, "the body is not what is expected"},
		{`,"tools":[["ncu"]]`, 422, "the body is not what is expected"},
		{`,"set":"full"`, 422, `unknown field \"set\"`},
		{`,"sections":["--export","/etc/x"]`, 422, `unknown field \"sections\"`},
		{`,"kernel_name":"--app-replay"`, 422, `unknown field \"kernel_name\"`},
		{`,"ncu_path":"/bin/sh"`, 422, `unknown field \"ncu_path\"`},
		{`,"workload_uuids":["w9"]`, 400, "No workload"},
		{`,"tools":["` + strings.Repeat("x", 17<<20) + `"]`, 413, "send a smaller solution"},
	} {
		code, text := s.ask(t, "POST", "/profile", `{"solution":`+solution("s", "")+c.keys+`}`)
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%.100s: %d, %.300s; want %d, %s", c.keys, code, text, c.code, c.want)
		}
	}
	if code, _ := s.ask(t, "POST", "/profile", `{"solution":`+solution("s", "")+`}`, "Origin", "http://evil.example"); code != 403 {
		t.Errorf("another page's request: %d", code)
	}
	if code, text := s.ask(t, "POST", "/evaluate", `{"solution":`+solution("s", "")+`,"tools":["ncu"]}`); code != 422 {
		t.Errorf("POST /evaluate with tools: %d, %s", code, text)
	}
}

// TestProfileRestart: the next server measures a task with the tools that it was asked
// for.
func TestProfileRestart(t *testing.T) {
	t.Parallel()
	dir, ds := t.TempDir(), dataset(t)
	started := make(chan []string, 1)
	first := serve(t, scoring.Options{Dir: dir, Dataset: ds, Score: func(ctx context.Context, job scoring.Job) error {
		started <- job.Tools
		<-ctx.Done()
		return ctx.Err()
	}})
	made := first.submitTo(t, "/profile", `{"solution":`+solution("s", "")+`,"tools":["compute-sanitizer"]}`)
	if tools := <-started; !slices.Equal(tools, []string{"compute-sanitizer"}) {
		t.Errorf("tools %q", tools)
	}
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	second := serve(t, scoring.Options{Dir: dir, Dataset: ds})
	if got := second.wait(t, made.ID); got.Status != scoring.Completed || got.Kind != "profile" || len(got.Logs) != 3 || !strings.HasPrefix(got.Logs[0].Log, "compute-sanitizer: absent") {
		t.Errorf("%+v", got)
	}
}
