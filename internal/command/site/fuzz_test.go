package site_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// FuzzPages: whatever a history holds, pages have no element, link and file that the templates do not write.
func FuzzPages(f *testing.F) {
	for i, name := range hostile {
		f.Add(name, hostile[(i+1)%len(hostile)], hostile[(i+2)%len(hostile)], float64(i))
	}
	f.Fuzz(func(t *testing.T, cell, metric, revision string, value float64) {
		dir, file := t.TempDir(), history.File{}
		for i := range 10 {
			run := &bench.Run{Revision: revision, Started: newest.AddDate(0, 0, i-10), Metrics: []bench.Metric{{Name: metric, Unit: revision, Better: bench.Lower}},
				Results: []bench.Result{{Cell: bench.Cell{Raw: cell}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: metric, Values: []float64{value + float64(i/8)}}}}}}
			if _, err := file.Add(run); err != nil {
				t.Skip(err)
			}
		}
		if err := file.Save(history.Path(dir, "lab")); err != nil {
			t.Fatal(err)
		}
		if _, err := history.Load(history.Path(dir, "lab")); err != nil {
			t.Skip(err) // a number that is none
		}
		checkPages(t, build(t, dir, 0), 5)
	})
}
