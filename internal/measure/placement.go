package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// assignCells decides on which device each cell is measured. Cells are dealt out in their order in the
// whole matrix, so that no filter moves one, and a cell gets the device of its A/A partner. Where
// the times of earlier runs are known, cells are packed by them.
func (p *Plan) assignCells(devices []bench.Device) (placed map[string]bench.Device, moved int, err error) {
	if len(devices) == 0 {
		return nil, 0, nil
	}
	var earlier earlierRuns
	if len(devices) > 1 {
		if earlier, err = p.recorded(); err != nil {
			return nil, 0, err
		}
	}
	placed = map[string]bench.Device{}
	for need, seats := range p.assignments(devices) {
		lanes := p.lanesFor(devices, need)
		at, n := shareOut(seats, lanes, earlier)
		moved += n
		for i, s := range seats {
			for _, id := range s.cells {
				if len(lanes) > 0 {
					placed[id] = lanes[at[i]]
				}
			}
		}
	}
	return placed, moved, nil
}

// recorded is what --durations says, else the run that is about to be replaced, if it can be read.
func (p *Plan) recorded() (earlierRuns, error) {
	if len(p.Options.Durations) > 0 {
		return p.earlierRuns(p.Options.Durations)
	}
	earlier, err := p.earlierRuns([]string{p.OutPath("run.json")})
	if err != nil {
		return earlierRuns{}, nil
	}
	return earlier, nil
}

// assignment is cells that stay together on one device.
type assignment struct {
	number int // in the order of the matrix
	cells  []string
}

// assignments returns the cells by what they need. With a shard, only its own cells use the devices.
func (p *Plan) assignments(devices []bench.Device) map[needs][]assignment {
	all, first := map[needs][]assignment{}, 0
	for _, one := range p.Suites {
		cells := one.Plan.Cells
		if p.Options.Shard != "" {
			cells = one.Cells
		}
		next := first
		type part struct {
			group int
			needs needs
		}
		at := map[part]int{} // in all
		for i, n := range p.related(&one, cells, grouped(&one.Plan, cells)) {
			need := p.plainest(devices, p.need(cells[i]))
			next = max(next, first+n+1)
			k, known := at[part{n, need}]
			if !known {
				k = len(all[need])
				at[part{n, need}] = k
				all[need] = append(all[need], assignment{number: first + n})
			}
			s := &all[need][k]
			s.cells = append(s.cells, cells[i].ID())
		}
		first = next
	}
	return all
}

// shareOut returns the lane of each seat, and how many seats leave the one that they had. Without
// times, each gets its turn.
func shareOut(seats []assignment, lanes []bench.Device, earlier earlierRuns) (at []int, moved int) {
	at = make([]int, len(seats))
	costs := costsOf(seats, earlier.times)
	if len(lanes) < 2 || costs == nil {
		for i, s := range seats {
			at[i] = s.number % max(len(lanes), 1)
		}
		return at, 0
	}
	return divide(costs, homes(seats, lanes, earlier.devices), len(lanes))
}

// costsOf are the times of seats in microseconds, the median for cells without one; nil if no time is
// known. No cell counts for more than a day, so that sums stay small whatever a file says.
func costsOf(seats []assignment, times map[string]time.Duration) []int64 {
	var ids []string
	for _, s := range seats {
		ids = append(ids, s.cells...)
	}
	fallback := median(times, ids)
	if fallback == 0 {
		return nil
	}
	costs := make([]int64, len(seats))
	for i, s := range seats {
		for _, id := range s.cells {
			costs[i] += max(1, min(cmp.Or(times[id], fallback), 24*time.Hour).Microseconds())
		}
	}
	return costs
}

// homes are the lanes on which seats were measured last, -1 for others.
func homes(seats []assignment, lanes []bench.Device, devices map[string]string) []int {
	at := make([]int, len(seats))
	for i, s := range seats {
		at[i] = slices.IndexFunc(lanes, func(d bench.Device) bool { return d.String() == devices[s.cells[0]] })
	}
	return at
}

// worthMoving is how much longer all may take before jobs leave their homes: devices of one
// model differ, and a job that moves may look slower or faster than it is.
const worthMoving = 1.1

// divide divides jobs among bins, longest first. Those with a home stay there, unless that
// makes the fullest bin fuller by more than a tenth. It returns the bin of each job, and how many left
// their homes.
func divide(costs []int64, home []int, bins int) (at []int, moved int) {
	free := packing.Spread(costs, bins)
	stay := around(costs, home, bins)
	if float64(packing.Makespan(costs, stay)) <= worthMoving*float64(packing.Makespan(costs, free)) {
		free = stay
	}
	at = make([]int, len(costs))
	for bin, jobs := range free {
		for _, i := range jobs {
			if at[i] = bin; home[i] >= 0 && home[i] != bin {
				moved++
			}
		}
	}
	return at, moved
}

// around puts jobs with a home there, and then the others, longest first, into the bins that
// hold least.
func around(costs []int64, home []int, bins int) [][]int {
	parts, loads := make([][]int, bins), make([]int64, bins)
	put := func(i, bin int) {
		parts[bin] = append(parts[bin], i)
		loads[bin] += costs[i]
	}
	var rest []int
	for i, bin := range home {
		if bin < 0 {
			rest = append(rest, i)
			continue
		}
		put(i, bin)
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	for _, i := range rest {
		put(i, slices.Index(loads, slices.Min(loads)))
	}
	return parts
}
