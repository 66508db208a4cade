package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// shard is a part of the cells with its expected time.
type shard struct {
	Cells []bench.Cell
	Time  time.Duration // 0 where no time is known
}

// Sharding is how the cells are split, and what is expected of it.
type Sharding struct {
	Shards []shard
	// makespan is the time of the longest shard, bound what no packing into so
	// many can fall below. Both are 0 where no time is known.
	Makespan, Bound time.Duration
	Unknown         int // cells without a time in earlier runs
}

// Ratio is the longest shard over the bound, at least 1.
func (s Sharding) Ratio() float64 { return float64(s.Makespan) / float64(max(s.Bound, 1)) }

// Shards packs the cells into k parts that take equally long by the times of
// earlier runs, or into fewer where there are not so many groups. All jobs of a
// matrix must read the same files. Cells that must stay together do.
func (p *Plan) Shards(k int) (Sharding, error) {
	groups, unknown, err := p.groups(linkedCells)
	if err != nil {
		return Sharding{}, err
	}
	return pack(groups, unknown, k), nil
}

// apart is Shards with cells on several machines that share a load.
func (p *Plan) apart(k int) (Sharding, error) {
	groups, unknown, err := p.groups(grouped)
	return pack(groups, unknown, k), err
}

// Fit packs the cells into as few parts as take at most the given time each. If
// no number does, because a group alone takes longer, the parts are as many as
// bring the longest down to that group.
func (p *Plan) Fit(maximum time.Duration) (Sharding, error) {
	groups, unknown, err := p.groups(linkedCells)
	if err != nil {
		return Sharding{}, err
	}
	if len(p.Options.Durations) == 0 {
		return Sharding{}, exit.Usagef("--shards auto needs the times of cells: add --durations with the run.json of earlier runs")
	}
	if unknown == p.size() {
		return Sharding{}, exit.Usagef("--durations has no time of any cell of this plan: give runs of this configuration")
	}
	return fit(groups, unknown, maximum), nil
}

func fit(groups []shard, unknown int, maximum time.Duration) Sharding {
	var longest time.Duration
	for _, g := range groups {
		longest = max(longest, g.Time)
	}
	for k := 1; ; k++ {
		if s := pack(groups, unknown, k); s.Makespan <= max(maximum, longest) || k >= min(len(groups), matrix.MaxShards) {
			return s
		}
	}
}

// FitRun is [Plan.Fit] by a run alone, where no suite is opened: the cells take what they took in it,
// the median where it does not say.
func FitRun(run *bench.Run, maximum time.Duration) Sharding {
	var known []float64
	for i := range run.Results {
		if ms := run.Results[i].WallMS; ms > 0 {
			known = append(known, ms)
		}
	}
	if len(known) == 0 {
		return pack(make([]shard, 1), 1, 1)
	}
	fallback := stats.Median(known)
	var groups []shard
	for i := range run.Results {
		r := &run.Results[i]
		groups = append(groups, shard{[]bench.Cell{r.Cell}, milliseconds(cmp.Or(r.WallMS, fallback))})
	}
	return fit(groups, len(groups)-len(known), maximum)
}

// pack splits groups over k parts, longest first.
func pack(groups []shard, unknown, k int) Sharding {
	k = max(min(k, len(groups)), 1)
	costs := make([]int64, len(groups))
	timed := false
	for i, g := range groups {
		costs[i] = g.Time.Nanoseconds()
		timed = timed || g.Time > 0
	}
	if !timed {
		for i, g := range groups {
			costs[i] = int64(len(g.Cells))
		}
	}
	s := Sharding{Shards: make([]shard, k), Unknown: unknown}
	bins := packing.Spread(costs, k)
	for i, indexes := range bins {
		slices.Sort(indexes)
		for _, j := range indexes {
			s.Shards[i].Cells = append(s.Shards[i].Cells, groups[j].Cells...)
			s.Shards[i].Time += groups[j].Time
		}
	}
	if timed {
		s.Makespan, s.Bound = time.Duration(packing.Makespan(costs, bins)), time.Duration(packing.MakespanBound(costs, k))
	}
	return s
}

// groups returns the cells that must stay on one machine, those with one number, with their expected
// times, and how many cells have none. A cell and its A/A partner have one number, and, of together, those
// that share what their suite loads once.
func (p *Plan) groups(number func(*suite.Plan, []bench.Cell) []int) (groups []shard, unknown int, err error) {
	times, err := p.times()
	if err != nil {
		return nil, 0, err
	}
	var ids []string
	for _, s := range p.Suites {
		ids = append(ids, CellIDs(s.Cells)...)
	}
	all := median(times, ids)
	for _, s := range p.Suites {
		fallback, first := cmp.Or(median(times, CellIDs(s.Cells)), all), len(groups)
		for i, n := range p.related(&s, s.Cells, number(&s.Plan, s.Cells)) {
			if first+n == len(groups) {
				groups = append(groups, shard{})
			}
			took, known := times[s.Cells[i].ID()]
			if !known {
				took = fallback
				unknown++
			}
			g := &groups[first+n]
			g.Cells, g.Time = append(g.Cells, s.Cells[i]), g.Time+took*time.Duration(p.repeats(&s))
		}
	}
	return groups, unknown, nil
}

// linkedCells numbers cells such that those have one number that are A/A partners or share
// a load.
func linkedCells(of *suite.Plan, cells []bench.Cell) []int {
	numbers := grouped(of, cells)
	if len(of.Loads) == 0 {
		return numbers
	}
	return merge(numbers, func(link func(i, j int)) {
		first := map[string]int{} // cell of a load
		for i, c := range cells {
			key := of.Loads[c.ID()]
			if j, known := first[key]; known && key != "" {
				link(i, j)
			} else {
				first[key] = i
			}
		}
	})
}

// merge gives those one number that are linked, and those that have one number with them. Numbers follow the first that
// has each.
func merge(numbers []int, links func(link func(i, j int))) []int {
	merged := make([]int, len(numbers)) // the number that another one became, at most itself
	for i := range merged {
		merged[i] = i
	}
	find := func(n int) int {
		for merged[n] != n {
			n = merged[n]
		}
		return n
	}
	links(func(i, j int) {
		one, other := find(numbers[i]), find(numbers[j])
		merged[max(one, other)] = min(one, other)
	})
	dense := map[int]int{}
	for i, n := range numbers {
		n = find(n)
		if _, known := dense[n]; !known {
			dense[n] = len(dense)
		}
		numbers[i] = dense[n]
	}
	return numbers
}
