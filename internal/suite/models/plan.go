package models

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

// Plan returns the matrix in the order of TensorSharp: model, backend, feature, and per
// combination the plain cell before the sweeps. A combination that this host cannot run is
// skipped once, without its sweeps.
func (s *Suite) Plan() suite.Plan {
	p := suite.Plan{Metrics: s.metrics, Cells: s.cells, Skipped: s.skipped, Repeats: s.body.Repeats, Warnings: s.warnings,
		Partners: map[string]string{}, Loads: s.loads(), Starts: true, Programs: s.programs, Outside: s.body.Worker.Container != nil,
		Profiles: make(map[string]func(bench.Cell) bool, len(s.body.Profiles)),
		Tags:     s.tags(), TagsOf: s.tagsOf}
	for id, point := range s.points {
		if point.Partner != "" {
			p.Partners[id] = point.Partner
		}
	}
	for name, profile := range s.body.Profiles {
		p.Profiles[name] = profile.wanted
	}
	if s.body.Command[0] == "{accelgate}" {
		p.Embedded = make(map[string]bool, len(s.cells))
		for _, c := range s.cells {
			p.Embedded[c.ID()] = true
		}
	}
	if len(s.rows) > 0 {
		p.Listing = &suite.Listing{List: s.list, Named: s.cellNamed}
		p.Sharing = &suite.Sharing{Process: s.share, Choose: s.choose, Ready: s.ready}
	}
	if len(s.body.Artifacts) > 0 {
		p.Artifacts = s.artifacts
	}
	if s.body.Answer != nil {
		p.Hidden = s.hidden
	}
	return p
}

func (s *Suite) tagsOf(c bench.Cell) []string {
	if p := s.points[s.processOf(c).ID()]; p != nil {
		return p.Tags
	}
	return nil
}

// loads names the process that keeps a cell's model: one with the same command
// and environment. Without persistent processes each cell loads its own.
func (s *Suite) loads() map[string]string {
	if s.body.Worker.Persistent == nil {
		return nil
	}
	loads := make(map[string]string, len(s.cells))
	for _, c := range s.cells {
		if f, _, err := s.fill(s.processOf(c), s.placeholderOutput()); err == nil { // measuring it tells
			loads[c.ID()] = fmt.Sprintf("%q %q", f.args, f.env)
		}
	}
	return loads
}
