package runs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkRows holds what 5,000 cells of one process cost, from the configuration to the verdict, against the program alone and
// against a run of one cell, alternately. Times are of the processor, of accelgate and of all that it starts: a loaded host
// changes them little. A run starts the program twice, to list the rows and to measure them.
func BenchmarkRows(b *testing.B) {
	const rows = 5000
	many, one := rowsOf(b, rows), rowsOf(b, 1)
	var floor, single, whole, wall time.Duration
	for b.Loop() {
		used, _ := processor(b, many, "cat", "rows.jsonl")
		floor += 2 * used
		used, _ = processor(b, one, "accelgate", "run", "--ab", "off")
		single += used
		used, took := processor(b, many, "accelgate", "run", "--ab", "off")
		whole, wall = whole+used, wall+took
	}
	b.ReportMetric(floor.Seconds()/float64(b.N), "floor-s/run")
	b.ReportMetric(single.Seconds()/float64(b.N), "one-cell-s/run")
	b.ReportMetric((whole-floor).Seconds()/float64(b.N), "own-s/run")
	b.ReportMetric(wall.Seconds()/float64(b.N), "wall-s/run")
}

// rowsOf is a folder with a program that prints rows, and a baseline of them.
func rowsOf(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "{\"name\": \"kernel\", \"size\": %d, \"time\": %d}\n", i, 1000+i)
	}
	for name, text := range map[string]string{"rows.jsonl": rows.String(), "accelgate.yaml": rowsConfig} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	processor(b, dir, "accelgate", "baseline", "update", "--reason", "first")
	return dir
}

const rowsConfig = `version: 1
host: {health: off, label: desk}
suites:
  - name: s
    kind: models
    command: [cat, rows.jsonl]
    models: [m]
    metrics: [{name: time_us, json: "lines[name, size].time", unit: us, better: lower}]
`

// processor runs a program and returns the time of the processor that it took, and how long.
func processor(b *testing.B, dir, name string, args ...string) (used, wall time.Duration) {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ACCELGATE_LEASES="+filepath.Join(dir, "leases"))
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out[:min(len(out), 2000)])
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(begin)
}
