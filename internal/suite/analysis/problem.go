package analysis

import (
	"fmt"
	"os"
	"slices"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// Problem is one that is packed, with the name of its scenario or file.
type Problem struct {
	Name string
	packing.Problem
}

// Scenarios returns the built-in problems that match a glob, all if there is none.
func Scenarios(globs []string) (problems []Problem) {
	for _, s := range packing.Scenarios() {
		if len(globs) == 0 || matrix.GlobAny(globs, s.Name) {
			problems = append(problems, Problem{s.Name, s.Problem()})
		}
	}
	return problems
}

// Algorithms returns those of these names, each once, all if there is none.
func Algorithms(names []string) (chosen []packing.Algorithm, err error) {
	if len(names) == 0 {
		return packing.Algorithms(), nil
	}
	for i, name := range names {
		a, err := packing.Lookup(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s occurs twice: name each once", name)
		}
		chosen = append(chosen, a)
	}
	return chosen, nil
}

// IsPolicy reports whether a word names a policy, the legacy one included.
func IsPolicy(word string) bool {
	return slices.Contains(append(packing.Policies(), packing.Legacy), packing.Policy(word))
}

// ReadLengths reads a file of lengths, of which there must be some.
func ReadLengths(path, field string) ([]int64, error) {
	format, err := packing.FormatOf(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file of lengths", err)
	}
	defer file.Close()
	lengths, err := packing.ReadLengths(file, format, field)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(lengths) == 0:
		return nil, fmt.Errorf("%s holds no lengths: name a file that does", path)
	}
	return lengths, nil
}
