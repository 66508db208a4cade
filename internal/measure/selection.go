package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// narrow keeps the cells that the flags want: profile and tags first, then ids,
// then, after max_cells, the shard. What they leave out is declared in the run.
// What max_cells leaves out is declared as such, because no user left it out by
// name.
func (p *Plan) narrow() error {
	before := 0
	for i := range p.Suites {
		before += len(p.Suites[i].Cells) + len(p.Suites[i].Skipped)
		if err := p.query(&p.Suites[i]); err != nil {
			return err
		}
	}
	if err := p.filter(); err != nil {
		return err
	}
	if p.size() == 0 && !p.skips() && p.Unlisted() == nil {
		return exit.Usagef("the flags leave none of %s: list the ids with 'accelgate plan --list'", text.Plural(before, "cell"))
	}
	p.limit() // of the matrix, so that all shards agree on it
	return p.split()
}

// size is the number of cells to measure.
func (p *Plan) size() (n int) {
	for _, s := range p.Suites {
		n += len(s.Cells)
	}
	return n
}

func (p *Plan) skips() bool {
	return slices.ContainsFunc(p.Suites, func(s Planned) bool { return len(s.Skipped) > 0 })
}

// keep drops the cells of a suite that want does not name, and declares them.
func (p *Plan) keep(s *Planned, want func(bench.Cell) bool) {
	want = p.wantsPartners(s, want)
	drop := func(c bench.Cell) bool {
		if want(c) {
			return false
		}
		p.Others = append(p.Others, c.ID())
		return true
	}
	s.Cells = slices.DeleteFunc(slices.Clone(s.Cells), drop)
	s.Skipped = slices.DeleteFunc(slices.Clone(s.Skipped), func(r bench.Result) bool { return drop(r.Cell) })
}

// query applies --profile and --tags, which mean what the suite says.
func (p *Plan) query(s *Planned) error {
	want, err := s.Plan.Select(p.wanted())
	if err != nil {
		return exit.Usagef("suite %s has %w: %s", s.Name, err, p.others())
	}
	p.keep(s, want)
	return nil
}

// wanted is what --profile and --tags select.
func (p *Plan) wanted() suite.Query {
	return suite.Query{Profile: p.Options.Profile, Tags: p.Options.Tags, SkipTags: p.Options.SkipTags}
}

// others proposes the suites that know profile and tags.
func (p *Plan) others() string {
	var names []string
	for i := range p.Suites {
		if _, err := p.Suites[i].Plan.Select(p.wanted()); err == nil {
			names = append(names, p.Suites[i].Name)
		}
	}
	if len(names) == 0 {
		return "correct the name, or add it to the suite"
	}
	return "add it to the suite, or leave the suite out with --suite " + text.ShellWord(strings.Join(names, ","))
}

// filter applies --only and --skip over the cells of all chosen suites.
func (p *Plan) filter() error {
	if len(p.Options.Only) == 0 && len(p.Options.Skip) == 0 {
		return nil
	}
	var all []bench.Cell
	for i := range p.Suites {
		all = append(all, p.Suites[i].All()...)
	}
	f := matrix.Filter{Only: p.Options.Only, Skip: p.Options.Skip}
	_, others, err := f.Split(all)
	if err != nil {
		if why := p.Unlisted(); why != nil {
			return fmt.Errorf("%w; %s", err, strings.Join(why, "; "))
		}
		return exit.AsUsage(err)
	}
	if len(others) == len(all) && p.Unlisted() == nil {
		return exit.Usagef("--only and --skip leave none of %s: list the ids with 'accelgate plan --list'", text.Plural(len(all), "cell"))
	}
	dropped := SetOf(others)
	for i := range p.Suites {
		p.keep(&p.Suites[i], func(c bench.Cell) bool { return !dropped[c.ID()] })
	}
	return nil
}

// split keeps one shard of the cells that can be measured. Those that this host
// cannot run are in the first shard only.
func (p *Plan) split() error {
	if p.Options.Shard == "" {
		return nil
	}
	shard, err := matrix.ParseShard(p.Options.Shard)
	if err != nil {
		return exit.Usagef("--shard: %w", err)
	}
	packed, err := p.Shards(shard.Of)
	if err != nil {
		return err
	}
	if shard.Of > len(packed.Shards) { // so many were asked for: each loads what they would share
		if packed, err = p.apart(shard.Of); err != nil {
			return err
		}
	}
	if shard.Index > len(packed.Shards) {
		return exit.Usagef("--shard %s: the cells make only %s: use fewer", shard, text.Plural(len(packed.Shards), "shard"))
	}
	mine := SetOf(CellIDs(packed.Shards[shard.Index-1].Cells))
	for i := range p.Suites {
		s := &p.Suites[i]
		if shard.Index == 1 {
			for _, r := range s.Skipped {
				mine[r.Cell.ID()] = true
			}
		}
		p.keep(s, func(c bench.Cell) bool { return mine[c.ID()] })
	}
	return nil
}

// limit leaves out the cells over max_cells.
func (p *Plan) limit() {
	maximum := p.File.Limits.MaxCells
	if p.Options.MaxCells > 0 {
		maximum = p.Options.MaxCells
	}
	if maximum == 0 {
		return
	}
	limit := maximum
	for i := range p.Suites {
		s := &p.Suites[i]
		n := min(maximum, len(s.Cells))
		for _, c := range s.Cells[n:] {
			p.LeftOut = append(p.LeftOut, bench.LeftOut{Cell: c.ID(), Reason: "over the limit of " + text.Plural(limit, "cell")})
		}
		s.Cells, maximum = s.Cells[:n], maximum-n
	}
}
