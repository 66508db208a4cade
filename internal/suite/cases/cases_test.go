package cases_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/worker"
)

// TestMain doubles as accelgate's embedded engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "engine" && os.Args[2] == "bench" {
		c := engine.Command{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
		os.Exit(c.Bench(context.Background(), os.Args[3:]))
	}
	os.Exit(m.Run())
}

// write writes files into a folder.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// parse reads the configuration of one suite.
func parse(t testing.TB, body string) *config.Suite {
	t.Helper()
	file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - name: s\n    kind: cases\n"+body))
	if err != nil {
		t.Fatal(err)
	}
	return &file.Suites[0]
}

func environment(dir string) suite.Env {
	environ := append(os.Environ(), "SECRETLY=leaked")
	return suite.Env{Host: bench.Host{Label: "desk"}, Worker: &worker.Isolated{Environ: environ}, Environ: environ, Executable: os.Args[0], Dir: dir}
}

// in opens a suite in a folder.
func in(t *testing.T, dir, body string) suite.Suite {
	t.Helper()
	s, err := cases.Open(parse(t, body), environment(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// results measures all cells, by id.
func results(t *testing.T, s suite.Suite) map[string]bench.Result {
	t.Helper()
	all := map[string]bench.Result{}
	for _, c := range s.Plan().Cells {
		r, err := s.Measure(t.Context(), c, bench.Device{})
		if err != nil {
			t.Fatal(err)
		}
		all[c.ID()] = r
	}
	return all
}

const good = `{"total_ms": 4, "operators": [{"name": "mm", "total_ms": 3, "calls": 2}, {"name": "add", "total_ms": 1, "calls": 5}]}`

// script is a case of type command that runs a line of shell.
func script(name, line, more string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "{", "{{", "}", "}}").Replace(line)
	return `{"type": "command", "name": "` + name + `", "description": "d", "command": ["sh", "-c", "` + quoted + `", "{output}", "{name}"]` + more + `}`
}

// TestEndingsOfACase: whatever becomes of one case, the others are measured.
func TestEndingsOfACase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cases/a-good.json":    script("a-good", "echo loading; echo '"+good+"'", ""),
		"cases/b-crash.json":   script("b-crash", "echo broken >&2; exit 3", ""),
		"cases/c-hang.json":    script("c-hang", "sleep 60", `, "timeout_s": 0.05`),
		"cases/d-nothing.json": script("d-nothing", "echo hello", ""),
		"cases/e-format.json":  script("e-format", "true", `, "format": "jsn"`),
		"cases/f-slip.json":    `{"name": "f-slip", "descripton": "d"}`,
		"cases/g-name.json":    script("other", "true", ""),
		"cases/h-brace.json":   `{"type": "command", "name": "h-brace", "description": "d", "command": ["echo", "{nmae}"]}`,
		"cases/i-text.json":    `{"name": "i-text", "description": "d", "user_input": {"world_size": 8}}`,
		"cases/j-zero.json":    script("j-zero", `echo '{"operators": []}'`, ""),
		"cases/notes.txt":      "no case",
	})
	s := in(t, dir, "    cases: cases\n")
	got := results(t, s)
	for _, c := range []struct {
		id      string
		outcome bench.Outcome
		cause   bench.Cause
		reason  string
		log     string
	}{
		{"a-good", bench.Passed, "", "", ""},
		{"b-crash", bench.Failed, bench.CauseExit, "exit code 3", "broken\n"},
		{"c-hang", bench.Timeout, bench.CauseTimeout, "timed out", ""},
		{"d-nothing", bench.Failed, bench.CauseOutput, "no total was found: standard output, read as json: ", "hello\n"},
		{"e-format", bench.Failed, bench.CauseInput, `cases/e-format.json: format: unknown format "jsn" (did you mean json?): use one of`, ""},
		{"f-slip", bench.Failed, bench.CauseInput, "descripton: unknown key; write description, or remove it", ""},
		{"g-name", bench.Failed, bench.CauseInput, `name: "other" is not the file's stem`, ""},
		{"h-brace", bench.Failed, bench.CauseInput, `cases/h-brace.json: command[1] "{nmae}": unknown placeholder {nmae} (did you mean name?): use one of accelgate, name, output`, ""},
		{"i-text", bench.Failed, bench.CauseInput, "cases/i-text.json: no command fits: those for text cases are for decode false and num_queries 1, or for decode true and num_queries 1: " +
			"correct the case, or add one to commands, or name another preset than engine", ""},
		{"j-zero", bench.Failed, bench.CauseOutput, "", `{"operators": []}` + "\n"},
	} {
		r := got[c.id]
		if r.Outcome != c.outcome || r.Cause != c.cause || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %s, %s, %q, want %s, %s, %q", c.id, r.Outcome, r.Cause, r.Reason, c.outcome, c.cause, c.reason)
		}
		if strings.Contains(r.Reason, dir) {
			t.Errorf("%s: the reason holds a path of this host: %s", c.id, r.Reason)
		}
		if ran := c.cause != bench.CauseInput; ran != (r.Command != nil) || r.Log != c.log {
			t.Errorf("%s: command %q, log %q, want %q", c.id, r.Command, r.Log, c.log)
		}
	}
	if len(got) != 10 {
		t.Errorf("%d cells, want 10", len(got))
	}
	want := "cases that cannot be run and will fail: 5 (e-format, f-slip, g-name, h-brace, i-text); the first: cases/e-format.json: format: unknown format"
	if w := s.Plan().Warnings; len(w) != 1 || !strings.HasPrefix(w[0], want) {
		t.Errorf("warnings = %q, want %q", w, want)
	}
}

func TestSamplesAndBreakdowns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"cases/a.json": script("a", "test -d \"$0\" && test $1 = a && echo '"+good+"'", "")})
	r := results(t, in(t, dir, "    cases: cases\n"))["a"]
	want := bench.Result{
		Cell: bench.Cell{Suite: "s", Params: []bench.Param{{Key: "case", Value: "a"}}}, Outcome: bench.Passed,
		Samples: []bench.Sample{{Metric: "total_time_s", Values: []float64{0.004}}},
		Breakdowns: []bench.Breakdown{{Title: "operators", Unit: "s",
			Entries: []bench.Entry{{Name: "mm", Total: 0.003, Calls: 2}, {Name: "add", Total: 0.001, Calls: 5}}}},
	}
	if _, err := os.Stat(r.Command[3]); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", r.Command[3], err)
	}
	r.Command, r.Env, r.WallMS, r.Resources = nil, nil, 0, nil // which differ from run to run
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSourcesInOrder: the first source that is there gives total and operators,
// later ones what it lacks, and a broken one is never passed over.
func TestSourcesInOrder(t *testing.T) {
	t.Parallel()
	const table = `
---------------  --------------  ------------  ----------
     Name        analytic total  analytic avg  # of Calls
---------------  --------------  ------------  ----------
aten.mm.default         2.000ms       1.000ms           2
---------------  --------------  ------------  ----------
Total time for analytic: 2.000ms
[analytic] Execution time: 0.001500 s
[analytic] TPS/Device: 4013 token/s
`
	const metrics = `{"execution_time_s": {"analytic": 0.0015}, "tps_per_model": {"analytic": 7.5}, "perf_model_name": "analytic",
 "runtime_event_list": [{"name": "aten.mm.default", "perf_model": "analytic", "perf_total": 0.0020004, "perf_avg": 0.0010002, "call_times": 2}]}`
	const trace = `{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "analytic (PID: 0)"}},
 {"ph": "X", "name": "aten.mm.default", "cat": "analytic", "ts": 0, "dur": 1000, "pid": 0, "tid": 0, "args": {}},
 {"ph": "X", "name": "aten.mm.default", "cat": "analytic", "ts": 1000, "dur": 1001, "pid": 0, "tid": 0, "args": {}}]}`
	for _, c := range []struct {
		name           string
		shell          string // with files m, t and c in its folder; $0 is {output}
		total          float64
		tps            float64
		criticalPath   bool
		outcome        bench.Outcome
		reason, unread string
	}{
		{name: "all", shell: "cat t; cp m $0/metrics.json; cp c $0/trace.json", total: 0.0020004, tps: 7.5, criticalPath: true},
		{name: "table and trace", shell: "cat t; cp c $0/trace.json", total: 0.002, tps: 4013, criticalPath: true},
		{name: "table", shell: "cat t", total: 0.002, tps: 4013},
		{name: "trace", shell: "cp c $0/trace.json", total: 0.002001, criticalPath: true},
		{name: "metrics", shell: "cp m $0/metrics.json", total: 0.0020004, tps: 7.5},
		{name: "nothing", shell: "echo hello", reason: "no total was found: {output}/metrics.json was not written"},
		{name: "empty metrics", shell: "cat t; : > $0/metrics.json",
			reason: "{output}/metrics.json was written and holds nothing that can be read as msmodeling-metrics: the output holds no profile: no line of it is a JSON object; print one"},
		{name: "no number for metrics", shell: "cat t; echo NaN > $0/metrics.json", reason: "{output}/metrics.json was written and holds nothing that can be read as msmodeling-metrics: "},
		{name: "other metrics", shell: "cat t; echo '{}' > $0/metrics.json", reason: "{output}/metrics.json was written and holds nothing that can be read as msmodeling-metrics: "},
		{name: "empty trace", shell: "cat t; : > $0/trace.json", reason: "{output}/trace.json was written and holds nothing that can be read as msmodeling-trace: "},
		{name: "broken metrics", shell: "cat t; echo '{\"runtime_event_list\": [' > $0/metrics.json", reason: "{output}/metrics.json, read as msmodeling-metrics: "},
		{name: "broken trace", shell: "cat t; echo '{\"traceEvents\": [{\"ph\": \"X\"' > $0/trace.json", reason: "{output}/trace.json, read as msmodeling-trace: "},
		{name: "a pipe", shell: "cat t; mkfifo $0/trace.json", reason: "the result at {output}/trace.json is not a regular file"},
		{name: "too much", shell: "head -c 9000000 /dev/zero; cat t", reason: "printed more than the 8 MiB that accelgate keeps"},
		{name: "too much for nothing", shell: "cp m $0/metrics.json; head -c 9000000 /dev/zero", reason: "printed more than the 8 MiB that accelgate keeps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"m": metrics, "t": table, "c": trace, "run": c.shell,
				"cases/a.json": `{"name": "a", "description": "d", "user_input": {"quantize_linear_action": "DISABLED"}}`})
			r := results(t, in(t, dir, `
    cases: cases
    commands:
      - type: text
        command: [sh, -c, '. ./run', "{output}"]
        ignored: [quantize_linear_action]
        read: [{format: msmodeling-metrics, file: metrics.json}, msmodeling-table, {format: msmodeling-trace, file: trace.json}]
`))["a"]
			if c.reason != "" {
				if r.Outcome != bench.Failed || r.Cause != bench.CauseOutput || !strings.Contains(r.Reason, c.reason) {
					t.Errorf("%s, %s, %q, want %q", r.Outcome, r.Cause, r.Reason, c.reason)
				}
				return
			}
			value := func(metric string) float64 {
				if s := r.Sample(metric); s != nil {
					return s.Values[0]
				}
				return 0
			}
			if r.Outcome != bench.Passed || value("total_time_s") != c.total || value("tps") != c.tps {
				t.Errorf("%s %q: total %v, tps %v, want %v and %v", r.Outcome, r.Reason, value("total_time_s"), value("tps"), c.total, c.tps)
			}
			if got := len(r.Breakdowns) == 2 && r.Breakdowns[1].Title == "critical path"; got != c.criticalPath {
				t.Errorf("critical path = %v, want %v: %+v", got, c.criticalPath, r.Breakdowns)
			}
		})
	}
}

// TestRowsOfOneName: what a table lists with each shape of its inputs is one
// operator.
func TestRowsOfOneName(t *testing.T) {
	t.Parallel()
	const table = `
----  ------------  --------------  ------------  ----------
Name  Input Shapes  analytic total  analytic avg  # of Calls
----  ------------  --------------  ------------  ----------
mm    [4]                  2.000ms       1.000ms           2
add   [8]                  1.000ms       1.000ms           1
mm    [8]                  4.000ms       4.000ms           1
----  ------------  --------------  ------------  ----------
Total time for analytic: 7.000ms
`
	dir := t.TempDir()
	write(t, dir, map[string]string{"t": table, "cases/a.json": script("a", "cat t", `, "format": "msmodeling-table"`)})
	r := results(t, in(t, dir, "    cases: cases\n"))["a"]
	want := []bench.Breakdown{{Title: "operators", Unit: "s", Entries: []bench.Entry{{Name: "mm", Total: 0.006, Calls: 3}, {Name: "add", Total: 0.001, Calls: 1}}}}
	if diff := cmp.Diff(want, r.Breakdowns); diff != "" {
		t.Errorf("%s %q (-want +got):\n%s", r.Outcome, r.Reason, diff)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	if cases.Total != optrace.Metrics[0] {
		t.Errorf("Total is %+v, and profiles have %+v", cases.Total, optrace.Metrics[0])
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"cases/a.json": script("a", "true", "")})
	describe := func(body string) (gated []string) {
		for _, m := range in(t, dir, "    cases: cases\n"+body).Plan().Metrics {
			if m.Exact {
				m.Name += " exact"
			}
			if !m.Informational {
				gated = append(gated, m.Name)
			}
		}
		return gated
	}
	for body, want := range map[string][]string{
		"": {"total_time_s"},
		"    exact: true\n    metrics: [tps, {name: memory_peak_usage_gb, exact: true}]\n": {"total_time_s exact", "tps", "memory_peak_usage_gb exact"},
		"    metrics: [{name: tps, informational: true}]\n":                                {"total_time_s"},
	} {
		if got := describe(body); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cases/qwen-decode.json":  `{"name": "qwen-decode", "description": "d", "user_input": {"device": "A3", "model_id": "Qwen/Qwen3-8B", "decode": true}}`,
		"cases/qwen-prefill.json": `{"name": "qwen-prefill", "description": "d", "user_input": {"device": "A2", "model_id": "Qwen/Qwen3-8B"}}`,
		"cases/wan.json":          `{"type": "video", "name": "wan", "description": "d", "device": "A3", "model_id": "wan", "quantize_linear_action": "DISABLED"}`,
		"cases/own.json":          script("own", "true", `, "tags": ["nightly"]`),
		"cases/broken.json":       "{",
	})
	s := in(t, dir, "    cases: cases\n    preset: msmodeling\n    tags: {heavy: [wan, '*-prefill']}\n    profiles: {smoke: ['qwen-*']}\n")
	for _, c := range []struct {
		query suite.Query
		want  string
	}{
		{suite.Query{}, "broken own qwen-decode qwen-prefill wan"},
		{suite.Query{Profile: "smoke"}, "qwen-decode qwen-prefill"},
		{suite.Query{Profile: "smoke", Tags: []string{"heavy"}}, "qwen-prefill"},
		{suite.Query{Tags: []string{"text"}}, "qwen-decode qwen-prefill"},
		{suite.Query{Tags: []string{"video", "command"}}, "own wan"},
		{suite.Query{Tags: []string{"decode"}}, "qwen-decode"},
		{suite.Query{Tags: []string{"prefill"}}, "qwen-prefill"},
		{suite.Query{Tags: []string{"A3"}, SkipTags: []string{"heavy"}}, "qwen-decode"},
		{suite.Query{Tags: []string{"Qwen/Qwen3-8B"}}, "qwen-decode qwen-prefill"},
		{suite.Query{SkipTags: []string{"nightly"}}, "broken qwen-decode qwen-prefill wan"},
	} {
		wanted, err := s.Plan().Select(c.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cell := range s.Plan().Cells {
			if wanted(cell) {
				got = append(got, cell.ID())
			}
		}
		if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.query, diff)
		}
	}
	if _, err := s.Plan().Select(suite.Query{Tags: []string{"nightli"}}); err == nil || !strings.Contains(err.Error(), `no tag "nightli", but A2, A3,`) {
		t.Errorf("an unknown tag: %v", err)
	}
}

func TestMissingProgramEndsTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"cases/a.json": `{"type": "command", "name": "a", "description": "d", "command": ["no-such-program-here"]}`})
	s := in(t, dir, "    cases: cases\n")
	if r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{}); err == nil || !strings.Contains(err.Error(), "correct the first argument of command") {
		t.Errorf("%+v, %v, want an error", r, err)
	}
	write(t, dir, map[string]string{"cases/b.json": script("b", "echo '"+good+"'", "")})
	got := results(t, in(t, dir, "    cases: cases\n"))
	if got["a"].Cause != bench.CauseInput || got["b"].Outcome != bench.Passed {
		t.Errorf("beside a program that is there: %+v", got)
	}
}

// TestWhatReachesAChild: its folder, its variables and their order.
func TestWhatReachesAChild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"work/here": "", "cases/a.json": script("a",
		`test -e here && test "$E/$F/$G/$SECRETLY/$PINNED" = "suite/case a/{/x/" && echo '`+good+`'`,
		`, "env": {"F": "case {name}", "G": "{{"}`)})
	env := environment(dir)
	env.Pin = func(d bench.Device) []string {
		if d.ID == "" {
			return nil
		}
		return []string{"PINNED=" + d.ID}
	}
	s, err := cases.Open(parse(t, "    cases: cases\n    dir: work\n    env: {E: suite, F: suite, SECRETLY: x}\n    unset: ['SECRET*']\n"), env)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Passed {
		t.Errorf("%s %q %s, %v", r.Outcome, r.Reason, r.Log, err)
	}
	if r, err = s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{Vendor: "nvidia", ID: "3"}); err != nil || r.Outcome != bench.Failed {
		t.Errorf("pinned: %s, %v, want a failure, as PINNED is set", r.Outcome, err)
	}
}

func sprint(v any) string { return fmt.Sprint(v) }
