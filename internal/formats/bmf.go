package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// isBMF reports Bencher Metric Format: benchmarks, each an object of measures, each
// an object with a value.
func isBMF(o object) bool {
	for name := range o {
		measures := o.child(name)
		if len(measures) == 0 {
			return false
		}
		for measure := range measures {
			if !measures.child(measure).has("value") {
				return false
			}
		}
	}
	return len(o) > 0
}

// bmfMeasures are measures that Bencher's pages define, by slug, with their units. Others
// have no direction in the file.
var bmfMeasures = map[string]bench.Metric{
	"latency":    {Unit: "ns", Better: bench.Lower},
	"throughput": {Unit: "ops/s", Better: bench.Higher},
	"build-time": {Unit: "s", Better: bench.Lower},
	"file-size":  {Unit: "B", Better: bench.Lower},
}

// bmf reads https://bencher.dev/docs/reference/bencher-metric-format. The bounds of
// a measure are left out: they are of one process.
func bmf(data []byte) (*sheet, error) {
	found, err := saved(data, isBMF)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	s := &sheet{key: "benchmark"}
	for _, o := range found {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			measures := o.child(name)
			for _, measure := range slices.Sorted(maps.Keys(measures)) {
				v, ok, err := measures.child(measure).number("value")
				if err != nil || !ok {
					return nil, fmt.Errorf("%s of %s has no number as its value: see what wrote it", text.Quote(measure, 80),
						text.Quote(name, 80))
				}
				if err := s.add(name, s.bmfMetric(measure), v); err != nil {
					return nil, err
				}
			}
		}
	}
	return s, nil
}

// bmfMetric describes a measure by its slug or its name, such as "File Size".
func (s *sheet) bmfMetric(measure string) bench.Metric {
	slug := strings.ReplaceAll(strings.ToLower(text.Line(measure, 80)), " ", "-")
	m, known := bmfMeasures[slug]
	if m.Name = slug; !known {
		m.Better, m.Kind, m.Informational = bench.Higher, bench.Score, true
		s.warn("the file does not state whether %s is better higher or lower, so it is shown and not gated: "+
			"read it by a suite with 'parser: bmf' and name its direction in metrics", text.Quote(measure, 80))
	}
	return m
}
