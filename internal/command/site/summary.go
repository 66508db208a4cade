package site

import (
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// summary is what remains of a host when its pages are written.
type summary struct {
	Label, Device string
	Runs, Cells   int
	Newest        bench.Point
	Baseline      time.Time // when it was captured; zero if there is none
	Suites        []suiteLink
	Week, Month   counts
	Flaky, Absent int
	Failures      int          // in the run documents of the last 30 days
	Creep         *creep       // the largest loss since an anchor; nil if there is none
	moves         []levelShift // the newest
	regressed     int          // regressions of the last 7 days
}

type suiteLink struct {
	Name, Page string
	Cells      int
}

// counts are changes of level in both directions.
type counts struct{ Worse, Better int }

func countsOf(moves []levelShift) counts {
	n := worse(moves)
	return counts{n, len(moves) - n}
}

// host writes the pages of a host.
func (s *site) host(label string) (summary, error) {
	h, err := s.read(label)
	if err != nil {
		return summary{}, err
	}
	page := h.overview()
	sum := h.summary(page)
	if err := h.data(); err != nil {
		return sum, err
	}
	if err := h.page("index.html", "host", page); err != nil {
		return sum, err
	}
	for _, suite := range h.Suites {
		if err := h.suitePages(suite); err != nil {
			return sum, err
		}
	}
	return sum, h.cellPages()
}

func (h *host) summary(page *overview) summary {
	const maximum = 100 // entries of the feed
	sum := summary{Label: h.Label, Runs: len(h.Runs), Cells: len(h.Cells), Newest: page.Newest, Suites: page.Suites,
		Week: countsOf(page.Week), Month: countsOf(since(h.Moves, h.days(30))), Flaky: len(page.Flaky.All), Absent: len(page.Absent.All),
		regressed: worse(page.Week)}
	if h.Baseline != nil {
		sum.Baseline, sum.Device = h.Baseline.Started, h.Baseline.Host.Device()
	}
	if len(page.Creeps.All) > 0 {
		sum.Creep = &page.Creeps.All[0]
	}
	for _, f := range h.Failures {
		if !f.At.Before(h.days(30)) {
			sum.Failures++
		}
	}
	for _, m := range h.Moves {
		if m.Worse() && len(sum.moves) < maximum {
			sum.moves = append(sum.moves, m)
		}
	}
	return sum
}
