package site

import (
	"encoding/json"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/history"
	"github.com/accelgate/accelgate/internal/report/chart"
)

// cellView is the page of a cell.
type cellView struct {
	ID, Host         string
	Suite, SuitePage string
	Metrics          []metricView
	Failures         []failure
	Reference        bool   // whether the baseline has the cell
	Outcome          string // in the baseline
	Compare          string // where the compare page shows the newest run, with the cell
	Data             template.JS
}

// metricView is one metric of a cell.
type metricView struct {
	Place, Name, Unit string
	Better            bench.Direction
	Runs, Unhealthy   int
	Now               string
	Anchor            string // "" if there is none
	Chart             template.HTML
	Moves             []placed
	Slow              *history.Drift
	Newest            string // what package detect says of the newest run
}

// placed is a change with its place on the page.
type placed struct {
	levelShift
	Place string
}

// metricPlace is where the page of a cell shows a metric.
func metricPlace(n int) string { return "m" + strconv.Itoa(n) }

// cellPages writes the page of each cell.
func (h *host) cellPages() error {
	failures := map[string][]failure{}
	for _, f := range h.Failures {
		failures[f.Cell] = append(failures[f.Cell], f)
	}
	for _, s := range h.Suites {
		for i, c := range s.Cells {
			v := cellView{ID: c.ID, Host: h.Label, Suite: s.Name, SuitePage: h.folder() + s.page(i/perPage),
				Failures: failures[c.ID][:min(len(failures[c.ID]), maxRows)], Data: h.series(c)}
			if c.Reference != nil {
				v.Reference, v.Outcome = true, string(c.Reference.Outcome)
			}
			if n := len(h.Runs); n > 0 {
				v.Compare = "compare.html#" + comparison(h.Label, h.Runs[max(0, n-2)], h.Label, h.Runs[n-1], c.ID)
			}
			for n, s := range c.Series {
				v.Metrics = append(v.Metrics, h.metric(c, n, s))
			}
			if err := h.site.page(h.cellPage(c), "cell", &v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *host) metric(c *cell, n int, s *history.Series) metricView {
	level, _ := c.anchor(s.Metric)
	v := metricView{
		Place:     metricPlace(n),
		Name:      s.Metric,
		Unit:      s.Unit,
		Better:    s.Better,
		Runs:      s.Runs,
		Unhealthy: len(s.Unhealthy),
		Now:       newest(s),
		Slow:      s.Drift,
	}
	v.Chart = template.HTML(trendOf(s, level).SVG()) // which escapes names
	if level > 0 {
		v.Anchor = number(level)
	}
	if s.Newest != nil {
		v.Newest = string(s.Newest.Verdict)
	}
	for _, m := range h.ofSeries(c, n, s) {
		v.Moves = append(v.Moves, placed{m, place(n, m.Before)})
	}
	slices.Reverse(v.Moves)
	return v
}

// newest is the newest value.
func newest(s *history.Series) string {
	for _, v := range slices.Backward(s.Values) {
		if !math.IsNaN(v) {
			return number(v)
		}
	}
	return ""
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

func trendOf(s *history.Series, anchor float64) chart.Trend {
	t := s.Chart()
	t.Name, t.Unit, t.Anchor = shown(s.Metric), shown(s.Unit), anchor
	return t
}

// drawn is what the script draws of a metric. Names follow the keys in the script.
type drawn struct {
	Name      string          `json:"name"`
	Unit      string          `json:"unit"`
	Values    json.RawMessage `json:"values"`
	Unhealthy []int           `json:"unhealthy"`
	Changes   []int           `json:"changes"`
	Anchor    float64         `json:"anchor"`
}

// series are the numbers of a cell's page, as JSON that may stand in a script element: package json escapes <, > and &.
func (h *host) series(c *cell) template.JS {
	all := make([]drawn, len(c.Series))
	for i, s := range c.Series {
		level, _ := c.anchor(s.Metric)
		all[i] = drawn{shown(s.Metric), shown(s.Unit), numbers(s.Values), s.Unhealthy, trendOf(s, 0).Changes, level}
	}
	data, err := json.Marshal(map[string]any{"host": h.Label, "series": all})
	if err != nil {
		return "null" // no value of it fails
	}
	return template.JS(data)
}

// numbers are values as a JSON list, with the digits of a history; null stands for none.
func numbers(values []float64) json.RawMessage {
	b := make([]byte, 0, 2+8*len(values))
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, v, 'g', 7, 64)
		}
	}
	return append(b, ']')
}
