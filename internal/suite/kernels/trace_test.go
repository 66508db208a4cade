//go:build unix

package kernels

import (
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestUnwrittenOutputLeavesATrace: the last line of a case is what became of it
// last, also where an output was never written.
func TestUnwrittenOutputLeavesATrace(t *testing.T) {
	t.Parallel()
	dir := dataset(t)
	addC(t, dir, "forgets", `if (hidden_states->shape[0] > 0) return 0;`)
	s := mustOpen(t, dir, rmsnorm+"traces: .\nmax_workloads: 1\nsolutions: [forgets]\n")
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Incorrect || len(r.Warnings) > 0 {
		t.Fatalf("%v, %s: %s, warnings %q", err, r.Outcome, r.Reason, r.Warnings)
	}
	e := lastTrace(t, dir, "forgets")
	if e.Status != flashinfer.IncorrectNumerical || !math.IsInf(e.Correctness.MaxAbsoluteError, 1) || !strings.Contains(e.Log, "left as it was") {
		t.Errorf("the trace has %s, %+v and the log %q", e.Status, e.Correctness, e.Log)
	}
}

// TestReplay makes the inputs of a trace once more, and otherwise never twice the same.
func TestReplay(t *testing.T) {
	if testtier.Race {
		t.Skip("other cells have the same goroutines")
	}
	t.Parallel()
	dir := dataset(t)
	addC(t, dir, "plain", "")
	body := rmsnorm + "traces: .\nmax_workloads: 1\nsolutions: [plain]\n"
	secrets := map[string]bool{}
	for _, more := range []string{"", "replay", ""} {
		if more == "replay" {
			more += ": " + lastTrace(t, dir, "plain").Gate.Secret + "\n"
		}
		s := mustOpen(t, dir, body+more)
		if _, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{}); err != nil {
			t.Fatal(err)
		}
		secrets[lastTrace(t, dir, "plain").Gate.Secret] = true
	}
	if len(secrets) != 2 {
		t.Errorf("%d secrets of three runs, of which one replays another: %v", len(secrets), secrets)
	}
	for secret := range secrets {
		if text, err := hex.DecodeString(secret); err != nil || len(text) != len(harness.Secret{}) {
			t.Errorf("%q is no secret", secret)
		}
	}
}

func TestHardware(t *testing.T) {
	t.Parallel()
	host := bench.Host{Fingerprint: bench.Fingerprint{CPU: "AMD EPYC 7763", Accelerators: []bench.Accelerator{{Model: "Apple M4"}}}}
	for _, c := range []struct {
		device harness.Device
		host   bench.Host
		want   string
	}{
		{harness.Device{Kind: "cpu", Name: "amd64"}, host, "AMD EPYC 7763"},
		{harness.Device{Kind: "cpu", Name: "amd64"}, bench.Host{}, "amd64"},
		{harness.Device{Kind: "cuda", Name: "NVIDIA H100"}, host, "NVIDIA H100"},
		{harness.Device{Kind: "mps", Name: "mps"}, host, "Apple M4"},
		{harness.Device{Kind: "mps", Name: "mps"}, bench.Host{}, "mps"},
	} {
		if got := hardware([]harness.Device{c.device}, c.host); got != c.want {
			t.Errorf("%+v: %q, want %q", c.device, got, c.want)
		}
	}
	if got := hardware(nil, host); got != "unknown" {
		t.Errorf("no worker: %q", got)
	}
}

// lastTrace returns the last result of a solution in the traces of a dataset.
func lastTrace(t *testing.T, dir, solution string) (last *flashinfer.Evaluation) {
	t.Helper()
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range ds.Traces {
		if trace.Solution == solution {
			last = trace.Evaluation
		}
	}
	if last == nil {
		t.Fatalf("%d traces, none of %s", len(ds.Traces), solution)
	}
	return last
}

// TestDeviceTimesStandInTraces: what a device told of each trial is in the trace.
func TestDeviceTimesStandInTraces(t *testing.T) {
	t.Parallel()
	told := onItself([]harness.ObserveReply{{Method: "delay", NS: []int64{5, 6}, GraphNS: []int64{4, 4}, Clock: &harness.Clock{MHz: 1980, Throttled: true}},
		{Method: "event", NS: []int64{7}}})
	e := &flashinfer.Evaluation{Status: "PASSED", Timestamp: "now", Environment: flashinfer.Environment{Hardware: "H100"}, Correctness: &flashinfer.Correctness{}, Performance: &flashinfer.Performance{}, Gate: &flashinfer.Gate{Device: told}}
	dir := t.TempDir()
	path := "traces/me/gemm/d.jsonl"
	if _, err := flashinfer.AppendTrace(dir, path, &flashinfer.Trace{Definition: "d", Solution: "s", Workload: flashinfer.Workload{UUID: "w"}, Evaluation: e}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, path))
	const want = `"device":[{"method":"delay","ns":[5,6],"graph_ns":[4,4],"sm_mhz":1980,"throttled":true},{"method":"event","ns":[7]}]`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v: the trace is\n%s\nwant in it\n%s", err, text, want)
	}
}
