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

// phases deals the cells out to the devices, in phases of one width each.
func (r *run) phases() (phases []map[bench.Device][]int) {
	at := map[int]map[bench.Device][]int{}
	for i, c := range r.cells {
		lane := i
		if r.Lane != nil {
			lane = r.Lane(c)
		}
		width := r.width(c)
		if at[width] == nil {
			at[width] = map[bench.Device][]int{}
		}
		d := On(r.Devices, width, lane)
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
		switch group := r.Group(r.cells[i]); {
		case group == "":
			ordered = append(ordered, i)
		default:
			ordered = append(ordered, members[group]...)
			members[group] = nil
		}
	}
	return ordered
}

func (r *run) width(c bench.Cell) int {
	if r.Width == nil {
		return 1
	}
	return r.Width(c)
}

// On returns the device of a lane of cells that need width of the devices: of four, lane 1
// of width 2 has the last two. Devices over the last whole lane stay idle. It is the zero
// value where there are no devices.
func On(devices []bench.Device, width, lane int) bench.Device {
	lanes := len(devices) / width
	switch {
	case lanes == 0:
		return bench.Device{}
	case width == 1:
		return devices[lane%lanes]
	}
	first := lane % lanes * width
	return bench.Group(devices[first : first+width])
}
