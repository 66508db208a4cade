package bench_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// BenchmarkDecodeRun reads a run of 20,000 cells as 'accelgate run' writes it.
func BenchmarkDecodeRun(b *testing.B) {
	var results []string
	for i := range 20_000 {
		results = append(results, fmt.Sprintf(`
  {"cell": {"suite": "s", "params": [{"key": "model", "value": "m%d"}, {"key": "backend", "value": "cpu"}]}, "outcome": "passed",
   "samples": [{"metric": "m", "values": [101.5, 102.25, 99.875]}], "output": "The sky is blue.", "command": ["./engine", "--model", "m"], "wall_ms": 1234.5}`, i))
	}
	document := []byte(documentWith("", strings.Join(results, ",")))
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		if _, err := bench.DecodeRun(document); err != nil {
			b.Fatal(err)
		}
	}
}
