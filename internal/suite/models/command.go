package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

// The command is a list of arguments, and no shell sees it. In each argument
// {model}, {backend}, {feature} and the names of further axes stand for the
// cell's values, {model.NAME} for a variable of the value, {NAME} for one of
// the suite, {accelgate} for this program and {output} for the file that the
// program writes its result to. An argument that is exactly {model.args},
// {backend.args} and so on is replaced by that list. "{{" and "}}" stand for
// braces. In the items of such lists {NAME} is a placeholder as well, and all
// other braces are themselves: JSON is often among them.

// choice is a cell's values by axis.
type choice map[string]*value

// scope is what the names in a template stand for.
type scope struct {
	choice     choice
	vars       map[string]string
	executable string
	output     string   // "" where the program writes no file
	rows       []string // that are selected; nil for all
}

// arguments fills in the command's template for a cell.
func (s *scope) arguments(template []string) ([]string, error) {
	return suite.FillCommand(template, s.spliced, s.lookup)
}

// spliced returns the list that an item of the command stands for.
func (s *scope) spliced(t string) (args []string, ok bool, err error) {
	if t == "{rows}" {
		return s.rows, true, nil
	}
	axis, ok := strings.CutSuffix(strings.TrimPrefix(t, "{"), ".args}")
	v, known := s.choice[axis]
	if !ok || !known || !strings.HasPrefix(t, "{") {
		return nil, false, nil
	}
	for _, a := range v.Args {
		arg, err := suite.FillNames(a, s.lookup)
		if err != nil {
			return nil, true, err
		}
		args = append(args, arg)
	}
	return args, true, nil
}

func (s *scope) lookup(name string) (string, error) {
	axis, variable, dotted := strings.Cut(name, ".")
	v, isAxis := s.choice[axis]
	switch {
	case name == "accelgate":
		return s.executable, nil
	case name == "rows":
		return strings.Join(s.rows, ","), nil
	case name == "output" && s.output != "":
		return s.output, nil
	case name == "output":
		return "", fmt.Errorf("{output} has no file: pass it to the program in command")
	case !isAxis:
		if value, ok := s.vars[name]; ok {
			return value, nil
		}
		return "", fmt.Errorf(
			"unknown placeholder {%s}: use {accelgate}, a name of the suite's vars, or an axis (%s) as in {model}, {model.args} or {model.NAME} with NAME from its vars",
			name, strings.Join(slices.Sorted(maps.Keys(s.choice)), ", "))
	case !dotted:
		return v.ID, nil
	case variable == "args":
		return "", fmt.Errorf("{%s} is a list: make it an argument of its own", name)
	}
	value, ok := v.Vars[variable]
	if !ok {
		return "", fmt.Errorf("%s %s has no variable %q: add it to its vars", axis, v.ID, variable)
	}
	return value, nil
}

// environment returns what the cell sets for its child, later entries winning:
// the suite's variables, the values' in axis order, and the sweeps'. The order
// is the same each time.
func (s *Suite) environment(cell bench.Cell, c choice) []string {
	var env []string
	add := func(vars map[string]string) { env = append(env, suite.Entries(vars)...) }
	add(s.body.Env)
	for _, axis := range s.axes {
		add(c[axis.Name].Env)
	}
	for _, p := range cell.Params {
		if name, ok := strings.CutPrefix(p.Key, bench.EnvPrefix); ok {
			env = append(env, name+"="+p.Value)
		}
	}
	return env
}
