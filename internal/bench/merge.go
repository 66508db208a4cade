package bench

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Merge joins the runs of one host's shards to one: each measured a part of the
// cells. It is an error if they are not of one revision and machine, if they
// describe a metric differently, or if two of them measured the same cell. A
// cell counts as left out or unselected only if no run measured it, and as
// unselected only if no run should have.
func Merge(runs []*Run) (*Run, error) {
	merged := *runs[0]
	for _, r := range runs[1:] {
		switch {
		case r.Revision != merged.Revision:
			return nil, fmt.Errorf("they are of commits %.80q and %.80q: merge runs of one commit", merged.Revision, r.Revision)
		case len(r.Shards) > 0 && len(merged.Shards) > 0 && of(r.Shards[0]) != of(merged.Shards[0]):
			return nil, fmt.Errorf("they are shards of %s and of %s: merge runs of one plan", of(merged.Shards[0]), of(r.Shards[0]))
		}
		if err := merged.addHost(r); err != nil {
			return nil, err
		}
		if r.Base != merged.Base {
			return nil, fmt.Errorf("they were measured alternately with the bases %.80q and %.80q: measure all shards with one",
				merged.Base, r.Base)
		}
		if err := merged.addMetrics(r.Metrics); err != nil {
			return nil, err
		}
		if err := merged.addContext(r.Context); err != nil {
			return nil, err
		}
		merged.Calibration = merged.Calibration.join(r.Calibration)
		merged.Shards = slices.Concat(merged.Shards, r.Shards)
		merged.Results = slices.Concat(merged.Results, r.Results)
		merged.LeftOut = slices.Concat(merged.LeftOut, r.LeftOut)
		for _, w := range r.Warnings {
			if !slices.Contains(merged.Warnings, w) {
				merged.Warnings = append(slices.Clip(merged.Warnings), w)
			}
		}
	}
	if len(merged.MissingShards()) == 0 {
		merged.Shards = nil
	}
	merged.Unselected = unselectedByAll(runs)
	merged.LeftOut = merged.leftOut()
	if len(runs) == 1 {
		return &merged, nil
	}
	if err := merged.Validate(); err != nil {
		return nil, fmt.Errorf("two runs hold the same cell, or one is damaged: %w", err)
	}
	return &merged, nil
}

// addHost keeps what is true of the hosts of both. Jobs of a batch system run on any node of a kind, whose driver or
// memory may differ a little.
func (r *Run) addHost(other *Run) error {
	a, b := r.Host, other.Host
	b.Driver, b.MemoryGiB = a.Driver, a.MemoryGiB
	if b.Machine != "" {
		b = other.Host
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("they are of different hosts behind the label %.80q (%s and %s): give each host its own label with --host-label",
			a.Label, r.described(), other.described())
	}
	for _, fact := range []struct{ what, one, other string }{
		{"driver", a.Driver, other.Host.Driver}, {"memory", fmt.Sprint(a.MemoryGiB), fmt.Sprint(other.Host.MemoryGiB)},
	} {
		if fact.one != fact.other {
			r.Warnings = append(slices.Clip(r.Warnings), fmt.Sprintf("nodes of this host differ in %s, %.80q and %.80q: "+
				"compare small changes in pairs (--ab)", fact.what, fact.one, fact.other))
		}
	}
	return nil
}

// described names the device of a run, and its shards.
func (r *Run) described() string {
	if len(r.Shards) == 0 {
		return fmt.Sprintf("%.80q", r.Host.Device())
	}
	return fmt.Sprintf("shard %s on %.80q", r.Shards[len(r.Shards)-1], r.Host.Device())
}

// of is the number of parts that a shard is one of.
func of(shard string) string {
	_, n, _ := strings.Cut(shard, "/")
	return n
}

// ofShards are the conditions of which each shard has its own value, with what joins them.
var ofShards = map[string]string{PairSeed: " ", Unpaired: "; ", NoEvidence: "; ", BatchJob: " "}

func (r *Run) addContext(context map[string]string) error {
	joined := maps.Clone(r.Context)
	for key, value := range context {
		if known, ok := joined[key]; ok && known != value {
			between, several := ofShards[key]
			if !several {
				return fmt.Errorf("they were measured differently (%.80q is %.80q and %.80q): measure all shards alike", key, known, value)
			}
			if key != BatchJob || !slices.Contains(strings.Fields(known), value) { // a job may measure several shards
				joined[key] = known + between + value
			}
			continue
		}
		if joined == nil {
			joined = map[string]string{}
		}
		joined[key] = value
	}
	r.Context = joined
	return nil
}

// MissingShards lists the parts "k/n" that a run of shards lacks; nil for a run
// of the whole matrix.
func (r *Run) MissingShards() (missing []string) {
	if len(r.Shards) == 0 {
		return nil
	}
	n, _ := strconv.Atoi(of(r.Shards[0]))
	for k := 1; k <= n; k++ {
		if part := fmt.Sprintf("%d/%d", k, n); !slices.Contains(r.Shards, part) {
			missing = append(missing, part)
		}
	}
	return missing
}

func (r *Run) addMetrics(metrics []Metric) error {
	for _, m := range metrics {
		known := r.Metric(m.Name)
		if known == nil {
			r.Metrics = append(slices.Clip(r.Metrics), m)
		} else if *known != m {
			return fmt.Errorf("they describe the metric %q differently: measure with one configuration", m.Name)
		}
	}
	return nil
}

// leftOut lists each cell once that was left out and that no run measured.
func (r *Run) leftOut() (out []LeftOut) {
	if len(r.LeftOut) == 0 {
		return nil
	}
	seen := make(map[string]bool, len(r.Results))
	for i := range r.Results {
		seen[r.Results[i].Cell.ID()] = true
	}
	for _, l := range r.LeftOut {
		if !seen[l.Cell] {
			seen[l.Cell] = true
			out = append(out, l)
		}
	}
	return out
}

// unselectedByAll lists the cells that each run leaves to others.
func unselectedByAll(runs []*Run) (ids []string) {
	count := map[string]int{}
	for _, r := range runs {
		for _, id := range r.Unselected {
			if count[id]++; count[id] == len(runs) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
