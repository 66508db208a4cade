package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are words that no axis may be called: they mean something else in
// a [Match] or in a [Predicate].
var reserved = []string{envKey, "host", "tags", "true", "false", "nil", "in", "not", "and", "or", "let", "if", "else",
	"contains", "matches", "startsWith", "endsWith"}

// check refuses what would make cells ambiguous or too many to enumerate.
func (s *Spec) check() error {
	if s.Mode != "" && s.Mode != OneAtATime && s.Mode != Product {
		return fmt.Errorf("unknown mode %q: use %s or %s", s.Mode, OneAtATime, Product)
	}
	names := make(map[string]bool)
	if err := s.checkAxes(names); err != nil {
		return err
	}
	if err := s.checkSweeps(names); err != nil {
		return err
	}
	for i, m := range s.Exclude {
		if err := s.known(m); err != nil {
			return fmt.Errorf("exclude[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *Spec) checkAxes(names map[string]bool) error {
	combinations := 1
	for _, a := range s.Axes {
		switch {
		case !identifier.MatchString(a.Key):
			return fmt.Errorf("axis %q: use letters, digits and underscores, not a digit first", a.Key)
		case slices.Contains(reserved, a.Key):
			return fmt.Errorf("axis %s: the word means something else in predicates or cells: choose another name", a.Key)
		case names[a.Key]:
			return fmt.Errorf("axis %s occurs twice: rename one", a.Key)
		}
		names[a.Key] = true
		ids := make([]string, 0, len(a.Values))
		for _, v := range a.Values {
			ids = append(ids, v.ID)
		}
		if err := distinct("axis "+a.Key, ids); err != nil {
			return err
		}
		if combinations *= len(ids); combinations > maxCells {
			return fmt.Errorf("axis %s: the axes up to it have more than %d combinations: shorten one or split the suite", a.Key, maxCells)
		}
	}
	return nil
}

func (s *Spec) checkSweeps(names map[string]bool) error {
	if len(s.Sweeps) > maxSweeps {
		return fmt.Errorf("the matrix has %d sweeps, more than %d: split the suite", len(s.Sweeps), maxSweeps)
	}
	for _, sweep := range s.Sweeps {
		switch {
		case sweep.Env == "" || strings.ContainsAny(sweep.Env, "=\x00"):
			return fmt.Errorf("sweep %q is not the name of a variable: use letters, digits and underscores", sweep.Env)
		case names[sweep.Env] || sweep.Env == envKey:
			return fmt.Errorf("sweep %s has the name of an axis or of another sweep: rename or remove one", sweep.Env)
		}
		names[sweep.Env] = true
		if err := distinct("sweep "+sweep.Env, sweep.Values); err != nil {
			return err
		}
	}
	return nil
}

func distinct(name string, values []string) error {
	if len(values) == 0 {
		return fmt.Errorf("%s has no values: add at least one", name)
	}
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if v == "" {
			return fmt.Errorf("%s has an empty value: name it", name)
		}
		if seen[v] {
			return fmt.Errorf("%s has %q twice: remove one", name, v)
		}
		seen[v] = true
	}
	return nil
}
