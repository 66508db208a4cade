package measure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/prepare"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// list has programs list the cells of suites that have none yet, after what builds them.
// It notes which could not be listed.
func (p *Plan) list(ctx context.Context, all []opened) error {
	var due []*opened
	for i := range all {
		one := &all[i]
		if one.plan.Listing == nil {
			continue
		}
		if b := one.of.Build; b != nil {
			b.OnlyPairs = false // what is not built cannot be listed
		}
		if one.unlisted = "only a run lists its cells"; one.wanted && !p.Options.Unlisted &&
			!slices.Contains(p.Options.notListed, one.of.Name) {
			due = append(due, one)
		}
	}
	if len(due) == 0 {
		return nil
	}
	unbuilt, err := p.buildListed(ctx, all, due)
	if err != nil {
		return err
	}
	for _, one := range due {
		if one.unlisted = unbuilt(one.of.Name); one.unlisted != "" {
			continue
		}
		p.say("listing what suite " + one.of.Name + " measures")
		if one.plan, one.unlisted, err = one.plan.Listing.List(ctx); err != nil {
			return err
		}
		one.unlisted = Secrets(p.Secrets()).Hide(one.unlisted)
	}
	for _, one := range due {
		if one.unlisted != "" {
			p.Warnings = append(p.Warnings, unknownCells(one.of.Name, one.unlisted))
		}
	}
	return nil
}

func unknownCells(suite, why string) string {
	return fmt.Sprintf("suite %s may have cells that are not known, because they cannot be listed: %s", suite, text.OneLine(why))
}

// buildListed builds what lists cells: all of the code under test where it is measured
// next, and nothing else where it is not. The function says why a suite could not be built.
func (p *Plan) buildListed(ctx context.Context, all []opened, due []*opened) (unbuilt func(suite string) string, err error) {
	wanted := func(name string) bool {
		return slices.ContainsFunc(due, func(o *opened) bool { return o.of.Name == name })
	}
	if p.Options.NoFetch {
		c, hold, failed, err := p.build(ctx, p.builds(wanted))
		hold.Release()
		return func(name string) string { return whyUnbuilt(c, failed, name) }, err
	}
	wanted = func(name string) bool {
		return slices.ContainsFunc(all, func(o opened) bool { return o.wanted && o.of.Name == name }) &&
			!slices.Contains(p.Options.notListed, name)
	}
	if err := p.shield(ctx); err != nil {
		return nil, err
	}
	if why := p.Options.void; why != "" {
		return func(string) string { return why }, nil
	}
	if err := p.buildCode(ctx, wanted); err != nil {
		return nil, err
	}
	return p.whyUnbuilt, nil
}

// whyUnbuilt returns why a suite could not be built; "" if it was.
func whyUnbuilt(c *prepare.Checkout, failed map[string]prepare.Failure, suite string) string {
	for _, name := range []string{suite, prepare.Whole} {
		if f, ok := failed[name]; ok {
			return c.Explain(f)
		}
	}
	return ""
}

// Unlisted says of which chosen suites cells may be unknown, and why; nil if all are known.
func (p *Plan) Unlisted() (why []string) {
	for _, one := range p.Suites {
		if one.Unlisted != "" {
			why = append(why, unknownCells(one.Name, one.Unlisted))
		}
	}
	return why
}

// unlisted is the result of a suite that has cells which nothing measured: no run without
// them passes.
func (s *Planned) unlisted(shard string) []bench.Result {
	if s.Unlisted == "" {
		return nil
	}
	r := bench.Result{Cell: bench.ListOfCells(s.Name, shard)}
	suite.Fail(&r, bench.CauseStart, s.Unlisted)
	return []bench.Result{r}
}

// declareForeign declares the cells of suites that were not chosen and not listed, as far as
// the reference has them.
func (p *Plan) declareForeign(ref *bench.Run) {
	if ref == nil || len(p.foreign) == 0 {
		return
	}
	known := SetOf(p.Others)
	for i := range ref.Results {
		if c := &ref.Results[i].Cell; slices.Contains(p.foreign, c.Suite) && !known[c.ID()] {
			p.Others = append(p.Others, c.ID())
		}
	}
}

// Foreign reports whether a suite was not chosen, and its cells are not known.
func (p *Plan) Foreign(suite string) bool { return slices.Contains(p.foreign, suite) }

// LeavesOut reports whether profile and tags leave out a cell of a suite that is not listed
// here. The id may come from a run.
func (p *Plan) LeavesOut(name, id string) (bool, error) {
	for _, one := range p.Suites {
		if one.Name != name || one.Plan.Listing == nil {
			continue
		}
		want, err := one.Plan.Select(suite.Query{Profile: p.Options.Profile, Tags: p.Options.Tags, SkipTags: p.Options.SkipTags})
		return err == nil && !want(one.Plan.Listing.Named(id)), err
	}
	return false, nil
}

// unbuiltHead returns why [Env.Build] could not build the code under test; "" of the base.
func (p *Plan) unbuiltHead() string {
	if p.Options.isBase {
		return ""
	}
	return p.Options.unbuilt
}

// buildCode builds the code under test once for this plan, and notes what failed. A base in the same folder is built
// already.
func (p *Plan) buildCode(ctx context.Context, wanted func(suite string) bool) error {
	if p.Options.isBase && sameFolder(p.File.Dir, p.Options.headDir) {
		p.whyUnbuilt = func(string) string { return "" }
		return nil
	}
	c, hold, failed, err := p.build(ctx, p.builds(wanted))
	p.hold = hold
	if err != nil {
		return err
	}
	p.whyUnbuilt = func(name string) string { return cmp.Or(whyUnbuilt(c, failed, name), p.unbuiltHead()) }
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		p.say(c.Explain(failed[name]))
	}
	return nil
}

// Known returns the ids of the cells of all suites, and whether these are all.
func (p *Plan) Known() (ids []string, all bool) {
	ids, all = slices.Clone(p.Others), len(p.foreign) == 0
	for _, out := range p.LeftOut {
		ids = append(ids, out.Cell)
	}
	for i := range p.Suites {
		ids = append(ids, CellIDs(p.Suites[i].All())...)
		all = all && p.Suites[i].Unlisted == ""
	}
	return ids, all
}
