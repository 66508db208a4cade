package cli

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
)

// narrow keeps the cells that the flags want: profile and tags first, then ids,
// then, after max_cells, the shard. What they leave out is declared in the run.
// What max_cells leaves out is declared as such, because nobody asked for it by
// name.
func (p *plan) narrow() error {
	before := 0
	for i := range p.suites {
		before += len(p.suites[i].cells) + len(p.suites[i].skipped)
		if err := p.query(&p.suites[i]); err != nil {
			return err
		}
	}
	if err := p.filter(); err != nil {
		return err
	}
	if p.size() == 0 && !p.skips() {
		return exit.Usagef("the flags leave none of %d cells: list the ids with 'accelgate plan --list'", before)
	}
	p.limit() // of the matrix, so that all shards agree on it
	return p.split()
}

// size is the number of cells to measure.
func (p *plan) size() (n int) {
	for _, s := range p.suites {
		n += len(s.cells)
	}
	return n
}

func (p *plan) skips() bool {
	return slices.ContainsFunc(p.suites, func(s planned) bool { return len(s.skipped) > 0 })
}

// keep drops the cells of a suite that want does not name, and declares them.
func (p *plan) keep(s *planned, want func(bench.Cell) bool) {
	drop := func(c bench.Cell) bool {
		if want(c) {
			return false
		}
		p.others = append(p.others, c.ID())
		return true
	}
	s.cells = slices.DeleteFunc(slices.Clone(s.cells), drop)
	s.skipped = slices.DeleteFunc(slices.Clone(s.skipped), func(r bench.Result) bool { return drop(r.Cell) })
}

// query applies --profile and --tags, which mean what the suite says.
func (p *plan) query(s *planned) error {
	want, err := s.suite.Select(suite.Query{Profile: p.options.profile, Tags: p.options.tags, SkipTags: p.options.skipTags})
	if err != nil {
		return exit.Usagef("suite %s: %w: choose another, or another suite with --suite", s.name, err)
	}
	p.keep(s, want)
	return nil
}

// filter applies --only and --skip over the cells of all chosen suites.
func (p *plan) filter() error {
	if len(p.options.only) == 0 && len(p.options.skip) == 0 {
		return nil
	}
	var all []bench.Cell
	for i := range p.suites {
		all = append(all, p.suites[i].all()...)
	}
	f := matrix.Filter{Only: p.options.only, Skip: p.options.skip}
	_, others, err := f.Split(all)
	if err != nil {
		return exit.AsUsage(err)
	}
	if len(others) == len(all) {
		return exit.Usagef("--only and --skip leave none of %d cells: list the ids with 'accelgate plan --list'", len(all))
	}
	dropped := setOf(others)
	for i := range p.suites {
		p.keep(&p.suites[i], func(c bench.Cell) bool { return !dropped[c.ID()] })
	}
	return nil
}

// split keeps one shard of the cells that can be measured. Those that this host
// cannot run are in the first shard only.
func (p *plan) split() error {
	if p.options.shard == "" {
		return nil
	}
	shard, err := matrix.ParseShard(p.options.shard)
	if err != nil {
		return exit.Usagef("--shard: %w", err)
	}
	packed, err := p.shards(shard.Of)
	if err != nil {
		return err
	}
	if shard.Index > len(packed.shards) {
		return exit.Usagef("--shard %s: the cells make only %d shards: use fewer", shard, len(packed.shards))
	}
	mine := setOf(cellIDs(packed.shards[shard.Index-1].cells))
	for i := range p.suites {
		s := &p.suites[i]
		if shard.Index == 1 {
			for _, r := range s.skipped {
				mine[r.Cell.ID()] = true
			}
		}
		p.keep(s, func(c bench.Cell) bool { return mine[c.ID()] })
	}
	return nil
}

// limit leaves out the cells over max_cells.
func (p *plan) limit() {
	most := p.file.Limits.MaxCells
	if p.options.maxCells > 0 {
		most = p.options.maxCells
	}
	if most == 0 {
		return
	}
	limit := most
	for i := range p.suites {
		s := &p.suites[i]
		n := min(most, len(s.cells))
		for _, c := range s.cells[n:] {
			p.leftOut = append(p.leftOut, bench.LeftOut{Cell: c.ID(), Reason: fmt.Sprintf("over the limit of %d cells", limit)})
		}
		s.cells, most = s.cells[:n], most-n
	}
}
