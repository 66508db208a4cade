package export

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// columns of [CSV].
var columns = []string{
	"host", "revision", "started", "suite", "cell", "outcome", "metric", "unit", "better", "index", "value", "base", "caveat",
}

// CSV writes one row for each value, as RFC 4180 has it, with a header. Cells that did not
// pass, and doubtful numbers, are rows as well; a cell without numbers is one row. The
// column base is the base's value of the same pair.
//
// Spreadsheets take a text that begins with =, +, - or @ for a formula, and GitHub's
// runner one that begins with :: for a command, so such a text begins with an apostrophe.
func CSV(w io.Writer, run *bench.Run) error {
	if len(run.Results) == 0 {
		return ErrNothing
	}
	out := csv.NewWriter(w)
	out.Write(columns) // errors stay with the writer
	started := ""
	if !run.Started.IsZero() {
		started = run.Started.UTC().Format(time.RFC3339)
	}
	for i := range run.Results {
		r := &run.Results[i]
		head := []string{
			label(run.Host.Label),
			label(run.Revision),
			started,
			label(r.Cell.Suite),
			label(cellName(&r.Cell)),
			string(r.Outcome),
		}
		samples := slices.Concat(r.Samples, r.Resources)
		if len(samples) == 0 {
			out.Write(append(head, "", "", "", "", "", "", label(r.Caveat)))
		}
		for k := range samples {
			writeSample(out, run, r, &samples[k], head)
		}
	}
	out.Flush()
	return out.Error()
}

func writeSample(out *csv.Writer, run *bench.Run, r *bench.Result, s *bench.Sample, head []string) {
	m := cmp.Or(run.Metric(s.Metric), bench.Resource(s.Metric), &bench.Metric{})
	values := s.Values
	if s.Summary != nil {
		values = []float64{s.Summary.Median}
	}
	unpaired := len(values) - len(s.Base)
	for i, v := range values {
		base := ""
		if i >= unpaired {
			base = format(s.Base[i-unpaired])
		}
		out.Write(slices.Concat(head, []string{
			label(name(s.Metric, bench.MaxID)),
			label(m.Unit),
			string(m.Better),
			strconv.Itoa(i),
			format(v),
			base,
			label(cmp.Or(s.Caveat, r.Caveat)),
		}))
	}
}

// label is a text that a spreadsheet takes for a text.
func label(s string) string {
	if s = text.Clean(s); s != "" && strings.ContainsRune("=+-@:'", rune(s[0])) {
		return "'" + s
	}
	return s
}

// format writes a number so that reading it yields the same.
func format(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
