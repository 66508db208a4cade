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
func (w *workplace) list(ctx context.Context, all []opened) error {
	var due []*opened
	for i := range all {
		one := &all[i]
		if one.plan.Listing == nil {
			continue
		}
		if b := one.of.Build; b != nil {
			b.OnlyPairs = false // what is not built cannot be listed
		}
		if one.unlisted = "only a run lists its cells"; one.wanted && !w.config.Options.Unlisted &&
			!slices.Contains(w.config.notListed, one.of.Name) {
			due = append(due, one)
		}
	}
	if len(due) == 0 {
		return nil
	}
	unbuilt, err := w.buildListed(ctx, all, due)
	if err != nil {
		return err
	}
	for _, one := range due {
		if one.unlisted = unbuilt.of(one.of.Name); one.unlisted != "" {
			continue
		}
		w.say("listing what suite " + one.of.Name + " measures")
		if one.plan, one.unlisted, err = one.plan.Listing.List(ctx); err != nil {
			return err
		}
		one.unlisted = Secrets(w.config.secrets()).Hide(one.unlisted)
	}
	for _, one := range due {
		if one.unlisted != "" {
			w.config.Warnings = append(w.config.Warnings, unknownCells(one.of.Name, one.unlisted))
		}
	}
	return nil
}

func unknownCells(suite, why string) string {
	return fmt.Sprintf("suite %s may have cells that are not known, because they cannot be listed: %s", suite, text.OneLine(why))
}

// buildListed builds what lists cells: all of the code under test where it is measured
// next, and nothing else where it is not.
func (w *workplace) buildListed(ctx context.Context, all []opened, due []*opened) (unbuilt failures, err error) {
	if w.config.Options.NoFetch {
		hold, unbuilt, err := w.build(ctx, func(name string) bool {
			return slices.ContainsFunc(due, func(o *opened) bool { return o.of.Name == name })
		})
		hold.Release()
		return unbuilt, err
	}
	if err := w.shield(ctx); err != nil {
		return nil, err
	}
	if w.void != "" {
		return failures{prepare.Whole: w.void}, nil
	}
	err = w.buildCode(ctx, func(name string) bool {
		return slices.ContainsFunc(all, func(o opened) bool { return o.wanted && o.of.Name == name }) &&
			!slices.Contains(w.config.notListed, name)
	})
	return w.unbuilt, err
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

// unselected are the cells that the selection leaves out. Those of suites that were not chosen
// and not listed are known as far as the reference has them.
func (p *Plan) unselected(ref *bench.Run) []string {
	if ref == nil || len(p.foreign) == 0 {
		return p.Others
	}
	others, known := slices.Clone(p.Others), SetOf(p.Others)
	for i := range ref.Results {
		if c := &ref.Results[i].Cell; slices.Contains(p.foreign, c.Suite) && !known[c.ID()] {
			others = append(others, c.ID())
		}
	}
	return others
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
		want, err := one.Plan.Select(p.wanted())
		return err == nil && !want(one.Plan.Listing.Named(id)), err
	}
	return false, nil
}

// buildCode builds the code under test once, and notes what failed. A base in the same folder is built
// already.
func (w *workplace) buildCode(ctx context.Context, wanted func(suite string) bool) (err error) {
	w.isBuilt = true
	if w.config.isBase && sameFolder(w.config.File.Dir, w.config.headDir) {
		return nil
	}
	w.hold, w.unbuilt, err = w.build(ctx, wanted)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(w.unbuilt)) {
		w.say(w.unbuilt[name])
	}
	if why := w.config.built.unbuilt; why != "" && w.unbuilt[prepare.Whole] == "" {
		w.unbuilt[prepare.Whole] = why
	}
	return nil
}

// failures are why builds failed, by suite; that of [prepare.Whole] is of all.
type failures map[string]string

func (f failures) of(suite string) string { return cmp.Or(f[suite], f[prepare.Whole]) }

// whyUnbuilt returns why a suite could not be built; "" if it was, or nothing was built yet.
func (w *workplace) whyUnbuilt(suite string) string { return w.unbuilt.of(suite) }

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
