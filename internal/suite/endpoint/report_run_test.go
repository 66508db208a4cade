package endpoint_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
)

// TestLoadsShowWhatWasReportedBesideThem: columns of a server's page and of devices are there only
// where any load has a number for them.
func TestLoadsShowWhatWasReportedBesideThem(t *testing.T) {
	cell := bench.Cell{Suite: "chat", Params: []bench.Param{{Key: "suite", Value: "chat"}, {Key: "load", Value: "max-rate"}}}
	run := func(points ...bench.LoadPoint) *bench.Run {
		samples := []bench.Sample{{Metric: "server_queue_mean", Values: []float64{4.25}}}
		return &bench.Run{Results: []bench.Result{{Cell: cell, Outcome: bench.Passed, Curve: points, Samples: samples}}}
	}
	for _, c := range []struct {
		point     bench.LoadPoint
		has, lack []string
	}{
		{bench.LoadPoint{Load: 8, Rate: 8, TTFT: 20, OKRate: 1}, []string{"QUEUE", "4.25"}, []string{"KV USE %", "SM MHZ"}},
		{bench.LoadPoint{Load: 8, Rate: 8, TTFT: 20, OKRate: 1, KVUse: 0.625, SMClock: 1740, Power: 312}, []string{"KV USE %", "62.5", "SM MHZ", "1740", "POWER W", "312"}, []string{"CPU MHZ", "PREEMPTED"}},
	} {
		var b strings.Builder
		if err := endpoint.PrintRun(&b, run(c.point, bench.LoadPoint{Load: 9, Rate: 9, TTFT: 90, OKRate: 1}), nil); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.has {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %s in\n%s", want, b.String())
			}
		}
		for _, not := range c.lack {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s in\n%s", not, b.String())
			}
		}
	}
}
