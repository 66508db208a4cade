package endpoint

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// BenchmarkAccuracy measures a server whose delays are known, in a process of
// its own on the same machine: TTFT 50 ms and TPOT 10 ms. What is reported is how
// far the medians are off, and how late requests were sent. A run that calls
// itself limited by its client reports that as 1.
//
// The limit for the medians is 1 ms and 1 %, for the schedule 2 ms.
func BenchmarkAccuracy(b *testing.B) {
	for _, c := range []int{1, 16, 64, 256} {
		b.Run("concurrency="+strconv.Itoa(c), func(b *testing.B) {
			s, err := openBody(b, "x.yaml", fmt.Sprintf(`
server: {command: ["{accelgate}", engine, mock, --listen, "127.0.0.1:{port}", --ttft, 50ms, --tpot, 10ms]}
request: {max_tokens: 64}
load: {concurrency: [%d], duration: 4s, warmup: {duration: 1s}}`, c), env(b))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				r, err := s.Measure(b.Context(), s.Plan().Cells[0], bench.Device{})
				if err != nil || r.Outcome != bench.Passed {
					b.Fatal(err, r.Reason)
				}
				reportRate(b, &r)
			}
		})
	}
}

func reportRate(b *testing.B, r *bench.Result) {
	value := func(metric string) float64 {
		if s := r.Sample(metric); s != nil {
			return s.Values[0]
		}
		b.Fatalf("no %s", metric)
		return 0
	}
	b.ReportMetric(value("ttft_p50_ms")-50, "ttft-off-ms")
	b.ReportMetric(value("tpot_p50_ms")-10, "tpot-off-ms")
	b.ReportMetric(value("schedule_delay_p99_ms"), "delay-p99-ms")
	b.ReportMetric(value("client_cpu_share"), "cpu-share")
	limited := 0.0
	if r.Caveat != "" {
		limited = 1
	}
	b.ReportMetric(limited, "client-limited")
}
