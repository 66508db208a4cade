// Package export writes the numbers of a run for other tools: one file a format, one
// entry of a table a format. It judges nothing; verdicts are in package report.
//
// All names in a run are hostile. Here they are single printable lines, and each format
// escapes what has a meaning in it.
package export

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Format writes a run as one document.
type Format struct {
	Name string
	// Write fails with [ErrNothing] if the run has no number that the format holds.
	Write func(io.Writer, *bench.Run) error
}

// Formats are all of them, in the order of help texts.
var Formats = []Format{
	{"csv", CSV},
	{"gobench", GoBench},
	{"openmetrics", OpenMetrics},
	{"bmf", bmf},
	{"customBiggerIsBetter", biggerIsBetter},
	{"customSmallerIsBetter", smallerIsBetter},
}

// ErrNothing means that a run has no number that a format holds.
var ErrNothing = errors.New("no cell that passed has a number")

// number is one metric of one cell.
type number struct {
	result *bench.Result
	metric *bench.Metric // never nil
	sample *bench.Sample
	// values are those that are evidence (see [bench.Result.Judged]); the median where a
	// sample has nothing else.
	values      []float64
	median, mad float64
	count       int
}

// numbers are those of all cells that passed, without doubtful ones, in the order of the run.
func numbers(run *bench.Run) iter.Seq[number] {
	metrics := make(map[string]*bench.Metric, len(run.Metrics))
	for i := range run.Metrics {
		metrics[run.Metrics[i].Name] = &run.Metrics[i]
	}
	return func(yield func(number) bool) {
		for i := range run.Results {
			r := &run.Results[i]
			if r.Outcome != bench.Passed || r.Caveat != "" {
				continue
			}
			for k := range r.Samples {
				if s := &r.Samples[k]; s.Caveat == "" && !yield(numberOf(metrics, r, s)) {
					return
				}
			}
		}
	}
}

func numberOf(metrics map[string]*bench.Metric, r *bench.Result, s *bench.Sample) number {
	n := number{result: r, metric: metrics[s.Metric], sample: s}
	if n.metric == nil {
		n.metric = &bench.Metric{Name: s.Metric, Better: bench.Higher}
	}
	if sum := s.Summary; sum != nil {
		n.values, n.median, n.mad, n.count = []float64{sum.Median}, sum.Median, sum.MAD, sum.N
		return n
	}
	n.values = r.Judged(s)
	n.median, n.mad, n.count = stats.Median(n.values), stats.MAD(n.values), len(n.values)
	return n
}

// name is a name of at most limit bytes as one printable line. A digest keeps apart those
// of which something is cut or replaced.
func name(s string, limit int) string {
	if s != "" && len(s) <= limit && text.Printable(s) {
		return s
	}
	digest := fmt.Sprintf("-%x", sha256.Sum256([]byte(s)))[:9]
	return text.Cut(text.Clean(s), limit-len(digest)) + digest
}

func cellName(c *bench.Cell) string { return name(c.ID(), bench.MaxID) }
