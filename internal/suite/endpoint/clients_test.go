package endpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// TestSeveralClientsSendOneLoad measures real servers by processes of their own: every
// request of the schedule is sent once, and the counts are those of one client.
func TestSeveralClientsSendOneLoad(t *testing.T) {
	t.Parallel()
	const talks = "{kind: random, input: {dist: fixed, value: 6}, conversation: {turns: {dist: uniform, min: 1, max: 4}, input: {dist: fixed, value: 3}}}"
	for name, load := range map[string]string{
		"talks":  "{concurrency: [5], requests: 41, auto_ramp: false, warmup: {requests: 5, duration: 50ms}, drain: 10s}\ndataset: " + talks,
		"open":   "{mode: constant, rate: [60], requests: 40, warmup: {requests: 4, duration: 100ms}, drain: 10s}",
		"closed": "{concurrency: [5], requests: 41, auto_ramp: false, warmup: {requests: 5, duration: 50ms}, drain: 10s}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := env(t)
			s, err := openBody(t, "x.yaml", `
server: {command: ["{accelgate}", engine, mock, --listen, "127.0.0.1:{port}", --ttft, 5ms, --tpot, 1ms]}
request: {max_tokens: 8}
load: `+strings.Replace(load, "{", "{clients: 3, ", 1), e)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
			if err != nil || r.Outcome != bench.Passed {
				t.Fatal(err, r.Reason, r.Log)
			}
			want := map[string]int{"open": 40, "closed": 41, "talks": 41}[name]
			if got := r.Counts["ok"]; got != want {
				t.Errorf("%d requests were answered, want %d", got, want)
			}
			if r.Context["clients"] != "3" || r.Sample("client_start_skew_ms") == nil || r.Sample("client_together_rate") == nil {
				t.Errorf("context %v", r.Context)
			}
			seen := map[int]bool{}
			for _, o := range readKept(t, e.Files, &r) {
				if seen[o.Index] {
					t.Errorf("request %d was sent twice", o.Index)
				}
				seen[o.Index] = true
			}
		})
	}
}

func readKept(t *testing.T, dir string, r *bench.Result) []latency.Observation {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, r.Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, err := latency.ReadSamples(file)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
