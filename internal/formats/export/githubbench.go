package export

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// entry is a result of github-action-benchmark (README.md, "Custom Benchmarks").
type entry struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"` // the median
	Range string  `json:"range,omitempty"`
	Extra string  `json:"extra,omitempty"`
}

// biggerIsBetter writes what github-action-benchmark reads as its tool
// customBiggerIsBetter: all metrics that are better when higher. A document has one
// direction.
func biggerIsBetter(w io.Writer, run *bench.Run) error { return ofDirection(w, run, bench.Higher) }

// smallerIsBetter writes the same for customSmallerIsBetter.
func smallerIsBetter(w io.Writer, run *bench.Run) error { return ofDirection(w, run, bench.Lower) }

func ofDirection(w io.Writer, run *bench.Run, better bench.Direction) error {
	var entries []entry
	for n := range numbers(run) {
		if n.metric.Better != better {
			continue
		}
		e := entry{
			Name:  cellName(&n.result.Cell) + " " + name(n.metric.Name, bench.MaxID),
			Unit:  text.Clean(n.metric.Unit),
			Value: n.median,
			Extra: text.Clean(run.Host.Label + ", " + text.Plural(n.count, "value")),
		}
		if n.count > 1 {
			e.Range = "± " + format(n.mad)
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return fmt.Errorf("%w that is better when %s", ErrNothing, better)
	}
	return text.WriteJSON(w, "  ", entries)
}
