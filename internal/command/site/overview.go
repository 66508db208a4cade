package site

import (
	"cmp"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// overview is the page of a host.
type overview struct {
	Label, Device string
	Runs, Cells   int
	Newest        bench.Point // its time is zero if there is no run
	Baseline      time.Time
	Captured      string // commit of the baseline
	Suites        []suiteLink
	Week, Month   []levelShift // of the last 7 days; of the 23 before
	Creeps        listed[creep]
	Slow          listed[slow]
	Flaky         listed[flaky]
	Failures      listed[failure]
	Absent        listed[absent]
	Coverage      []Ages
	Ages          []int
}

// listed is a list of which a page shows the beginning.
type listed[T any] struct{ All []T }

// maxRows is how many rows a table of an overview has.
const maxRows = 20

// Shown are the rows that a page shows.
func (l listed[T]) Shown() []T { return l.All[:min(len(l.All), maxRows)] }

// More is how many rows it does not show.
func (l listed[T]) More() int { return len(l.All) - len(l.Shown()) }

func (h *host) overview() *overview {
	o := &overview{
		Label:  h.Label,
		Runs:   len(h.Runs),
		Cells:  len(h.Cells),
		Week:   since(h.Moves, h.days(7)),
		Creeps: listed[creep]{h.creeps()},
		Slow:   listed[slow]{h.slow()},
		Flaky: listed[flaky]{
			h.flaky(),
		},
		Failures: listed[failure]{h.Failures},
		Absent:   listed[absent]{h.absent()},
		Coverage: h.coverage(),
		Ages:     ages[:],
	}
	o.Month = since(h.Moves, h.days(30))[len(o.Week):]
	if n := len(h.Runs); n > 0 {
		o.Newest = h.Runs[n-1]
	}
	if h.Baseline != nil {
		o.Baseline, o.Captured, o.Device = h.Baseline.Started, h.Baseline.Revision, h.Baseline.Host.Device()
	}
	for _, s := range h.Suites {
		o.Suites = append(o.Suites, suiteLink{cmp.Or(s.Name, otherCells), h.folder() + s.page(0), len(s.Cells)})
	}
	return o
}

// otherCells is the title of cells of which no baseline and no run document names the suite.
const otherCells = "other cells"
