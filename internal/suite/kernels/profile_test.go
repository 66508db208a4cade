//go:build unix

package kernels

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/builtin"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// The stand-ins for NVIDIA's tools refuse other arguments than those that the tools
// have, run the program, and write a report of the tools' form.
const standIn = `#!/bin/sh
report=
while [ $# -gt 0 ]; do
  case "$1 $2" in
  "--csv --page") shift;;
  OPTIONS) shift 2;;
  "--log-file "*) report=$2; shift 2;;
  -*) echo "unknown option $1 $2" >&2; exit 2;;
  *) break;;
  esac
done
[ "$LC_ALL" = C ] && [ -n "$report" ] || exit 3
BEFORE
"$@"
code=$?
cat > "$report" <<'END'
REPORT
END
exit $code
`

const (
	ncuOptions       = `"--page details"|"--print-units base"|"--target-processes all"|"--clock-control none"|"--section SpeedOfLight"|"--section LaunchStats"|"--section Occupancy"`
	sanitizerOptions = `"--tool memcheck"|"--report-api-errors no"|"--target-processes all"|"--print-limit 100"`
)

// tool writes a stand-in into a folder.
func tool(t *testing.T, dir, name, options, before, report string) {
	t.Helper()
	script := strings.NewReplacer("OPTIONS", options, "BEFORE", before, "REPORT", report).Replace(standIn)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "formats", "nvtools", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

const clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors"

// profileOne measures one case with the tools that the folder holds, and returns what
// its trace has of them.
func profileOne(t *testing.T, tools, keys string) (bench.Result, *flashinfer.Trace) {
	t.Helper()
	dir := t.TempDir()
	if err := builtin.Write(dir); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, "dataset: .\ntraces: .\ndefinitions: [gemm_n128_k256]\nmax_workloads: 1\nreference: go\n"+quick+keys, func(e *suite.Env) {
		e.Environ = append([]string{"PATH=" + tools + ":/usr/bin:/bin"}, "HOME="+dir)
	})
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil {
		t.Fatal(err)
	}
	ds, err := flashinfer.Load(dir)
	if err != nil || len(ds.Traces) != 1 {
		t.Fatal(ds, err)
	}
	return r, ds.Traces[0]
}

// TestProfile: tools that find nothing wrong leave their reports in the trace of a case
// that passes; it takes two workers more, and so about a second.
func TestProfile(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	tool(t, tools, "ncu", ncuOptions, "", fixture(t, "details.csv"))
	tool(t, tools, "compute-sanitizer", sanitizerOptions, "", clean)
	r, trace := profileOne(t, tools, "profile: [compute-sanitizer, ncu]\n")
	if r.Outcome != bench.Passed || len(trace.Evaluation.Gate.Profiles) != 2 || strings.Contains(strings.Join(r.Warnings, "\n"), "ncu") {
		t.Fatalf("%s %s %q, %d profiles", r.Outcome, r.Reason, r.Warnings, len(trace.Evaluation.Gate.Profiles))
	}
	var ncu struct{ Launches int }
	p := trace.Evaluation.Gate.Profiles[0]
	if err := json.Unmarshal(p.Report, &ncu); err != nil || p.Tool != "ncu" || p.State != flashinfer.Profiled || ncu.Launches != 2 {
		t.Errorf("%s, %v", p.Report, err)
	}
	if p := trace.Evaluation.Gate.Profiles[1]; p.State != flashinfer.Profiled || !strings.Contains(string(p.Report), `"complete":true`) {
		t.Errorf("%+v", p)
	}
	if !profiled(trace, []string{"ncu", "compute-sanitizer"}) || profiled(trace, []string{"other"}) {
		t.Error("what the trace has is not what it is known for")
	}
}

// TestProfileFindings: an error of memory fails the case; a tool that is absent, refuses,
// lies or takes too long is a note and a warning, and never silent.
func TestProfileFindings(t *testing.T) {
	if testtier.Race {
		t.Skip("TestProfile has the same goroutines")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		before, report, keys string
		outcome              bench.Outcome
		state                flashinfer.ProfileState
		warning, reason      string
	}{
		"error":   {"", fixture(t, "memcheck.txt"), "", bench.Failed, flashinfer.Profiled, "", "RUNTIME_ERROR: compute-sanitizer memcheck: 2 errors, the first: Invalid __global__ write of size 4 bytes at scale_kernel"},
		"crash":   {"[ -z \"$x\" ] && { printf '========= Invalid read\\n========= ERROR SUMMARY: 1 error\\n' > \"$report\"; exit 1; }", "", "", bench.Failed, flashinfer.Profiled, "the worker failed under it", "1 error, the first: Invalid read"},
		"refused": {"exit 1", "", "", bench.Passed, flashinfer.Unprofiled, "it left no report", ""},
		"link":    {"ln -s /etc/passwd \"$report.x\"; mv \"$report.x\" \"$report\"; \"$@\"; exit 0", "", "", bench.Passed, flashinfer.Unprofiled, "not an ordinary file", ""},
		"slow":    {"sleep 60", "", "timeouts: {profile: 300ms}\n", bench.Passed, flashinfer.Unprofiled, "it took more than 300ms: raise timeouts.profile", ""},
		"absent":  {"", "", "", bench.Passed, flashinfer.ToolAbsent, "this host does not have it: install the CUDA toolkit", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := t.TempDir()
			if name != "absent" {
				tool(t, tools, "compute-sanitizer", sanitizerOptions, c.before, c.report)
			}
			r, trace := profileOne(t, tools, c.keys+"profile: [compute-sanitizer]\n")
			p := trace.Evaluation.Gate.Profiles[0]
			if r.Outcome != c.outcome || p.State != c.state || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%s, %s, %s", r.Outcome, r.Reason, p.State)
			}
			if c.warning != "" && (!strings.Contains(strings.Join(r.Warnings, "\n"), c.warning) || !strings.Contains(p.Note, c.warning)) {
				t.Errorf("warnings %q, note %q", r.Warnings, p.Note)
			}
			if c.outcome == bench.Failed && (trace.Evaluation.Status != flashinfer.RuntimeError || trace.Evaluation.Performance != nil) {
				t.Errorf("%+v", trace.Evaluation)
			}
		})
	}
}

func TestProfileNames(t *testing.T) {
	t.Parallel()
	if _, err := open(t, t.TempDir(), "profile: [nsight]"); err == nil || !strings.Contains(err.Error(), `unknown tool "nsight": write ncu or compute-sanitizer`) {
		t.Error(err)
	}
}
