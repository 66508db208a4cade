package lowrank

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// partSchema is the version of [Part] documents that is written and read.
const partSchema = 1

// maxPart is the largest document that [ReadPart] reads, in bytes: some fifty
// thousand parameters.
const maxPart = 64 << 20

// Part is what one rank of several has found. Parts of the same inputs and
// settings are put together by [Merge].
type Part struct {
	Schema   int      `json:"schema"`
	Settings Settings `json:"settings"`
	Mode     Mode     `json:"mode"`
	Inputs   string   `json:"inputs"` // SHA-256 of all tensors that are compared, of any rank
	Strategy Strategy `json:"strategy"`
	World    int      `json:"world"`
	Rank     int      `json:"rank"`  // from 0
	Items    int      `json:"items"` // of all ranks
	Solvers  []string `json:"solvers,omitempty"`
	Entries  []Entry  `json:"entries"` // by ascending index
	Skipped  []Skip   `json:"skipped,omitempty"`
}

// Entry is a parameter, and its place among all items.
type Entry struct {
	Index     int       `json:"index"`
	Parameter Parameter `json:"parameter"`
}

// RunPart compares the parameters of one of world ranks, as [Job.Run] does
// those of all. It reads the tensors of the other ranks too, for the digest of
// the inputs.
func (j Job) RunPart(ctx context.Context, strategy Strategy, world, rank int) (Part, error) {
	j, err := j.check()
	if err != nil {
		return Part{}, err
	}
	items, skipped, err := j.Work()
	if err != nil {
		return Part{}, err
	}
	assignment, err := Assign(items, world, strategy)
	if err != nil {
		return Part{}, err
	}
	if rank < 0 || rank >= world {
		return Part{}, fmt.Errorf("rank %d of %d: count them from 0", rank, world)
	}
	inputs, err := j.digest(ctx, items)
	if err != nil {
		return Part{}, err
	}
	entries, err := j.entries(ctx, items, assignment.Ranks[rank])
	return Part{Schema: partSchema, Settings: j.Settings, Mode: j.mode(), Inputs: inputs, Strategy: strategy, World: world, Rank: rank,
		Items: len(items), Solvers: j.solvers(), Entries: entries, Skipped: skipped}, err
}

func (j Job) entries(ctx context.Context, items []Item, indices []int) ([]Entry, error) {
	mine := make([]Item, len(indices))
	for at, i := range indices {
		mine[at] = items[i]
	}
	parameters, err := j.inspect(ctx, mine)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(indices))
	for at, i := range indices {
		entries[at] = Entry{i, parameters[at]}
	}
	return entries, nil
}

// Write writes the document that [ReadPart] reads.
func (p Part) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(p)
}

// Merge puts the parts of all ranks together, in any order. The report is that
// of [Job.Run], to the last bit if all hosts compute alike. Ranks that are
// missing or occur twice, parts of other settings or inputs, and parameters
// that no part has, or two have, are errors.
func Merge(parts []Part) (Report, error) {
	if len(parts) == 0 {
		return Report{}, fmt.Errorf("no parts: name those of all ranks")
	}
	first := parts[0]
	ranks := map[int]bool{}
	var entries []Entry
	var solvers []string
	for _, p := range parts {
		if err := p.check(); err != nil {
			return Report{}, fmt.Errorf("part of rank %d: %w", p.Rank, err)
		}
		if err := p.belongs(first); err != nil {
			return Report{}, err
		}
		if ranks[p.Rank] {
			return Report{}, fmt.Errorf("two parts of rank %d: name the part of each rank once", p.Rank)
		}
		ranks[p.Rank] = true
		entries = append(entries, p.Entries...)
		solvers = append(solvers, p.Solvers...)
	}
	for rank := range first.World {
		if !ranks[rank] {
			return Report{}, fmt.Errorf("no part of rank %d of %d: run it, or name its file too", rank, first.World)
		}
	}
	parameters, err := gather(entries, first.Items)
	if err != nil {
		return Report{}, err
	}
	slices.Sort(solvers)
	return newReport(first.Settings, first.Mode, slices.Compact(solvers), parameters, first.Skipped), nil
}

// belongs returns an error if p is of another run than first.
func (p Part) belongs(first Part) error {
	ours, err := json.Marshal(p.Settings)
	if err != nil {
		return err
	}
	theirs, err := json.Marshal(first.Settings)
	switch {
	case err != nil:
		return err
	case string(ours) != string(theirs) || p.Mode != first.Mode:
		return fmt.Errorf("rank %d has the settings %.300s (%s), rank %d %.300s (%s): run all with the same", p.Rank, ours, p.Mode,
			first.Rank, theirs, first.Mode)
	case p.Inputs != first.Inputs || p.Items != first.Items || !slices.Equal(p.Skipped, first.Skipped):
		return fmt.Errorf("ranks %d and %d have compared other tensors (digests %.12s and %.12s): run all on the same revision", p.Rank,
			first.Rank, p.Inputs, first.Inputs)
	case p.World != first.World || p.Strategy != first.Strategy:
		return fmt.Errorf("rank %d is one of %d by %s, rank %d one of %d by %s: run all with the same", p.Rank, p.World, p.Strategy,
			first.Rank, first.World, first.Strategy)
	}
	return nil
}

// gather puts each parameter into its place.
func gather(entries []Entry, items int) ([]Parameter, error) {
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Index - b.Index })
	parameters := make([]Parameter, 0, len(entries))
	names := map[string]bool{}
	for at, e := range entries {
		name := e.Parameter.Name
		switch {
		case e.Index > at:
			return nil, fmt.Errorf("no part has parameter %d of %d: run all ranks with the same program", at, items)
		case e.Index < at || names[name]:
			return nil, fmt.Errorf("two parts have parameter %d, %.80q: run all ranks with the same program", e.Index, name)
		}
		names[name] = true
		parameters = append(parameters, e.Parameter)
	}
	if len(parameters) < items {
		return nil, fmt.Errorf("no part has parameter %d of %d: run all ranks with the same program", len(parameters), items)
	}
	return parameters, nil
}
