package suite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

func TestConclude(t *testing.T) {
	t.Parallel()
	w := &worker.Isolated{Environ: os.Environ()}
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("\x7fno program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args    []string
		outcome bench.Outcome
		cause   bench.Cause
		reason  string
	}{
		{[]string{"true"}, bench.Passed, "", ""},
		{[]string{"false"}, bench.Failed, bench.CauseExit, "exit code 1"},
		{[]string{"sh", "-c", "kill -SEGV $$"}, bench.Failed, bench.CauseCrash, "ended by signal"},
		{[]string{"no-such-program-here"}, bench.Failed, bench.CauseInput, "did not start"},
		{[]string{garbage}, bench.Failed, bench.CauseStart, "did not start"},
		{[]string{"sleep", "60"}, bench.Timeout, bench.CauseTimeout, "timed out"},
	} {
		req := worker.Request{Args: c.args}
		if c.outcome == bench.Timeout {
			req.Timeout = 50_000_000
		}
		response, err := w.Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var r bench.Result
		suite.Conclude(&r, response)
		if r.Outcome != c.outcome || r.Cause != c.cause || !strings.Contains(r.Reason, c.reason) || (r.Reason == "") != (c.reason == "") {
			t.Errorf("%q: %s, %s, %q, want %s, %s, %q", c.args, r.Outcome, r.Cause, r.Reason, c.outcome, c.cause, c.reason)
		}
		if cpu := r.Resources; runtime.GOOS == "linux" && (len(cpu) > 0) != (c.cause != bench.CauseInput && c.cause != bench.CauseStart) {
			t.Errorf("%q used %+v", c.args, cpu)
		}
		if missing := suite.NoProgram(response); (missing != nil) != (c.cause == bench.CauseInput) {
			t.Errorf("%q: NoProgram() = %v", c.args, missing)
		}
	}
}

func TestReadResult(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if data, err := suite.ReadResult(path, "{output}", 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := suite.ReadResult(filepath.Join(dir, "absent"), "{output}", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	for name, want := range map[string]string{"link": "the result at {output} is not a regular file", "": "not a regular file"} {
		if _, err := suite.ReadResult(filepath.Join(dir, name), "{output}", 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if _, err := suite.ReadResult(path, "{output}", 4); err == nil || !strings.Contains(err.Error(), "larger than 4 bytes") {
		t.Errorf("limit: %v", err)
	}
}

func TestConcludeNotesResources(t *testing.T) {
	t.Parallel()
	var r bench.Result
	suite.Conclude(&r, worker.Response{End: worker.Exited, Load: 1500 * time.Millisecond, Usage: worker.Usage{CPU: 2 * time.Second, PeakRSS: 3 << 20, Hidden: true}})
	doubt := "it is at most this: the program was smaller than accelgate itself, whose memory the kernel counts for it"
	want := []bench.Sample{{Metric: "cpu_s", Values: []float64{2}}, {Metric: "peak_rss_mib", Values: []float64{3}, Caveat: doubt}, {Metric: "load_s", Values: []float64{1.5}}}
	if diff := cmp.Diff(want, r.Resources); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
