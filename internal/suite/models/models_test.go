package models_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// TestMain doubles as the program under test: with MODELS_CHILD set it prints
// what its arguments say.
func TestMain(m *testing.M) {
	if os.Getenv("MODELS_CHILD") != "" {
		child(os.Args[1:])
	}
	os.Exit(m.Run())
}

func child(args []string) {
	switch args[0] {
	case "print":
		fmt.Println(strings.Join(args[1:], "\n"))
	case "crash":
		fmt.Fprintln(os.Stderr, "CUDA error: device-side assert")
		os.Exit(7)
	case "hang":
		time.Sleep(time.Hour)
	case "env":
		fmt.Printf("{\"tps\": 1, \"text\": %q}\n", "sky "+os.Getenv(args[1]))
	}
	os.Exit(0)
}

// open opens a suite whose features are programs: id and its arguments.
func open(t *testing.T, body string, env suite.Env) (suite.Suite, error) {
	t.Helper()
	file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - name: s\n    kind: models\n"+body))
	if err != nil {
		t.Fatal(err)
	}
	env.Worker = &worker.Isolated{Environ: append(os.Environ(), "SWEPT=leaked")}
	env.Executable = os.Args[0]
	env.Dir = t.TempDir()
	return models.Open(&file.Suites[0], env)
}

const frame = `
    command: ["{accelgate}", "{feature.args}"]
    env: {MODELS_CHILD: "1"}
    timeout: 20s
    models: [{id: m}]
    backends: [{id: cpu}]
    metrics: [{name: tps, json: tps, unit: tok/s, better: higher}]
    answer: {json: text}
    tokens: ids
    operators: ops
`

// measure opens the frame with one feature and measures its first cell.
func measure(t *testing.T, feature, rest string) bench.Result {
	t.Helper()
	s, err := open(t, frame+"    features: [{id: f, args: ["+feature+"]}]\n"+rest, suite.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestOutcomes(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	check := func(feature, rest string, outcome bench.Outcome, reason string) {
		t.Helper()
		r := measure(t, feature, rest)
		if r.Outcome != outcome || !strings.Contains(r.Reason, reason) {
			t.Errorf("%s: %s %q, want %s with %q", feature, r.Outcome, r.Reason, outcome, reason)
		}
		if (r.Outcome == bench.Passed) != (r.Log == "") {
			t.Errorf("%s: outcome %s with log %q", feature, r.Outcome, r.Log)
		}
	}
	good := `print, "loading", '{"tps": 5, "text": "The sky is Blue.", "ids": [1, 2, 3]}'`
	check(good, "", bench.Passed, "")
	check(good, "    expect: [{contains: [blue, sky]}]", bench.Passed, "")
	check(good, "    expect: [{contains: [blue, red, green]}]", bench.Incorrect, `lacks "red", "green"`)
	check(good, "    expect: [{text: The sky is Blue.}]", bench.Passed, "")
	check(good, "    expect: [{text: The sky was Blue.}]", bench.Incorrect, `differs at byte 8 after "The sky ": got "is Blue.", want "was Blue."`)
	check(good, "    expect: [{text: The sky is Blue. Really.}]", bench.Incorrect, "differs at byte 16")
	check(good, "    expect: [{tokens: [1, 2, 3]}]", bench.Passed, "")
	check(good, "    expect: [{tokens: [1, 2, 4]}]", bench.Incorrect, "token 3 of 3 is 3, want 4")
	check(good, "    expect: [{tokens: [1, 2]}]", bench.Incorrect, "answered 3 tokens, want 2")
	check(good, "    expect: [{when: {feature: f}, tokens: [1, 2, 3]}, {contains: [cloud]}]", bench.Incorrect, "lacks")

	check(`print, '{"tps": 5}'`, "    expect: [{contains: [blue]}]", bench.Incorrect, "no answer at text")
	check(`print, '{"tps": 5}'`, "    expect: [{tokens: [1]}]", bench.Incorrect, "no token ids")
	check(`print, '{"tps": "fast"}'`, "", bench.Failed, "not a number")
	check(`print, '{"tps": NaN}'`, "", bench.Failed, `metric "tps": value at tps: it is NaN`)
	check(`print, '{"tps": 1e999}'`, "", bench.Failed, "too large for a number")
	check(`print, '{"perf": {"tps": 1, "ttft": 2}}'`, "", bench.Failed, "printed none of the metrics tps (json: tps; the output has perf.tps, perf.ttft)")
	check(`print, '{"tps": null}'`, "", bench.Failed, "(json: tps; the output has no number)")
	check(good, "    expect: [{contains: [red]}, {tokens: [2]}, {contains: [red]}]", bench.Incorrect, `2 expectations are not met: the answer lacks "red": got "The sky is Blue."; token 1 of 1 is 1, want 2`)
	check(`print, '{"tps": 5, "ops": [{"name": "x"}]}'`, "", bench.Failed, "total_ms")
	check(`print, nothing`, "", bench.Failed, "none of the metrics tps")
	check(`crash`, "", bench.Failed, "exit code 7")
}

func TestInformationalMetricsAloneArePrinted(t *testing.T) {
	body := strings.Replace(frame, "better: higher", "better: higher, informational: true", 1)
	for feature, want := range map[string]bench.Outcome{`print, '{"tps": 5}'`: bench.Passed, `print, '{"x": 5}'`: bench.Failed} {
		s, err := open(t, body+"    features: [{id: f, args: ["+feature+"]}]\n", suite.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{}); err != nil || r.Outcome != want {
			t.Errorf("%s: %s %q, %v, want %s", feature, r.Outcome, r.Reason, err, want)
		}
	}
}

func TestTimeoutIsNotACrash(t *testing.T) {
	body := strings.Replace(frame, "timeout: 20s", "timeout: 50ms", 1)
	s, err := open(t, body+"    features: [{id: f, args: [hang]}]\n", suite.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Timeout || !strings.Contains(r.Reason, "timed out") {
		t.Errorf("%s %q, %v, want a timeout", r.Outcome, r.Reason, err)
	}
}

func TestSamplesAndOperators(t *testing.T) {
	r := measure(t, `print, '{"tps": 5.5, "ops": [{"name": "matmul", "total_ms": 2, "calls": 3}]}'`, "")
	want := []bench.Sample{{Metric: "tps", Values: []float64{5.5}}}
	if diff := cmp.Diff(want, r.Samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	parts := []bench.Breakdown{{Title: "operators", Unit: "ms", Entries: []bench.Entry{{Name: "matmul", Total: 2, Calls: 3}}}}
	if diff := cmp.Diff(parts, r.Breakdowns); diff != "" {
		t.Errorf("breakdowns (-want +got):\n%s", diff)
	}
}

// TestSweptVariablesReachTheirCellsOnly: the variable stands in our own
// environment, and the plain cell must not see it.
func TestSweptVariablesReachTheirCellsOnly(t *testing.T) {
	s, err := open(t, frame+"    features: [{id: f, args: [env, SWEPT]}]\n    sweeps: [{env: SWEPT, values: [a, b]}]\n    expect: [{contains: [sky]}]\n", suite.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.Plan().Cells {
		r, err := s.Measure(t.Context(), c, bench.Device{})
		if err != nil || r.Outcome != bench.Passed {
			t.Fatal(r.Reason, err)
		}
		got = append(got, c.ID()+" "+r.Output)
	}
	want := []string{"m__cpu__f__baseline sky ", "m__cpu__f__SWEPT=a sky a", "m__cpu__f__SWEPT=b sky b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestCapabilities(t *testing.T) {
	body := strings.Replace(frame, "backends: [{id: cpu}]", "backends: [{id: cpu}, {id: cuda, needs: [nvidia]}]", 1) +
		"    features: [{id: f, args: [print, '{\"tps\": 1}']}]\n"
	outcome := func(h bench.Host) string {
		s, err := open(t, body, suite.Env{Host: h})
		if err != nil {
			t.Fatal(err)
		}
		if skipped := s.Plan().Skipped; len(skipped) == 1 {
			return string(skipped[0].Outcome) + " " + skipped[0].Reason
		}
		r, err := s.Measure(t.Context(), s.Plan().Cells[1], bench.Device{})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Outcome) + " " + r.Reason
	}
	gpu := bench.Host{Label: "g", Fingerprint: bench.Fingerprint{Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "H200"}}}}
	if got, want := outcome(bench.Host{Label: "desk"}), "skipped backend cuda needs an NVIDIA accelerator, which host desk does not have"; got != want {
		t.Errorf("without GPU: %q, want %q", got, want)
	}
	if got, want := outcome(gpu), "passed "; got != want {
		t.Errorf("with GPU: %q, want %q", got, want)
	}
}

func TestCommandTemplate(t *testing.T) {
	body := `
    command: ["{accelgate}", print, "{{{model.gguf}}}", "{backend}/{feature}", "{model.args}", "{feature.args}"]
    env: {MODELS_CHILD: "1"}
    models: [{id: m, args: [-a, "b c"], vars: {gguf: x.gguf}}]
    backends: [{id: cpu}]
    features: [{id: f}]
    metrics: [{name: tps, regexp: 'b (c)', better: higher}, {name: x, json: x, better: higher}]
`
	s, err := open(t, body, suite.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"print", "{x.gguf}", "cpu/f", "-a", "b c"}
	if !slices.Equal(r.Command[1:], want) {
		t.Errorf("command = %q, want %q", r.Command[1:], want)
	}
	if want := `metric "tps": "c" is not a number`; r.Reason != want {
		t.Errorf("reason = %q, want %q", r.Reason, want)
	}
}

func TestMissingProgramEndsTheRun(t *testing.T) {
	body := strings.Replace(frame, `"{accelgate}"`, `no-such-program-here`, 1) + "    features: [{id: f, args: []}]\n"
	s, err := open(t, body, suite.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{}); err == nil || !strings.Contains(err.Error(), "command") {
		t.Errorf("Measure() = %s, %v, want an error that names command", r.Outcome, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	check := func(want, old, new string) {
		t.Helper()
		body := strings.Replace(frame+"    features: [{id: f, args: [x]}]\n", old, new, 1)
		_, err := open(t, body, suite.Env{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "accelgate.yaml:") {
			t.Errorf("error = %v, want a position and %q", err, want)
		}
	}
	check("unknown key", "models:", "modles:")
	check("repeats", "    timeout: 20s", "    repeats: 0")
	check("timeout", "timeout: 20s", "timeout: -1s")
	check("unknown placeholder {modle}", "{feature.args}", "{modle}")
	check(`no variable "x"`, "{feature.args}", "{model.x}")
	check("make it an argument of its own", "{feature.args}", "a{feature.args}")
	check("a brace stands alone", "{feature.args}", "{feature")
	check("never reaches a child", "MODELS_CHILD", "GITHUB_TOKEN")
	check("never reaches a child", "    timeout: 20s", "    sweeps: [{env: API_KEY, values: [a]}]")
	check("write higher or lower", "better: higher", "better: more")
	check("JSON path or a regular expression", "json: tps, ", "")
	check("unknown need", "{id: cpu}", "{id: cpu, needs: [cuda]}")
	check("model has no values", "models: [{id: m}]", "models: []")
	check("selects no cell", "    timeout: 20s", "    expect: [{when: {feature: g}, contains: [a]}]")
	check("every answer contains", "    timeout: 20s", "    expect: [{contains: ['']}]")
	check("expect[0].matches[1]: \"a*\" matches an empty answer", "    timeout: 20s", "    expect: [{matches: [b, a*]}]")
	check("accelgate.yaml:8:24: suites[0].expect[0].matches", "    timeout: 20s", "    expect: [{matches: '('}]")
	check("longer than 1000 bytes", "    timeout: 20s", "    expect: [{matches: '"+strings.Repeat("a", 1001)+"'}]")
	for keys, want := range map[string]string{
		"equals: a":                           ".equals: belongs to json",
		"json: a, equals: b, tolerance: 1":    ".tolerance: belongs to equals, a number",
		"tolerance: 1":                        ".tolerance: belongs to equals, a number",
		"json: a":                             ".json: needs equals",
		"json: a, equals: 0, tolerance: 5%":   ".tolerance: a share of 0 is 0",
		"json: a, equals: 1, tolerance: -1":   "want a number from 0 on",
		"json: a, equals: 1, tolerance: .inf": "want a number from 0 on",
		"json: a, equals: 1, tolerance: 100%": "want a percentage",
		"json: 'a..b', equals: 1":             "a name is expected after a dot",
		"edit_distance: 5%":                   ".edit_distance: belongs to text",
		"text: '', edit_distance: 5%":         ".edit_distance: belongs to text",
		"text: a, edit_distance: 100%":        "want a percentage",
		"text: " + strings.Repeat("a", 20_001) + ", edit_distance: 5%": ".text: has more than 20000 characters",
		"tokens_prefix: 1":                 ".tokens_prefix: is 1, and tokens lists 0",
		"tokens: [1], tokens_prefix: 2":    ".tokens_prefix: is 2, and tokens lists 1",
		"tokens: [1], tokens_prefix: 0":    ".tokens_prefix: is 0",
		"json: a, equals: x, tolerance: 1": "belongs to equals, a number",
	} {
		check(want, "    timeout: 20s", "    expect: [{"+keys+"}]")
	}
	check("expects nothing", "    timeout: 20s", "    expect: [{when: {feature: f}}]")
	check("where they are printed", "tokens: ids", "expect: [{tokens: [1]}]")
	check(`model "x" is not in models`, "    timeout: 20s", "    include: [{model: x, backend: cpu, feature: f}]")
	check("is not a metric that is always gated", "better: higher", "better: higher, fallback_for: other")
	check("is not a metric that is always gated", "better: higher", "better: higher, fallback_for: tps")
	check(`unknown key "OTHER"`, "    timeout: 20s", "    include: [{model: m, backend: cpu, feature: f, OTHER: x}]")

	if _, err := open(t, frame+"    features: [{id: f}]\n", suite.Env{EngineArgs: []string{"--seed", "2"}}); err == nil ||
		!strings.Contains(err.Error(), "does not run the embedded engine") {
		t.Errorf("engine arguments for another program: %v, want an error", err)
	}
}

// TestOutside: containers are their engine's children.
func TestOutside(t *testing.T) {
	t.Parallel()
	for worker, want := range map[string]bool{"": false, "    worker: {container: {image: busybox}}\n": true} {
		s, err := open(t, frame+"    features: [{id: f, args: [print]}]\n"+worker, suite.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Plan().Outside; got != want {
			t.Errorf("%q: %v", worker, got)
		}
	}
}
