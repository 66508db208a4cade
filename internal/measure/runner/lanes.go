package runner

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
)

// phase measures a round of the cells of one width, on all lanes at once.
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
	return context.Cause(ctx)
}

// phases are the cells of each device, in phases of devices that need equally many at once.
func (r *run) phases() (phases []map[bench.Device][]int) {
	at := map[int]map[bench.Device][]int{}
	for i, c := range r.cells {
		var d bench.Device
		if r.Device != nil {
			d = r.Device(c)
		}
		width := len(d.Members())
		if at[width] == nil {
			at[width] = map[bench.Device][]int{}
		}
		at[width][d] = append(at[width][d], i)
	}
	for _, width := range slices.Sorted(maps.Keys(at)) {
		for d, indexes := range at[width] {
			at[width][d] = r.together(indexes)
		}
		phases = append(phases, at[width])
	}
	return phases
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
