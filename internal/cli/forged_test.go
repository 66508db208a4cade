package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// satisfying are the conclusions of a check that satisfy branch protection.
var satisfying = []string{"success", "neutral", "skipped"}

// TestForgedRuns: a run document that says of a cell that it lost more than its limit against the baseline is never
// green, whatever else it holds. The forgeries here once made it so.
func TestForgedRuns(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	f.control(t)
	for _, forged := range [][]string{
		{"a wide spread"}, {"pairs that agree"}, {"another machine", "a summary alone"}, {"a summary alone", "another time"},
	} {
		r := rand.New(rand.NewPCG(1, 35))
		f.forge(t, r, losses[2], forged...)
	}
}

// TestForgedRunsThorough draws forgeries by chance.
func TestForgedRunsThorough(t *testing.T) {
	testtier.Thorough(t)
	forgedRuns(t, 100)
}

func TestForgedRunsNightly(t *testing.T) {
	testtier.Nightly(t)
	forgedRuns(t, 400)
}

func forgedRuns(t *testing.T, seeds uint64) {
	t.Helper()
	f := newForger(t)
	f.control(t)
	ends := map[string]int{}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 35))
		lose := losses[r.IntN(len(losses))]
		var made []string
		for range 1 + r.IntN(4) {
			made = append(made, forgeryNames[r.IntN(len(forgeryNames))])
		}
		conclusion := f.forge(t, r, lose, made...)
		ends[conclusion]++
		if t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
	t.Logf("conclusions: %v", ends)
	if ends["failure"] == 0 || ends["action_required"] == 0 {
		t.Errorf("conclusions: %v, want some that fail and some that need action: the forgeries have no effect", ends)
	}
}

// control shows that a run as fast as the baseline is green, and that each loss is red.
func (f *forger) control(t *testing.T) {
	t.Helper()
	if conclusion, log := f.judge(t, f.run()); conclusion != "success" {
		t.Fatalf("a run as fast as the baseline is %s\n%s", conclusion, log)
	}
	for _, lose := range losses {
		run := f.run()
		lose(run)
		if conclusion, log := f.judge(t, run); conclusion != "failure" {
			t.Fatalf("a run that lost is %s\n%s", conclusion, log)
		}
	}
}

// forge judges a run that lost and is forged, and returns the conclusion.
func (f *forger) forge(t *testing.T, r *rand.Rand, lose func(document), made ...string) string {
	t.Helper()
	run := f.run()
	lose(run)
	for _, name := range made {
		forgeries[name](r, run)
	}
	conclusion, log := f.judge(t, run)
	if slices.Contains(satisfying, conclusion) && !f.holds() {
		data, _ := json.MarshalIndent(run, "", " ")
		t.Errorf("%s made a run %s that lost more than its limit\n%s\n%s", strings.Join(made, ", "), conclusion, data, log)
	}
	return conclusion
}

// document is a run document, or a part of it.
type document = map[string]any

const forgedConfig = `version: 1
suites:
  - name: s
    kind: models
    command: ["true"]
    models: [m]
    backends: [c]
    features: [f, g, h]
    metrics:
      - {name: tps, json: tps, unit: tok/s, better: higher}
      - {name: ttft, json: ttft, unit: ms, better: lower}
`

// forger has the base that judges: a configuration, a baseline and a GitHub with a pull request.
type forger struct{ step *actionStep }

func newForger(t *testing.T) *forger {
	t.Helper()
	s := changedStep(t, stepTokens["actions"], forgedConfig, map[string]string{"b": "b"})
	s.env["INPUT_REQUIRE-BASELINE"], s.env["INPUT_HOSTS"], s.env["INPUT_COMMENT"] = "true", "desk", "off"
	f := &forger{s}
	f.write(t, f.run())
	from := filepath.Join(s.work, "runs", "run.json")
	update := []string{"baseline", "update", "--config", s.env["INPUT_CONFIG"], "--from", from, "--reason", "first"}
	if code := s.main(t.Context(), update...); code != exit.Passed {
		t.Fatalf("baseline update ends with %d: %s", code, s.stderr.String())
	}
	return f
}

// run is a run that is as fast as the baseline.
func (f *forger) run() document { return fastRun(f.step.head()) }

func fastRun(revision string) document {
	var results []any
	sampled := func(metric string, values ...any) document { return document{"metric": metric, "values": values} }
	for _, feature := range []string{"f", "g", "h"} {
		var params []any
		for _, p := range [][2]string{{"model", "m"}, {"backend", "c"}, {"feature", feature}, {"env", "baseline"}} {
			params = append(params, document{"key": p[0], "value": p[1]})
		}
		results = append(results, document{"outcome": "passed", "cell": document{"suite": "s", "params": params},
			"samples": []any{sampled("tps", 100., 101., 99., 100.5, 99.5), sampled("ttft", 50., 50.5, 49.5, 50.2, 49.8)}})
	}
	return document{"schema": 1, "tool": "accelgate devel", "revision": revision, "started": "2026-01-01T00:00:00Z",
		"host": document{"label": "desk", "os": "linux", "arch": "amd64", "cpu": "x", "cores": 2, "memory_gib": 24},
		"metrics": []any{document{"name": "tps", "unit": "tok/s", "better": "higher"},
			document{"name": "ttft", "unit": "ms", "better": "lower"}},
		"results": results, "base": ""}
}

func (f *forger) write(t *testing.T, run document) {
	t.Helper()
	data, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	f.step.write("runs/run.json", string(data))
}

// judge returns the conclusion of the check on a run.
func (f *forger) judge(t *testing.T, run document) (conclusion, log string) {
	t.Helper()
	s := f.step
	if run["base"] == ofMain {
		run["base"] = s.server.Head("octo/repo", "main")
	}
	f.write(t, run)
	checks := len(s.server.CheckRuns("octo/repo", s.head()))
	s.env["GITHUB_RUN_ID"] = fmt.Sprint(1000 + checks)
	s.stdout.Reset()
	s.stderr.Reset()
	s.sent = nil
	s.run(t.Context())
	all := s.server.CheckRuns("octo/repo", s.head())
	if len(all) != checks+1 {
		t.Fatalf("the step left %d checks, want one more than %d\n%s", len(all), checks, s.stderr.String())
	}
	return all[checks].Conclusion, s.stdout.String() + s.stderr.String()
}

// holds reports whether a run says of all cells that they passed within the limit of 10 %. A run in pairs that says that
// it is of another machine, or of an unhealthy one, is judged by its pairs alone: docs/verdicts.md.
func (f *forger) holds() bool {
	data, err := os.ReadFile(filepath.Join(f.step.work, "runs", "run.json"))
	if err != nil {
		return false
	}
	run, err := bench.DecodeRun(data)
	if err != nil {
		return false
	}
	desk := bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "x", Cores: 2, MemoryGiB: 24}
	if run.Base != "" && !reflect.DeepEqual(run.Host.Fingerprint, desk) {
		return true
	}
	all := run.ByID()
	for _, feature := range []string{"f", "g", "h"} {
		r := all["m__c__"+feature+"__baseline"]
		if r == nil || !withinLimits(r) && (run.Base == "" || r.Health == nil || r.Health.Status != bench.Unhealthy) {
			return false
		}
	}
	return true
}

func withinLimits(r *bench.Result) bool {
	tps, ttft := r.Sample("tps"), r.Sample("ttft")
	return r.Outcome == bench.Passed && tps != nil && ttft != nil && medianOf(tps) >= 90 && medianOf(ttft) <= 55
}

func medianOf(s *bench.Sample) float64 {
	if len(s.Values) == 0 {
		return s.Summary.Median
	}
	sorted := slices.Sorted(slices.Values(s.Values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// losses make a cell slower than its limit.
var losses = []func(run document){
	func(run document) { scale(cell(run, 0), "tps", 0.5) },
	func(run document) { scale(cell(run, 0), "tps", 0.8) },
	func(run document) { scale(cell(run, 1), "ttft", 2) },
	func(run document) {
		for i := range 3 {
			scale(cell(run, i), "tps", 0.7)
		}
	},
}

func cell(run document, i int) document { return run["results"].([]any)[i].(document) }

func sample(result document, metric string) document {
	list, _ := result["samples"].([]any)
	for _, s := range list {
		if s := s.(document); s["metric"] == metric {
			return s
		}
	}
	return document{}
}

func scale(result document, metric string, factor float64) {
	s := sample(result, metric)
	s["values"] = mapped(s["values"], func(v float64) float64 { return v * factor })
}

func mapped(values any, f func(float64) float64) []any {
	list, _ := values.([]any)
	made := make([]any, 0, len(list))
	for _, v := range list {
		if number, ok := v.(float64); ok {
			v = f(number)
		}
		made = append(made, v)
	}
	return made
}

const ofMain = "of main" // stands for the newest commit there
