package history_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// timed is a run of three cells, of which the second was measured on an unhealthy host, that took so long.
func timed(day int, wall ...float64) *bench.Run {
	run := &bench.Run{Schema: bench.RunSchema, Revision: fmt.Sprintf("%040d", day), Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC),
		Host: bench.Host{Label: "gpu"}, Metrics: []bench.Metric{{Name: "tps", Better: bench.Higher}}}
	for i, ms := range wall {
		r := bench.Result{Cell: bench.Cell{Raw: string(rune('a' + i))}, Outcome: bench.Passed, WallMS: ms, Samples: []bench.Sample{{Metric: "tps", Values: []float64{1, 2}}}}
		if i == 1 {
			r.Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"hot"}}
		}
		if i > 0 {
			r.Device = fmt.Sprintf("nvidia:%d", i%2)
		}
		run.Results = append(run.Results, r)
	}
	return run
}

// TestTimesOfTheNewestRuns survive writing and reading, in the order of their cells.
func TestTimesOfTheNewestRuns(t *testing.T) {
	t.Parallel()
	f := &history.File{}
	for day, wall := range [][]float64{{9e9, 9e9, 9e9}, {1000, 2000, 3000}, {1500, 2222.22, 100}, {1200, 0, 3000}} {
		if _, err := f.Add(timed(day+1, wall...)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		times := f.Times("gpu")
		got := map[string]string{}
		for _, r := range times.Results {
			got[r.Cell.ID()] = fmt.Sprint(r.WallMS, " ", r.Device, " ", len(r.Samples[0].Values))
		}
		if want := map[string]string{"a": "1200  2", "b": "2110 nvidia:1 2", "c": "3000 nvidia:0 2"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("times are %v, want %v", got, want)
		}
		data, err := f.Marshal(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte(`"wall_ms"`)); n != 3 {
			t.Errorf("%d runs have times, want the newest 3", n)
		}
		if f, err = history.Read("again", bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	none := &history.File{}
	if _, err := none.Add(timed(1, 0, 0, 0)); err != nil || none.Times("gpu") != nil {
		t.Errorf("runs without times have some: %v", err)
	}
}

func TestTimesThatCannotBe(t *testing.T) {
	t.Parallel()
	line := `{"schema":1,"started":"2026-01-01T00:00:00Z","fingerprint":{},"metrics":[{"name":"tps","better":"higher"}],%s"cells":{"a":[[0,1]],"b":[[0,1]]}}` + "\n"
	for member, want := range map[string]string{
		`"wall_ms":[1,2],`:                                "",
		`"wall_ms":[1],`:                                  "another number of cells",
		`"wall_ms":[1,-2],`:                               "a time that cannot be",
		`"wall_ms":[1,1e400],`:                            "wall_ms",
		`"on":[0,0],`:                                     "a device that it does not list",
		`"devices":["x"],"on":[0,1],`:                     "a device that it does not list",
		`"devices":["x"],"on":[0,-2],`:                    "a device that it does not list",
		`"devices":["x"],"on":[0,-1],`:                    "",
		`"devices":["` + strings.Repeat("x", 999) + `"],`: "too many bytes",
	} {
		f, err := history.Read("f", strings.NewReader(fmt.Sprintf(line, member)))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", member, err, want)
		}
		if err == nil {
			f.Times("gpu")
		}
	}
}
