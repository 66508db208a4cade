package site

import (
	"slices"
)

// indexView is the first page.
type indexView struct {
	Hosts       []summary
	Regressions listed[levelShift] // of the last 30 days, the newest first
}

func (s *site) index() error {
	v := indexView{Hosts: s.hosts}
	v.Regressions.All = since(s.regressions(), s.days(30))
	return s.page("index.html", "index", &v)
}

// regressions are those of all hosts, the newest first.
func (s *site) regressions() (all []levelShift) {
	for i := range s.hosts {
		all = append(all, s.hosts[i].moves...)
	}
	slices.SortStableFunc(all, func(a, b levelShift) int { return b.At.Compare(a.At) })
	return all
}
