package runs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkWatch holds what watching the host adds to a run: to one of a single cell that does nothing, which the
// calibration before and after is all of, to one of many such measurements, and to one of 15 s, where every second has a look at the processors.
// Watched and unwatched runs alternate, so that what else the host does meets both.
func BenchmarkWatch(b *testing.B) {
	for _, bench := range []struct {
		name, command string
		repeats       int
	}{
		{"nothing", `[echo, tps=1]`, 1},
		{"many", `[echo, tps=1]`, 50},
		{"long", `[sh, -c, "sleep 1; echo tps=1"]`, 15},
	} {
		b.Run(bench.name, func(b *testing.B) {
			dir := b.TempDir()
			config := fmt.Sprintf(watchConfig, bench.repeats, bench.command)
			if err := os.WriteFile(filepath.Join(dir, "accelgate.yaml"), []byte(config), 0o644); err != nil {
				b.Fatal(err)
			}
			var off, auto time.Duration
			for b.Loop() {
				off += timed(b, dir, "off")
				auto += timed(b, dir, "auto")
			}
			b.ReportMetric(float64((auto-off).Milliseconds())/float64(b.N), "added-ms/run")
			b.ReportMetric(100*float64(auto-off)/float64(off), "added-%")
		})
	}
}

const watchConfig = `version: 1
suites:
  - name: s
    kind: models
    repeats: %d
    command: %s
    models: [m]
    backends: [cpu]
    features: [f]
    metrics: [{name: tps, regexp: 'tps=(\d+)', better: higher}]
`

func timed(b *testing.B, dir, health string) time.Duration {
	b.Helper()
	cmd := exec.Command("accelgate", "run", "--health", health)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ACCELGATE_LEASES="+filepath.Join(dir, "leases"))
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return time.Since(begin)
}
