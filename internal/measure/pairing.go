package measure

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// paired is a cell of the base, with what measures it.
type paired struct {
	suite *Planned
	cell  bench.Cell
}

// match finds which cells of the head can be measured alternately with the base, and
// warns of the others: what is compared with itself is never slower.
func (b *base) match(head *Session) error {
	for _, m := range head.Plan.Metrics {
		b.owed[m.Name] = !m.Informational
	}
	all := map[string]paired{}
	for i := range b.session.Plan.Suites {
		one := &b.session.Plan.Suites[i]
		for _, cell := range one.Cells {
			all[cell.ID()] = paired{one, cell}
		}
	}
	why := map[string][]string{}
	for i := range head.Plan.Suites {
		one, compared := &head.Plan.Suites[i], (*Planned)(nil)
		for _, cell := range one.Cells {
			id := cell.ID()
			of, ok := all[id]
			if !ok {
				reason := b.lacks(one.Name)
				why[reason] = append(why[reason], id)
				continue
			}
			if of.suite != compared {
				if err := sameMetrics(of.suite.Plan.Metrics, one.Plan.Metrics); err != nil {
					return err
				}
				compared = of.suite
			}
			reason, err := b.itself(head, one, cell, of)
			if err != nil {
				return err
			}
			if reason != "" {
				why[reason] = append(why[reason], id)
				continue
			}
			b.cells[id] = of
		}
	}
	if b.tried && len(b.cells) == 0 {
		if len(why[sameAccelgate]) > 0 {
			head.NextBase = abAuto // works if it is asked for
		}
		return nothingToPair{noBase{strings.Join(slices.Sorted(maps.Keys(why)), ", or ")}}
	}
	if len(b.cells) == 0 {
		because := strings.Join(slices.Sorted(maps.Keys(why)), ", or ")
		if slices.ContainsFunc(b.session.Plan.Suites, func(one Planned) bool { return one.Unlisted != "" }) {
			return noBase{because}
		}
		return exit.Usagef("--ab: no cell can be measured in pairs, because %s: "+
			"name another base, or measure without pairs with --ab off", because)
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		head.warnings = append(head.warnings, fmt.Sprintf("not measured in pairs, because %s: %s", reason, firstOf(why[reason])))
	}
	b.missed(head, all)
	return nil
}

// lacks returns why the base has no cell of a suite.
func (b *base) lacks(suite string) string {
	for _, one := range b.session.Plan.Suites {
		if one.Name == suite && one.Unlisted != "" {
			return "the cells of the base cannot be listed: " + text.OneLine(one.Unlisted)
		}
	}
	return "the base has no such cell"
}

// itself returns why measuring a cell alternately would compare one thing with itself;
// "" if it would not.
func (b *base) itself(head *Session, s *Planned, cell bench.Cell, of paired) (string, error) {
	if b.tried {
		if why := sameProgram(head.Plan, &s.Plan, cell); why != "" {
			return why, nil
		}
	}
	if here := s.Plan.Address; here != "" && here == of.suite.Plan.Address {
		return "both sides would ask one server: let accelgate start it, or give the base one with another base_url", nil
	}
	if !sameFolder(head.Plan.File.Dir, b.session.Plan.File.Dir) {
		return "", nil
	}
	now, err := head.suites[s.Name].Digest(cell)
	if err != nil {
		return "", err
	}
	old, err := b.session.suites[of.cell.Suite].Digest(of.cell)
	if err == nil && now == old {
		return "the base is the folder that is under test, with the same command: give a checkout of the base, or the suite a base_command", nil
	}
	return "", err
}

// sameProgram returns why a checkout of the base would hardly change what a cell
// measures, so that pairs are not worth their time unless they are asked for; "" if
// it would.
func sameProgram(head *Plan, of *suite.Plan, cell bench.Cell) string {
	switch {
	case !of.Starts:
		return "suites of this kind are paired only if --ab names a base"
	case of.Embedded[cell.ID()] && len(head.Options.EngineArgs()) == 0:
		return sameAccelgate
	}
	return ""
}

const sameAccelgate = "both sides would run this accelgate"

func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return errors.Join(err, otherErr) == nil && os.SameFile(one, other)
}

// sameMetrics refuses numbers that mean different things on the two sides of a cell: a
// change must not turn around by itself what is better, or take it out of the gate.
func sameMetrics(base, head []bench.Metric) error {
	now := bench.Run{Metrics: head}
	for _, old := range base {
		if why := gate.Contradiction("base", &old, now.Metric(old.Name)); why != "" {
			return exit.Usagef("--ab: %s cannot be compared with the base: %s; give it another name, or measure this change without --ab",
				old.Name, why)
		}
	}
	return nil
}

// missed warns of cells and gated metrics that only the base has: where there is no
// baseline, only this check misses them.
func (b *base) missed(head *Session, all map[string]paired) {
	known := SetOf(head.Plan.Others)
	for _, one := range head.Plan.Suites {
		for _, cell := range one.All() {
			known[cell.ID()] = true
		}
	}
	for _, l := range head.Plan.LeftOut {
		known[l.Cell] = true
	}
	var cells, metrics []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if !known[id] {
			cells = append(cells, id)
		}
	}
	for _, m := range b.compared(head.Plan) {
		if !m.Informational && !slices.ContainsFunc(head.Plan.Metrics, func(now bench.Metric) bool { return now.Name == m.Name }) {
			metrics = append(metrics, m.Name)
		}
	}
	if len(cells) > 0 {
		head.warnings = append(head.warnings, "the base has cells that this configuration has not, so nothing judges them: "+firstOf(cells))
	}
	if len(metrics) > 0 {
		head.warnings = append(head.warnings,
			"the base has gated metrics that this configuration has not, so nothing judges them: "+firstOf(metrics))
	}
}

// compared are the metrics of the base's suites that the head measures: all of them,
// unless --suite selected some, whose metrics alone were asked for.
func (b *base) compared(head *Plan) (metrics []bench.Metric) {
	if len(head.Options.Suites) == 0 {
		return b.session.Plan.Metrics
	}
	for _, one := range b.session.Plan.Suites {
		if slices.ContainsFunc(head.Suites, func(h Planned) bool { return h.Name == one.Name }) {
			metrics = append(metrics, one.Plan.Metrics...)
		}
	}
	return metrics
}

// firstOf names the first of a list.
func firstOf(names []string) string {
	return text.OneLine(strings.Join(text.First(names, maxListed), ", "))
}

// sameConditions reports whether both sides were measured under the same conditions.
func sameConditions(got, old *bench.Result) bool {
	return bench.SameConditions(got.Conditions, old.Conditions)
}

// lost names a gated metric that the base reports for a cell and the head does not,
// although its configuration describes it; "" if there is none.
func (b *base) lost(got, old *bench.Result) string {
	for i := range old.Samples {
		if name := old.Samples[i].Metric; b.owed[name] && got.Sample(name) == nil {
			return name
		}
	}
	return ""
}

// maxListed is how many cells a warning names.
const maxListed = 10
