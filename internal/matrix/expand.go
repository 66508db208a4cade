package matrix

import (
	"fmt"
	"iter"
	"slices"
)

// Expand returns the points of the matrix; no two have the same id. The error
// names the axis, sweep, exclude or include that is wrong, a predicate that
// failed, or says that there are more than [maxCells]. That count takes no
// notice of Skip and Exclude, so that it is the same on every host.
func (s Spec) Expand() ([]Point, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	e := expansion{Spec: &s}
	if err := e.bind(); err != nil {
		return nil, err
	}
	n, err := e.count()
	if err != nil {
		return nil, err
	}
	e.points = make([]Point, 0, n+len(s.Include))
	for c := range s.combinations() {
		if err := e.expand(c); err != nil {
			return nil, err
		}
	}
	if err := e.include(); err != nil {
		return nil, err
	}
	return e.points, nil
}

// expansion is the state of one Expand.
type expansion struct {
	*Spec
	when    *condition
	applies []*condition // by sweep
	options [][]string   // by sweep in a product; "" leaves the variable out
	points  []Point
}

func (e *expansion) bind() (err error) {
	if e.when, err = bind(e.When, e.Axes); err != nil {
		return fmt.Errorf("when: %w", err)
	}
	for i := range e.Sweeps {
		sweep := &e.Sweeps[i]
		applies, err := bind(sweep.When, e.Axes)
		if err != nil {
			return fmt.Errorf("sweep %s: when: %w", sweep.Env, err)
		}
		e.applies = append(e.applies, applies)
		options := slices.Clone(sweep.Values)
		if i := slices.IndexFunc(options, sweep.standard); i >= 0 {
			options = slices.Insert(slices.Delete(options, i, i+1), 0, "")
		}
		e.options = append(e.options, options)
	}
	return nil
}

// combinations in order. They share memory: each is valid until the next.
func (s *Spec) combinations() iter.Seq[Combination] {
	sizes := make([]int, len(s.Axes))
	for i, a := range s.Axes {
		sizes[i] = len(a.Values)
	}
	return func(yield func(Combination) bool) {
		for at := range odometer(sizes) {
			if !yield(Combination{s.Axes, at}) {
				return
			}
		}
	}
}

// odometer yields all tuples with 0 <= tuple[i] < sizes[i], the first place
// slowest. They share memory. Every size must be positive.
func odometer(sizes []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		at := make([]int, len(sizes))
		for yield(at) {
			i := len(at) - 1
			for ; i >= 0 && at[i] == sizes[i]-1; i-- {
				at[i] = 0
			}
			if i < 0 {
				return
			}
			at[i]++
		}
	}
}

// count returns the number of cells before Skip, Exclude and Include.
func (e *expansion) count() (int, error) {
	n := 0
	var buffer []int
	for c := range e.combinations() {
		sweeps, exists, err := e.sweeps(c, buffer[:0])
		if err != nil {
			return 0, err
		}
		if exists {
			n += e.size(sweeps)
		}
		if n > maxCells {
			return 0, fmt.Errorf("the matrix has more than %d cells: shorten an axis or a sweep, or split the suite", maxCells)
		}
		buffer = sweeps
	}
	return n, nil
}

// expand appends the points of a combination.
func (e *expansion) expand(c Combination) error {
	sweeps, exists, err := e.sweeps(c, nil)
	if err != nil || !exists {
		return err
	}
	f := family{expansion: e, combination: c, tags: c.tags()}
	if e.Skip != nil {
		f.skip = e.Skip(c)
	}
	kept := f.add(nil, "", f.tags)
	switch {
	case f.skip != "":
		return nil
	case kept && e.NoisePairs:
		f.plain = e.points[len(e.points)-1].Cell.ID()
	}
	if e.Mode == Product {
		f.product(sweeps)
	} else {
		f.oneAtATime(sweeps)
	}
	return nil
}
