package formats

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

func isORTPerfTest(data []byte) bool {
	return bytes.Contains(data, []byte("Average inference time cost:"))
}

// ortLines are what onnxruntime_perf_test prints at its end, by what stands before the colon
// (onnxruntime/test/perftest/performance_runner.h). Latencies are in seconds there, and the average in milliseconds.
var ortLines = map[string]struct {
	metric bench.Metric
	factor float64
}{
	"Average inference time cost":     {bench.Metric{Name: "latency_mean_ms", Unit: "ms", Better: bench.Lower}, 1},
	"Number of inferences per second": {bench.Metric{Name: "inferences_per_s", Unit: "1/s", Better: bench.Higher}, 1},
	"P50 Latency":                     {bench.Metric{Name: "latency_p50_ms", Unit: "ms", Better: bench.Lower}, 1e3},
	"P90 Latency":                     {bench.Metric{Name: "latency_p90_ms", Unit: "ms", Better: bench.Lower, Informational: true}, 1e3},
	"P99 Latency":                     {bench.Metric{Name: "latency_p99_ms", Unit: "ms", Better: bench.Lower, Informational: true}, 1e3},
	"Session creation time cost":      {bench.Metric{Name: "session_s", Unit: "s", Better: bench.Lower, Informational: true}, 1},
	"First inference time cost":       {bench.Metric{Name: "first_inference_ms", Unit: "ms", Better: bench.Lower, Informational: true}, 1},
	"Peak working set size": {
		bench.Metric{Name: "peak_working_set_bytes", Unit: "B", Better: bench.Lower, Informational: true},
		1,
	},
}

// ortPerfTest reads the text that onnxruntime_perf_test prints. Older versions print fewer lines. Its average and rate count
// all inferences; the percentiles follow from single ones. Of two lines of one key, as of the working set, the first counts.
func ortPerfTest(data []byte) (*sheet, error) {
	if !isORTPerfTest(data) {
		return nil, nil
	}
	seen := map[string]bool{}
	s := &sheet{key: "model", context: map[string]string{"client": "onnxruntime_perf_test"}}
	for line := range bytes.Lines(data) {
		key, value, ok := strings.Cut(string(line[:min(len(line), 1024)]), ":")
		l, known := ortLines[strings.TrimSpace(key)]
		fields := strings.Fields(value)
		if !ok || !known || len(fields) == 0 || seen[l.metric.Name] {
			continue
		}
		seen[l.metric.Name] = true
		v, err := finite(fields[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w: see the log of the program", l.metric.Name, err)
		}
		if err := s.add("", l.metric, v*l.factor); err != nil {
			return nil, err
		}
	}
	return s, nil
}
