package list

import (
	"fmt"
	"io"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// Baseline is what a baseline file records, one entry for each cell and metric.
type Baseline struct {
	Path     string    `json:"path"`
	Host     string    `json:"host"`
	Device   string    `json:"device"`
	Captured time.Time `json:"captured,omitzero"`
	Commit   string    `json:"commit,omitempty"`
	Notes    string    `json:"notes,omitempty"`
	Entries  []Entry   `json:"entries"`
}

// Entry is a metric of a cell, or a cell without metrics.
type Entry struct {
	Cell    string         `json:"cell"`
	Outcome bench.Outcome  `json:"outcome"`
	Metric  string         `json:"metric,omitempty"`
	Unit    string         `json:"unit,omitempty"`
	Summary *bench.Summary `json:"summary,omitempty"` // absent without metrics
}

// OfBaseline lists a baseline in its order.
func OfBaseline(path string, file *baseline.File) Baseline {
	ref := file.Run()
	b := Baseline{
		Path:     path,
		Host:     ref.Host.Label,
		Device:   ref.Host.Device(),
		Captured: file.CapturedAt,
		Commit:   ref.Revision,
		Entries:  []Entry{},
	}
	if file.Notes != nil {
		b.Notes = *file.Notes
	}
	for i := range ref.Results {
		r := &ref.Results[i]
		e := Entry{Cell: r.Cell.ID(), Outcome: r.Outcome}
		if len(r.Samples) == 0 {
			b.Entries = append(b.Entries, e)
		}
		for _, s := range r.Samples {
			e.Metric, e.Summary, e.Unit = s.Metric, s.Summary, ""
			if m := ref.Metric(s.Metric); m != nil {
				e.Unit = m.Unit
			}
			b.Entries = append(b.Entries, e)
		}
	}
	return b
}

// Print writes the baseline as a table for a terminal of so many columns, 0 for a file.
func (b *Baseline) Print(w io.Writer, columns int) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "%s\nhost\t%s\ndevice\t%s\ncaptured\t%s\ncommit\t%s\n", b.Path, text.OneLine(b.Host), text.OneLine(b.Device),
		b.Captured.Format("2006-01-02 15:04 MST"), text.OneLine(b.Commit))
	if b.Notes != "" {
		fmt.Fprintf(t, "notes\t%s\n", text.OneLine(b.Notes))
	}
	fmt.Fprintf(t, "\ncase\toutcome\tmetric\tmedian\tMAD\tn\tnoise\tMDE\tunit\n")
	for _, e := range b.Entries {
		if s := e.Summary; s == nil {
			fmt.Fprintf(t, "%s\t%s\n", text.OneLine(e.Cell), e.Outcome)
		} else {
			fmt.Fprintf(t, "%s\t%s\t%s\t%.5g\t%.3g\t%d\t%s\t%s\t%s\n", text.OneLine(e.Cell), e.Outcome, text.OneLine(e.Metric), s.Median, s.MAD, s.N,
				ofCalibrating(s.Noise), ofCalibrating(s.MDE), text.OneLine(e.Unit))
		}
	}
	return t.Flush()
}

// ofCalibrating writes a fraction that calibrate has found, or that it has not.
func ofCalibrating(fraction float64) string {
	if fraction == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2g %%", 100*fraction)
}
