package lowrank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

// Job is a comparison of a whole checkpoint.
type Job struct {
	// Original has the weights.
	Original Source
	// Factors has what was made of them elsewhere, under the names of
	// [Factors.Tensors]. If it is nil the weights are decomposed here.
	Factors  Source
	Settings Settings
	// Solver decomposes; nil is [svd.Go].
	Solver svd.Solver
	// Workers is how many parameters are worked on at once, 0 as many as there
	// are processors for Go.
	Workers int
	// Memory is how many bytes the parameters that are worked on may take
	// together, estimated, besides the checkpoints. 0 is 2 GiB. A parameter
	// that alone takes more is worked on alone.
	Memory int64
	// Shard is how many bytes of factors a file of [Job.Export] has at least,
	// unless it is the last. 0 is 1 GiB.
	Shard int64
}

// Item is a parameter that is to be compared.
type Item struct {
	Name   string
	Format tensor.DType
	Shape  []int
	Cost   int64   // see [Cost]
	Faults []Fault // why nothing can be computed, if that is already known
}

// check returns the job with its defaults.
func (j Job) check() (Job, error) {
	if j.Original == nil {
		return j, errors.New("no checkpoint to compare with: name one")
	}
	if err := j.Settings.check(j.Factors != nil); err != nil {
		return j, err
	}
	if j.Workers < 0 || j.Memory < 0 || j.Shard < 0 {
		return j, fmt.Errorf("%d workers, %d bytes of memory and %d of a file: give what is above 0, or 0 for the default", j.Workers,
			j.Memory, j.Shard)
	}
	if j.Solver == nil && j.Factors == nil {
		j.Solver = svd.Go()
	}
	j.Workers = cmp.Or(j.Workers, runtime.GOMAXPROCS(0))
	j.Memory = cmp.Or(j.Memory, 2<<30)
	j.Shard = cmp.Or(j.Shard, 1<<30)
	return j, nil
}

func (j Job) mode() Mode {
	if j.Factors != nil {
		return Verified
	}
	return Decomposed
}

func (j Job) solvers() []string {
	if j.Factors != nil {
		return nil
	}
	return []string{j.Solver.Name()}
}

// Work returns what is to be compared, in the order of the sources, and which
// targets are not decomposed. Factors without a target follow, as items
// that have failed.
func (j Job) Work() ([]Item, []Skip, error) {
	if _, err := j.check(); err != nil {
		return nil, nil, err
	}
	var items []Item
	var skipped []Skip
	taken := map[string]bool{}
	for _, name := range Targets(j.Original, j.Settings.patterns()) {
		item := newItem(j.Original, name)
		if reason := j.skip(item); reason != "" {
			skipped = append(skipped, Skip{name, reason})
			continue
		}
		taken[module(name)] = true
		items = append(items, item)
	}
	return append(items, j.extra(taken)...), skipped, nil
}

func newItem(source Source, name string) Item {
	t, err := source.Tensor(name)
	if err != nil {
		return Item{Name: name, Faults: []Fault{fault(Unreadable, "%v", err)}}
	}
	item := Item{Name: name, Format: t.DType, Shape: slices.Clone(t.Shape), Cost: Cost(t.Shape[0], t.Shape[1])}
	if epsilons[t.DType] == 0 {
		item.Faults = []Fault{fault(Format, "a weight of %s: convert it to %s", t.DType, formats)}
	}
	return item
}

// skip returns why a target is not decomposed, empty if it is.
func (j Job) skip(item Item) string {
	if len(item.Shape) != 2 {
		return ""
	}
	n, m := item.Shape[0], item.Shape[1]
	ratio := j.Settings.RankRatio
	switch {
	case min(n, m) < 2:
		return fmt.Sprintf("%d x %d has no two triplets to split", n, m)
	case ratio != 0 && TopK(n, m, ratio) == 0:
		return fmt.Sprintf("the ratio %v freezes none of %d triplets", ratio, min(n, m))
	}
	return ""
}

// extra returns the factors of modules that are not taken, each module once,
// under the name of its first factor.
func (j Job) extra(taken map[string]bool) []Item {
	if j.Factors == nil {
		return nil
	}
	var items []Item
	for _, name := range j.Factors.Names() {
		if module, ok := cutFactor(name); ok && !taken[module] {
			taken[module] = true
			items = append(items, Item{Name: name, Faults: []Fault{
				fault(Extra,
					"factors of %.200q, which is not a target that is decomposed: choose the patterns and the ratio that they were made with",
					module)}})
		}
	}
	return items
}

// Run compares all parameters. Once ctx is done no parameter is begun, and Run
// returns the context's error as soon as those that were are done.
func (j Job) Run(ctx context.Context) (Report, error) {
	j, err := j.check()
	if err != nil {
		return Report{}, err
	}
	items, skipped, err := j.Work()
	if err != nil {
		return Report{}, err
	}
	parameters, err := j.inspect(ctx, items)
	if err != nil {
		return Report{}, err
	}
	return newReport(j.Settings, j.mode(), j.solvers(), parameters, skipped), nil
}

// inspect compares items and returns the results in their order.
func (j Job) inspect(ctx context.Context, items []Item) ([]Parameter, error) {
	names := map[string]bool{}
	if j.Factors != nil {
		names = nameSet(j.Factors)
	}
	parameters := make([]Parameter, len(items))
	err := j.schedule(ctx, items, func(i int) {
		item := items[i]
		p := Parameter{Name: item.Name, Format: item.Format, Shape: item.Shape}
		if p.Faults = item.Faults; p.Faults == nil {
			p.High, p.Measurement = j.measure(ctx, item, names)
		}
		if ctx.Err() == nil {
			p.settle()
		}
		parameters[i] = p
	})
	return parameters, err
}

func (j Job) measure(ctx context.Context, item Item, names map[string]bool) (int, Measurement) {
	weight, err := j.Original.Tensor(item.Name)
	if err == nil {
		err = checkWeight(weight)
	}
	if errors.Is(err, errNotFinite) {
		return 0, Measurement{Faults: []Fault{fault(NotFinite, "%v", err)}}
	} else if err != nil {
		return 0, Measurement{Faults: []Fault{fault(Unreadable, "%v", err)}}
	}
	f, faults := j.factors(weight, item.Name, names)
	if faults != nil {
		return 0, Measurement{Faults: faults}
	}
	if ctx.Err() != nil {
		return 0, Measurement{}
	}
	return f.High(), Measure(weight, f, j.Settings)
}

// factors makes the factors of a weight, or reads them.
func (j Job) factors(weight tensor.Tensor, name string, names map[string]bool) (Factors, []Fault) {
	n, m := weight.Shape[0], weight.Shape[1]
	if j.Factors != nil {
		return readFactors(j.Factors, names, name, n, m)
	}
	f, err := Decompose(j.Solver, weight, TopK(n, m, j.Settings.RankRatio), j.Settings.Compute, j.Settings.Storage)
	if err != nil {
		return Factors{}, []Fault{fault(Undecomposed, "%v", err)}
	}
	return f, nil
}
