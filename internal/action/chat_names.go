package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// checkNames refuses a waiver for a cell or metric that neither the configuration nor a
// baseline has: once merged, it would accept nothing.
func (t talk) checkNames(ctx context.Context, cell, metric string) error {
	known, err := t.metricsByCell(ctx)
	if err != nil {
		return quoted(err)
	}
	metrics, ok := known[cell]
	switch {
	case !ok:
		return fmt.Errorf("there is no cell %s: %s",
			quoteCode(cell), nearestOr(cell, slices.Sorted(maps.Keys(known)), "`accelgate list --cells` lists the cells"))
	case len(metrics) > 0 && !slices.Contains(metrics, metric):
		return fmt.Errorf("the cell has no metric %s: %s",
			quoteCode(metric), nearestOr(metric, metrics, "use one of "+quoteCode(strings.Join(metrics, ", "))))
	}
	return nil
}

// nearestOr proposes the known name that is nearest to one; otherwise where there is none.
func nearestOr(name string, known []string, otherwise string) string {
	if near := text.NearestID(name, known); near != "" {
		return "did you mean " + quoteCode(near) + "?"
	}
	return otherwise
}

// metricsByCell lists the cells of the configuration and of its baselines with the metrics
// that are known. A suite whose data is on the hosts cannot be opened here; the baselines
// have its cells.
func (t talk) metricsByCell(ctx context.Context) (map[string][]string, error) {
	o := t.in.options
	o.NoFetch, o.Unlisted = true, true
	c, err := t.Env.Configure(&o)
	if err != nil {
		return nil, err
	}
	baselines, unread := judge.Baselines(ctx, t.Env, &o, c.File)
	known := map[string][]string{}
	add := func(id string, metrics []string) {
		known[id] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(known[id], metrics))))
	}
	for _, b := range baselines {
		if b.File == nil {
			continue
		}
		for i := range b.File.Entries {
			var names []string
			for _, m := range b.File.Entries[i].Metrics {
				names = append(names, m.Name)
			}
			add(b.File.Entries[i].CaseID, names)
		}
	}
	s, unopened := t.Env.Open(ctx, &c)
	if unopened == nil {
		defer s.Close()
		for _, one := range s.Plan.Suites {
			for _, id := range measure.CellIDs(one.All()) {
				add(id, namesOf(s.Plan.Metrics))
			}
		}
		for _, id := range s.Plan.Others { // whose metrics are not known
			add(id, nil)
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("no cells are known here: %w: add the waiver to the file by hand", errors.Join(unopened, unread))
	}
	return known, nil
}

func namesOf(metrics []bench.Metric) (names []string) {
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	return names
}
