package endpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// env is what a suite gets in these tests: a worker for real servers, and a
// folder for samples.
func env(t testing.TB) suite.Env {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return suite.Env{Worker: &worker.Isolated{Environ: os.Environ()}, Environ: os.Environ(), Executable: executable, Dir: dir,
		Now: time.Now, Files: t.TempDir()}
}

func openBody(t testing.TB, name, text string, e suite.Env) (suite.Suite, error) {
	t.Helper()
	return open(suiteOf(t, name, text), e)
}

func suiteOf(t testing.TB, name, text string) *config.Suite {
	t.Helper()
	indented := "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
	file, err := config.Parse(name, []byte("version: 1\nsuites:\n  - name: chat\n    kind: endpoint\n  "+indented+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return &file.Suites[0]
}

// expectation is what the first lines of a file of testdata/measure demand. Those that begin
// with "# tiers: test" do not belong to make race.
type expectation struct {
	outcome, reason string
	has, lacks      []string // metrics
	counts          []string // outcomes of requests that occurred
	warns           string
}

func expectations(t *testing.T, text string) (want expectation) {
	t.Helper()
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# want "), ": ")
		if !strings.HasPrefix(line, "# want ") || !ok {
			continue
		}
		switch key {
		case "outcome":
			want.outcome = value
		case "reason":
			want.reason = value
		case "metrics":
			want.has = strings.Fields(value)
		case "no metrics":
			want.lacks = strings.Fields(value)
		case "counts":
			want.counts = strings.Fields(value)
		case "warning":
			want.warns = value
		default:
			t.Fatalf("unknown expectation %q", key)
		}
	}
	return want
}

// TestMeasure measures real servers in processes of their own: a file of
// testdata/measure for each, whose first lines say what must come out.
func TestMeasure(t *testing.T) {
	files, err := filepath.Glob("testdata/measure/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if testtier.Race && strings.HasPrefix(string(text), "# tiers: test\n") {
				t.Skip("other files have the same goroutines")
			}
			e := env(t)
			s, err := openBody(t, f, string(text), e)
			if err != nil {
				t.Fatal(err)
			}
			result, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, &result, expectations(t, string(text)))
			checkWhole(t, s, &result, e.Files)
			if passed := result.Outcome == bench.Passed; passed {
				if unverified := rechecked(t, string(text), &result); unverified != "" || result.Outcome != bench.Passed {
					t.Errorf("under its own configuration it is %q: %s%s", result.Outcome, result.Reason, unverified)
				}
			}
		})
	}
}

func check(t *testing.T, r *bench.Result, want expectation) {
	t.Helper()
	if string(r.Outcome) != want.outcome {
		t.Errorf("outcome %s (%s), want %s; log:\n%s", r.Outcome, r.Reason, want.outcome, r.Log)
	}
	if !regexp.MustCompile(want.reason).MatchString(r.Reason) {
		t.Errorf("reason %q, want a match of %q", r.Reason, want.reason)
	}
	for _, m := range want.has {
		if r.Sample(m) == nil {
			t.Errorf("no %s among the samples", m)
		}
	}
	for _, m := range want.lacks {
		if s := r.Sample(m); s != nil {
			t.Errorf("%s is %v, want none", m, s.Values)
		}
	}
	for _, c := range want.counts {
		if r.Counts[c] == 0 {
			t.Errorf("counts %v have no %s", r.Counts, c)
		}
	}
	if w := strings.Join(r.Warnings, "\n"); !regexp.MustCompile(want.warns).MatchString(w) {
		t.Errorf("warnings %q, want a match of %q", w, want.warns)
	}
}

// checkWhole holds for every measurement: the result is valid, describes its
// metrics, and the samples file is the one that it names.
func checkWhole(t *testing.T, s suite.Suite, r *bench.Result, folder string) {
	t.Helper()
	run := bench.Run{Schema: bench.RunSchema, Metrics: s.Plan().Metrics, Results: []bench.Result{*r}}
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	for _, sample := range r.Samples {
		if run.Metric(sample.Metric) == nil {
			t.Errorf("metric %s is not described", sample.Metric)
		}
	}
	if len(r.Files) == 0 {
		return
	}
	data, err := os.ReadFile(filepath.Join(folder, r.Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != r.Files[0].SHA256 {
		t.Errorf("the samples have the digest %s, and the result says %s", sum, r.Files[0].SHA256)
	}
	var row struct {
		Index *int `json:"request_idx"`
	}
	first, _, whole := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(first, &row); err != nil || !whole || row.Index == nil {
		t.Errorf("the samples begin with %s: %v", first, err)
	}
}

// TestNobodyListens is an error, because no further load can be measured.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s, err := openBody(t, "x.yaml", "base_url: http://127.0.0.1:9\nload: {concurrency: [1], requests: 1}", env(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err == nil || !strings.Contains(err.Error(), "nothing listens at http://127.0.0.1:9: start the server") {
		t.Errorf("got %v", err)
	}
}

// TestCancelled ends a measurement in the middle, and its server with it.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s, err := openBody(t, "x.yaml", `
server: {command: ["{accelgate}", engine, mock, --listen, "127.0.0.1:{port}", --ttft, 10ms]}
load: {concurrency: [2], duration: 1h}`, env(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r, err := s.Measure(ctx, s.Plan().Cells[0], bench.Device{})
	if err == nil {
		t.Error("a cancelled measurement is not an error")
	}
	if conn, err := net.Dial("tcp", r.Command[len(r.Command)-3]); err == nil {
		conn.Close()
		t.Error("its server still listens")
	}
}

// TestKeyIsNotShown sends a key that the server echoes in its refusal.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	e := env(t)
	const key = "sk-very-secret-0123456789"
	e.Environ = append(e.Environ, "TEST_API_KEY="+key)
	s, err := openBody(t, "x.yaml", `
server: {command: ["{accelgate}", engine, serve, --listen, "127.0.0.1:{port}", --model, micro, --api-key-env, OTHER], env: {OTHER: another}}
api_key_env: TEST_API_KEY
load: {concurrency: [1], requests: 2}`, e)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome == bench.Passed {
		t.Fatalf("%v %s", err, r.Outcome)
	}
	everything, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Files {
		samples, err := os.ReadFile(filepath.Join(e.Files, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		everything = append(everything, samples...)
	}
	if bytes.Contains(everything, []byte(key)) {
		t.Errorf("the key is in %s", everything)
	}
}

// TestOutside: a server that runs already is no child here, and one that is
// started is ours.
func TestOutside(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"base_url: http://127.0.0.1:9\nload: {concurrency: [1], requests: 1}":           true,
		"server: {command: [serve, \"{port}\"]}\nload: {concurrency: [1], requests: 1}": false,
	} {
		s, err := openBody(t, "x.yaml", text, env(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Plan().Outside; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
