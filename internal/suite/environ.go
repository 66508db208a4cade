package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/worker"
)

// Entries lists variables as NAME=VALUE, sorted by name.
func Entries(vars map[string]string) []string {
	entries := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		entries = append(entries, name+"="+vars[name])
	}
	return entries
}

// CheckEnv refuses variables, at path of the configuration, that would never
// reach a child: their author must not take them for set.
func CheckEnv(c *config.Suite, path string, env map[string]string) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if err := CheckVariable(c, path, name); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// CheckVariable refuses one name as [CheckEnv] does.
func CheckVariable(c *config.Suite, path, name string) error {
	if err := BadVariable(name); err != nil {
		return c.Errorf(path, "%v", err)
	}
	return nil
}

// BadVariable returns what is wrong with the name of a variable for a child; nil if nothing is.
func BadVariable(name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("%q is not the name of a variable: use letters, digits and underscores", name)
	case worker.Withheld(name):
		return fmt.Errorf("%s never reaches a child, because names like it belong to the runner or hold secrets: use another name", name)
	}
	return nil
}

// CheckUnset refuses what is neither a variable's name nor a glob of names.
func CheckUnset(c *config.Suite, path string, patterns []string) (errs []error) {
	for i, name := range patterns {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			errs = append(errs, c.Errorf(fmt.Sprintf("%s[%d]", path, i), "%q is not the name of a variable, or a glob: correct it", name))
		}
	}
	return errs
}

// Unset returns the names of the variables of environ that names or globs
// select, and all plain names, sorted.
func Unset(patterns, environ []string) []string {
	var names []string
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "*?") {
			names = append(names, pattern)
			continue
		}
		for _, entry := range environ {
			if name, _, ok := strings.Cut(entry, "="); ok && matrix.Glob(pattern, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
