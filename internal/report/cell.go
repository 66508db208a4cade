package report

import (
	"iter"
	"time"

	"github.com/accelgate/accelgate/internal/gate"
)

// Head describes a report.
type Head struct {
	Tool     string
	Config   string // path of the configuration, as it was given
	Now      time.Time
	Decision gate.Decision // read-only
}

// Head returns the description of the report.
func (r Report) Head() Head {
	return Head{Tool: r.in.Tool, Config: r.in.Config, Now: r.in.Now, Decision: r.in.Decision}
}

// Cell is everything that was found of one cell of a host. Its names are single printable
// lines, whole and not escaped for any markup.
type Cell struct {
	Host, Suite string
	ID          string // "" for the host as a whole
	Started     time.Time
	Seconds     float64 // wall time of all measurements; 0 if it was not measured
	Findings    []Finding
}

// Cells returns every cell of every host with all verdicts on it, in the order of
// [gate.Comparison]. Unlike [Report.Findings] it leaves nothing out.
func (r Report) Cells() iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		for i := range r.hosts {
			h := &r.hosts[i]
			results := h.Run.ByID()
			for rest := h.Comparison.Verdicts; len(rest) > 0; {
				c := Cell{Host: visible(h.Run.Host.Label), ID: visible(rest[0].Cell), Started: h.Run.Started}
				suite := ""
				if res := results[rest[0].Cell]; res != nil {
					suite, c.Seconds = res.Cell.Suite, res.WallMS/1000
				}
				c.Suite = visible(suite)
				id := rest[0].Cell
				for ; len(rest) > 0 && rest[0].Cell == id; rest = rest[1:] {
					f := finding{host: i, Verdict: &rest[0], line: h.crashLine(&rest[0])}
					if f.Budget > 0 {
						suite = r.suiteOf(f)
					}
					c.Findings = append(c.Findings, r.finding(f, suite))
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}
