package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// Prune removes the entries of the host's baseline whose cells the configuration no
// longer has. With dry it prints them only.
func Prune(ctx context.Context, e *measure.Env, o *measure.HostOptions, dry bool) error {
	s, err := e.OpenPlan(ctx, &measure.Options{HostOptions: *o, MeasureOptions: measure.MeasureOptions{NoFetch: true}})
	if err != nil {
		return err
	}
	defer s.Close()
	p := s.Plan
	path, err := p.BaselineFile()
	if err != nil {
		return err
	}
	if why := p.Unlisted(); why != nil {
		return fmt.Errorf("nothing is removed: %s", strings.Join(why, "; "))
	}
	file, err := baseline.Load(path)
	if err != nil {
		return judge.MissingBaseline(err)
	}
	kept, removed := baseline.Prune(file, known(p))
	for _, id := range removed {
		fmt.Fprintf(e.Stdout, "remove %s\n", text.OneLine(id))
	}
	fmt.Fprintf(e.Stdout, "%s: %d of %s removed\n", path, len(removed), text.Plural(len(file.Entries), "entry"))
	if dry || len(removed) == 0 {
		return nil
	}
	return baseline.Save(path, kept)
}

// known returns whether the configuration has a cell of an id. Of a combination
// that this host cannot run now all sweeps are known, though they are not
// spelled out: a driver that is broken today must not cost a baseline.
func known(p *measure.Plan) func(id string) bool {
	has, stems := map[string]bool{}, []string(nil)
	for _, s := range p.Suites {
		for _, cell := range s.Plan.Cells {
			has[cell.ID()] = true
		}
		for _, r := range s.Plan.Skipped {
			stems = append(stems, strings.TrimSuffix(r.Cell.ID(), matrix.Plain))
		}
	}
	return func(id string) bool {
		return has[id] || slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(id, stem) })
	}
}
