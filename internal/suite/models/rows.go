package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// A metric whose path names several values, or whose expression has groups that name its matches, makes a cell of each
// without steps: a row. The rows of a process are its own cell's parameters and what names the value.

// rowMetric is a metric of rows.
type rowMetric struct {
	name string
	path formats.Path
	find formats.Pattern // in place of path
	keys []string        // parameters that name a row
	all  []string        // those that name any row of the suite
}

// findRows are the metrics that make rows. Paths that cannot be read are reported elsewhere.
func (b *body) findRows() (rows []rowMetric) {
	for _, m := range b.Metrics {
		if len(m.Steps) > 0 {
			continue
		}
		if path, err := formats.ParsePath(m.JSON); m.JSON != "" && err == nil && path.Several() {
			rows = append(rows, rowMetric{name: m.Name, path: path, keys: path.Keys()})
		}
		if find, err := formats.ParsePattern(m.Regexp); m.Regexp != "" && err == nil && len(find.Keys()) > 0 {
			rows = append(rows, rowMetric{name: m.Name, find: find, keys: find.Keys()})
		}
	}
	var all []string
	for _, r := range rows {
		all = append(all, r.keys...)
	}
	for i := range rows {
		rows[i].all = all
	}
	return rows
}

// rowMetric reports whether a metric makes rows.
func (b *body) rowMetric(name string) bool {
	return slices.ContainsFunc(b.rows, func(r rowMetric) bool { return r.name == name })
}

// hasOwn reports whether the cell of the process itself has a metric.
func (b *body) hasOwn() bool { return len(b.rows) < len(b.Metrics) }

// of reports whether a cell, by its parameters, has a metric; the metrics of other cells are nil.
func (b *body) of(cell bench.Cell, metric string) bool {
	own := true
	for _, r := range b.rows {
		has := r.has(cell)
		if r.name == metric {
			return has
		}
		own = own && !has
	}
	return own
}

// has reports whether a cell is a row of the metric.
func (r *rowMetric) has(cell bench.Cell) bool {
	lacks := func(key string) bool { return cell.Get(key) == "" }
	further := func(p bench.Param) bool { return slices.Contains(r.all, p.Key) && !slices.Contains(r.keys, p.Key) }
	other := func(fixed [2]string) bool { return slices.Contains(r.keys, fixed[0]) && cell.Get(fixed[0]) != fixed[1] }
	return !slices.ContainsFunc(r.keys, lacks) && !slices.ContainsFunc(cell.Params, further) && !slices.ContainsFunc(r.path.Fixed(), other)
}

// checkRows refuses rows whose cells have the names of others.
func (b *body) checkRows(c *config.Suite) error {
	rows := b.rows
	for _, r := range rows {
		i := slices.IndexFunc(b.Metrics, func(m metric) bool { return m.Name == r.name })
		path := fmt.Sprintf("metrics[%d].json", i)
		if b.Metrics[i].Regexp != "" {
			path = fmt.Sprintf("metrics[%d].regexp", i)
		}
		for _, a := range b.dimensions() {
			if slices.Contains(r.keys, a.Name) {
				return c.Errorf(path, "%s names cells, and an axis has this name: rename the axis", a.Name)
			}
		}
		if m := &b.Metrics[i]; m.StdErr != "" || len(m.When) > 0 {
			return c.Errorf(path, "metric %s makes a cell of each value: remove stderr and when", r.name)
		}
	}
	if len(rows) > 0 && !b.hasOwn() && (len(b.Expect) > 0 || b.Answer != nil || b.Tokens != nil || b.Operators != nil) {
		return c.Errorf("metrics", "each makes a cell of each value, and none is of the program that answers: add one with a path to one value")
	}
	return nil
}

// list runs each process once, and returns the plan with its rows.
func (s *Suite) list(ctx context.Context) (p suite.Plan, why string, err error) {
	why, err = s.findRows(ctx)
	return s.Plan(), why, err
}

// findRows adds the cells that the program lists, and returns why some may be unknown.
func (s *Suite) findRows(ctx context.Context) (why string, err error) {
	defer func() { err = errors.Join(err, s.Release(bench.Device{})) }()
	for _, process := range s.matrix {
		if s.body.hasOwn() {
			s.cells = append(s.cells, process)
		}
		ran, _, err := s.run(ctx, process, bench.Device{})
		if err != nil {
			return "", err
		}
		if failed := ran.unlisted(); failed != "" && why == "" {
			why = failed
		}
		for _, cell := range ran.cells {
			s.processes[cell.ID()] = process
			s.cells = append(s.cells, cell)
		}
	}
	if why == "" {
		s.rowless = s.withoutRows()
	}
	s.choose(s.cells)
	for process, cells := range s.chosen {
		s.counts[process] = len(cells)
	}
	return why, nil
}

// withoutRows are the metrics of rows that no cell has.
func (s *Suite) withoutRows() (names []string) {
	for _, r := range s.rows {
		if !slices.ContainsFunc(s.cells, r.has) {
			names = append(names, r.name)
		}
	}
	return names
}

// unlisted returns why a process may have rows that are not known.
func (p *process) unlisted() string {
	var r bench.Result
	switch suite.Conclude(&r, p.response); {
	case p.missing != "":
		return p.missing
	case r.Outcome != bench.Passed:
		return text.Reasons(r.Reason, text.Meaningful(strings.Split(p.response.Log, "\n")))
	case p.rowErr != nil:
		return p.rowErr.Error()
	case len(p.cells) == 0:
		return "the program printed no row: correct the paths with brackets, or the command"
	}
	return ""
}

// cellNamed implements Named of [suite.Listing].
func (s *Suite) cellNamed(id string) bench.Cell {
	for _, process := range s.matrix {
		if own := process.ID(); id == own || strings.HasPrefix(id, own+"__") {
			cell := bench.Cell{Suite: process.Suite, Params: process.Params, Raw: id}
			s.processes[id] = process
			return cell
		}
	}
	return bench.Cell{Suite: s.config.Name, Raw: id}
}

// processOf is the cell of the matrix whose process measures a cell.
func (s *Suite) processOf(c bench.Cell) bench.Cell {
	if len(s.rows) == 0 {
		return c
	}
	if process, ok := s.processes[c.ID()]; ok {
		return process
	}
	return c
}

// share implements Process of [suite.Sharing].
func (s *Suite) share(c bench.Cell) string {
	if len(s.rows) == 0 {
		return ""
	}
	return s.processOf(c).ID()
}

// choose implements Choose of [suite.Sharing].
func (s *Suite) choose(cells []bench.Cell) {
	s.chosen, s.first = map[string][]string{}, ""
	if len(cells) > 0 {
		s.first = cells[0].ID()
	}
	for _, c := range cells {
		process := s.share(c)
		s.chosen[process] = append(s.chosen[process], strings.TrimPrefix(c.ID(), process+"__"))
	}
}

// ready implements Ready of [suite.Sharing].
func (s *Suite) ready(c bench.Cell, d bench.Device) bool {
	return s.sessions.Ready(s.share(c), c, d)
}

// readRows finds the rows of an output, and their numbers.
func (s *Suite) readRows(p *process, at bench.Cell, doc *formats.Document) error {
	p.values = map[string]map[string]float64{}
	for _, r := range s.rows {
		nodes, err := r.nodes(doc)
		if err != nil {
			return err
		}
		for i := range nodes {
			v, ok, err := numberOf(&nodes[i], r.path)
			switch {
			case err != nil:
				return err
			case !ok: // of another sort
				continue
			}
			cell := at
			cell.Params = slices.Clone(at.Params)
			for _, l := range nodes[i].Labels {
				cell.Params = append(cell.Params, bench.Param{Key: l.Key, Value: l.Value})
			}
			id := cell.ID()
			if _, twice := p.values[id][r.name]; twice {
				return fmt.Errorf("two rows of %s are named %s: name them by a further member or group", r.name, text.Quote(nodes[i].Name(), 200))
			}
			if p.values[id] == nil {
				p.values[id] = map[string]float64{}
				p.cells = append(p.cells, cell)
			}
			p.values[id][r.name] = v
		}
	}
	return nil
}

// nodes are the values of the rows.
func (r *rowMetric) nodes(doc *formats.Document) ([]formats.Node, error) {
	if r.path.Several() {
		return doc.Nodes(r.path)
	}
	return doc.Matches(r.find), nil
}

// numberOf is the number of a row; ok is false for an element of another sort.
func numberOf(n *formats.Node, path formats.Path) (v float64, ok bool, err error) {
	v, ok, err = n.Number(path)
	switch name := text.Quote(n.Name(), 200); {
	case n.Lacks != "" && ok:
		return 0, false, fmt.Errorf("row %s has a number at %s and no %s: print %[3]s in each row, or remove it from the path", name, path, n.Lacks)
	case n.Lacks != "" || ok || err != nil:
		return v, ok, err
	default:
		return 0, false, fmt.Errorf("row %s has no number at %s: print it, or choose the rows that have it, as in [kind=time, name]", name, path)
	}
}

// readRow takes the numbers of a row.
func (s *Suite) readRow(result *bench.Result, p *process) {
	if p.rowErr != nil {
		suite.Unusable(result, p.rowErr)
		return
	}
	values, ok := p.values[result.Cell.ID()]
	if !ok {
		why := fmt.Sprintf("the program printed %s, and not this one: see its log", text.Plural(len(p.cells), "row"))
		suite.Fail(result, bench.CauseOutput, why)
		return
	}
	for _, r := range s.rows {
		if v, ok := values[r.name]; ok {
			result.Samples = append(result.Samples, bench.Sample{Metric: r.name, Values: []float64{v}})
		}
	}
}

// unbounded fails a cell without a metric that only a bound looks at: no baseline would miss it.
func (s *Suite) unbounded(result *bench.Result) {
	for _, m := range s.body.Metrics {
		bounded := func(l config.Limit) bool { return l.Metric == m.Name && (l.Min != nil || l.Max != nil) }
		of := s.body.of(result.Cell, m.Name) || result.Cell.ID() == s.first && slices.Contains(s.rowless, m.Name)
		absent := m.Informational && result.Sample(m.Name) == nil && of
		if absent && slices.ContainsFunc(s.config.Limits, bounded) {
			suite.Fail(result, bench.CauseOutput, "printed no "+m.Name+", which limits bounds")
		}
	}
}
