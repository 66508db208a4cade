package formats

import (
	"bytes"
	"errors"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
)

func isTorchTable(data []byte) bool {
	return bytes.Contains(data, []byte("Self CPU")) && bytes.Contains(data, []byte("# of Calls"))
}

// isTorchTrace reports a trace, or an event of one that is a list, as builds
// without Kineto write it; optrace refuses those that have no categories.
func isTorchTrace(o object) bool { return o.has("traceEvents") || o.has("ph", "ts", "pid") }

// isTorchTraceText reports a compressed trace, and one of more events than a file may
// have documents.
func isTorchTraceText(data []byte) bool {
	start := bytes.TrimSpace(data[:min(len(data), 1024)])
	return bytes.HasPrefix(start, []byte("\x1f\x8b")) || bytes.HasPrefix(start, []byte("[")) && bytes.Contains(start, []byte(`"ph"`))
}

// profile makes a sheet of a profile that suites of kind cases read as well, by the
// same reader. Its operators are the cell's breakdown.
func profile(format string) func([]byte) (*sheet, error) {
	return func(data []byte) (*sheet, error) {
		p, err := optrace.Formats[format](data)
		if err != nil {
			return nil, err
		}
		if !(p.Total > 0) { // NaN, too
			return nil, errors.New("the total time is 0: see in the log what the program measured")
		}
		s := &sheet{}
		for _, v := range append([]optrace.Value{{Metric: "total_time_s", Value: p.Total}}, p.Values...) {
			i := slices.IndexFunc(optrace.Metrics, func(m bench.Metric) bool { return m.Name == v.Metric })
			if i < 0 {
				continue
			}
			if err := s.add("", optrace.Metrics[i], v.Value); err != nil {
				return nil, err
			}
		}
		s.breakdowns = []bench.Breakdown{{Title: bench.OperatorsTitle, Unit: "s", Entries: p.Operators}}
		return s, nil
	}
}
