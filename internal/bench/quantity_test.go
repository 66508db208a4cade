package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestQuantity(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string]bench.Quantity{
		"tok/s": bench.Rate, "1/s": bench.Rate, "GB/s": bench.Rate, "req/s": bench.Rate, "TFLOPS": bench.Rate,
		"ms": bench.Time, "s": bench.Time, "ms/token": bench.Time, "GiB": bench.Bytes, "J": bench.Energy, "J/token": bench.Energy, "W": bench.Energy,
		"x": bench.Ratio, "": 0, "%": 0, "degrees": 0, "tokens": 0,
	} {
		if m := (bench.Metric{Unit: unit}); m.Quantity() != want {
			t.Errorf("%q is a %s, want %s", unit, m.Quantity(), want)
		}
	}
	m := bench.Metric{Name: "m", Unit: "ms", Kind: bench.Score}
	if m.Quantity() != bench.Score || m.Impossible(-1) != "" {
		t.Error("what is declared does not count before the unit")
	}
	data, err := json.Marshal(m)
	var back bench.Metric
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || back != m {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"kind": "speed"}`), &back); err == nil {
		t.Error("an unknown kind is read")
	}
}

// TestNoReference: what is 0 is compared with nothing, unless 0 is what is wanted.
func TestNoReference(t *testing.T) {
	t.Parallel()
	run := bench.Run{Metrics: []bench.Metric{
		{Name: "tps", Better: bench.Higher}, {Name: "ttft", Unit: "ms", Better: bench.Lower}, {Name: "loss", Better: bench.Lower}, {Name: "hits", Kind: bench.Count, Better: bench.Higher},
		{Name: "errors", Kind: bench.Count, Better: bench.Lower}, {Name: "alloc_bytes", Unit: "B", Better: bench.Lower}, {Name: "gap", Kind: bench.Ratio, Better: bench.Lower},
		{Name: "score", Kind: bench.Score, Better: bench.Higher}, {Name: "same", Exact: true, Better: bench.Higher}, {Name: "shown", Informational: true, Better: bench.Higher},
		{Name: "pp", Better: bench.Higher}, {Name: "tg", FallbackFor: "pp", Better: bench.Higher},
	}}
	for i := range run.Metrics {
		name := run.Metrics[i].Name
		if got := run.NoReference(name, 0) != ""; got != (i < 4) {
			t.Errorf("%s of 0: no reference: %v", name, got)
		}
		if why := run.NoReference(name, 1); why != "" {
			t.Errorf("%s of 1: %s", name, why)
		}
	}
	if why := run.NoReference("unknown", 0); why != "" {
		t.Error(why)
	}
}
