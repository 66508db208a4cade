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
		case !reflect.DeepEqual(r.Host, merged.Host):
			return nil, fmt.Errorf("they are of different hosts behind the label %.80q: give each host its own label with --host-label", r.Host.Label)
		}
		if r.Base != merged.Base {
			return nil, fmt.Errorf("they were measured alternately with the bases %.80q and %.80q: measure all shards with one", merged.Base, r.Base)
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
		merged.Warnings = slices.Concat(merged.Warnings, r.Warnings)
	}
	if len(merged.MissingShards()) == 0 {
		merged.Shards = nil
	}
	merged.Unselected = unselectedByAll(runs)
	merged.LeftOut = merged.leftOut()
	if err := merged.Validate(); err != nil {
		return nil, fmt.Errorf("two runs hold the same cell, or one is damaged: %w", err)
	}
	return &merged, nil
}

func (r *Run) addContext(context map[string]string) error {
	joined := maps.Clone(r.Context)
	for key, value := range context {
		if known, ok := joined[key]; ok && known != value {
			if between := map[string]string{PairSeed: " ", Unpaired: "; ", NoEvidence: "; "}[key]; between != "" { // each has its own
				joined[key] = known + between + value
				continue
			}
			return fmt.Errorf("they were measured differently (%.80q is %.80q and %.80q): measure all shards alike", key, known, value)
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
	_, of, _ := strings.Cut(r.Shards[0], "/")
	n, _ := strconv.Atoi(of)
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
