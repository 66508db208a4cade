package site

import (
	"cmp"
	"html/template"
	"strconv"
	"time"
)

// perPage is how many cells a page of a suite shows.
const perPage = 300

// suiteView is a page of a suite: a small chart for each metric of each cell.
type suiteView struct {
	Host, Name string
	Cells      int
	Pages      []suiteLink // of the same suite, if there are several
	This       string
	Multiples  []multiple
}

// multiple is one small chart.
type multiple struct {
	Cell, Page, Metric, Unit, Now string
	Chart                         template.HTML
	Move                          *levelShift // the newest of the last 30 days; nil if there is none
}

// page is the name of the nth page of a suite.
func (s *suite) page(n int) string {
	if n == 0 {
		return "suite-" + s.Slug + ".html"
	}
	return "suite-" + s.Slug + "-" + strconv.Itoa(n+1) + ".html"
}

// suitePages writes the pages of a suite.
func (h *host) suitePages(s *suite) error {
	name := cmp.Or(s.Name, otherCells)
	var pages []suiteLink
	for n := 0; n*perPage < len(s.Cells); n++ {
		pages = append(pages, suiteLink{strconv.Itoa(n + 1), h.folder() + s.page(n), min(perPage, len(s.Cells)-n*perPage)})
	}
	month := h.days(30)
	for n := range pages {
		v := suiteView{Host: h.Label, Name: name, Cells: len(s.Cells), This: pages[n].Page}
		if len(pages) > 1 {
			v.Pages = pages
		}
		for _, c := range s.Cells[n*perPage : n*perPage+pages[n].Cells] {
			v.Multiples = append(v.Multiples, h.multiples(c, month)...)
		}
		if err := h.page(s.page(n), "suite", &v); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) multiples(c *cell, month time.Time) []multiple {
	if len(c.Series) == 0 {
		return []multiple{{Cell: c.ID, Page: h.cellPage(c)}}
	}
	all := make([]multiple, len(c.Series))
	for i, s := range c.Series {
		all[i] = multiple{
			Cell:   c.ID,
			Page:   h.cellPage(c) + "#" + metricPlace(i),
			Metric: s.Metric,
			Unit:   s.Unit,
			Now:    newest(s),
			Chart:  template.HTML(trendOf(s, 0).Spark()),
		} // which escapes names
		if moves := h.ofSeries(c, i, s); len(moves) > 0 && !moves[len(moves)-1].At.Before(month) {
			all[i].Move = &moves[len(moves)-1]
		}
	}
	return all
}
