package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
)

// phase measures a round of the cells of one phase, on all of its lanes at once.
func (r *run) phase(ctx context.Context, lanes map[bench.Device][]int, round int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var lane sync.WaitGroup
	for d, indexes := range lanes {
		lane.Go(func() {
			if err := r.lane(ctx, d, indexes, round); err != nil {
				cancel(err)
			}
		})
	}
	lane.Wait()
	if err := context.Cause(ctx); !errors.Is(err, errOver) {
		return err
	}
	return nil // what was not measured is left out
}

// phases are the cells of each device, in phases of devices that need equally many at once and have none in common.
func (r *run) phases() (phases []map[bench.Device][]int) {
	at := map[bench.Device][]int{}
	var lanes []bench.Device // in the order of their first cells
	for i, c := range r.cells {
		var d bench.Device
		if r.Device != nil {
			d = r.Device(c)
		}
		if at[d] == nil {
			lanes = append(lanes, d)
		}
		at[d] = append(at[d], i)
	}
	slices.SortStableFunc(lanes, func(a, b bench.Device) int { return cmp.Compare(len(a.Members()), len(b.Members())) })
	for _, d := range lanes {
		i := slices.IndexFunc(phases, func(p map[bench.Device][]int) bool { return beside(p, d) })
		if i < 0 {
			i = len(phases)
			phases = append(phases, map[bench.Device][]int{})
		}
		phases[i][d] = r.together(at[d])
	}
	return phases
}

// beside reports whether a lane can be busy at the same time as those of a phase.
func beside(phase map[bench.Device][]int, lane bench.Device) bool {
	for other := range phase {
		if len(other.Members()) != len(lane.Members()) || other.Overlaps(lane) {
			return false
		}
	}
	return true
}

// together moves the cells of each group to the first of them.
func (r *run) together(indexes []int) []int {
	if r.Group == nil {
		return indexes
	}
	members := map[string][]int{}
	for _, i := range indexes {
		members[r.Group(r.cells[i])] = append(members[r.Group(r.cells[i])], i)
	}
	ordered := make([]int, 0, len(indexes))
	for _, i := range indexes {
		group := r.Group(r.cells[i])
		if group == "" {
			ordered = append(ordered, i)
			continue
		}
		ordered = append(ordered, members[group]...)
		members[group] = nil
	}
	return ordered
}
