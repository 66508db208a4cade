package site

import (
	"math"
	"net/url"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// compare writes the page that compares two runs. It loads the runs of a host, its cells and the values of a run when they are chosen.
func (s *site) compare() error {
	labels := make([]string, len(s.hosts))
	for i := range s.hosts {
		labels[i] = s.hosts[i].Label
	}
	return s.page("compare.html", "compare", labels)
}

// listedRun is a run in runs.js: when it started, its commit, and the name of the file of its values.
type listedRun [3]string

// listedNumber is a metric of a cell in cells.js.
type listedNumber struct {
	Cell   string          `json:"cell"`
	Metric string          `json:"metric"`
	Unit   string          `json:"unit"`
	Better bench.Direction `json:"better"`
	Page   string          `json:"page"` // from the root
}

// runName names the file of a run's values. It stays the same for as long as the history has the run.
func runName(p bench.Point) string {
	return named(short(p.Revision), p.At.UTC().Format(time.RFC3339Nano)+" "+p.Revision)
}

// comparison is the part of an address behind "#" that chooses two runs and a cell.
func comparison(hostA string, a bench.Point, hostB string, b bench.Point, cell string) string {
	return url.Values{"a": {hostA + "/" + runName(a)}, "b": {hostB + "/" + runName(b)}, "q": {cell}}.Encode()
}

// data writes the runs and cells of a host, and the values of each run in the order of the cells.
func (h *host) data() error {
	runs := make([]listedRun, len(h.Runs))
	for i, r := range h.Runs {
		runs[i] = listedRun{r.At.UTC().Format(time.RFC3339), shown(r.Revision), runName(r)}
	}
	if err := h.script(h.folder()+"runs.js", "runs/"+h.Label, runs); err != nil {
		return err
	}
	cells := []listedNumber{}
	var values [][]float64
	for _, c := range h.Cells {
		for i, s := range c.Series {
			cells = append(cells, listedNumber{shown(c.ID), shown(s.Metric), shown(s.Unit), s.Better, h.cellPage(c) + "#" + metricPlace(i)})
			values = append(values, s.Values)
		}
	}
	if err := h.script(h.folder()+"cells.js", "cells/"+h.Label, cells); err != nil {
		return err
	}
	for i := range h.Runs {
		row := make([]float64, len(values))
		for n, v := range values {
			row[n] = math.NaN()
			if i < len(v) {
				row[n] = v[i]
			}
		}
		if err := h.script(h.folder()+"runs/"+runs[i][2]+".js", "values/"+h.Label+"/"+runs[i][2], numbers(row)); err != nil {
			return err
		}
	}
	return nil
}
