package models

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// The command is a list of arguments, and no shell sees it. In each argument
// {model}, {backend} and {feature} stand for the cell's values, {model.NAME}
// for a variable of the value, and {accelgate} for this program. An argument
// that is exactly {model.args}, {backend.args} or {feature.args} is replaced by
// that list. "{{" and "}}" stand for braces.

// choice is a cell's values by axis.
type choice map[string]value

// arguments fills in the command's template for a cell.
func arguments(template []string, executable string, c choice) ([]string, error) {
	var args []string
	for i, t := range template {
		if axis, ok := strings.CutSuffix(strings.TrimPrefix(t, "{"), ".args}"); ok && strings.HasPrefix(t, "{") {
			if v, ok := c[axis]; ok {
				args = append(args, v.Args...)
				continue
			}
		}
		arg, err := fill(t, executable, c)
		if err != nil {
			return nil, fmt.Errorf("command[%d] %q: %w", i, t, err)
		}
		args = append(args, arg)
	}
	return args, nil
}

// fill replaces the placeholders of one argument.
func fill(template, executable string, c choice) (string, error) {
	var b strings.Builder
	for rest := template; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		if doubled := rest[i:]; strings.HasPrefix(doubled, "{{") || strings.HasPrefix(doubled, "}}") {
			b.WriteByte(doubled[0])
			rest = doubled[2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if rest[i] == '}' || end < 0 {
			return "", fmt.Errorf("a brace stands alone: write {{ or }} for a brace")
		}
		value, err := lookup(rest[i+1:i+end], executable, c)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		rest = rest[i+end+1:]
	}
	return b.String(), nil
}

func lookup(name, executable string, c choice) (string, error) {
	if name == "accelgate" {
		return executable, nil
	}
	axis, variable, dotted := strings.Cut(name, ".")
	v, ok := c[axis]
	switch {
	case !ok:
		return "", fmt.Errorf("unknown placeholder {%s}: use {accelgate}, {model}, {backend}, {feature}, {model.args} or {model.NAME} with NAME from its vars", name)
	case !dotted:
		return v.ID, nil
	case variable == "args":
		return "", fmt.Errorf("{%s} is a list and must be an argument of its own", name)
	}
	value, ok := v.Vars[variable]
	if !ok {
		return "", fmt.Errorf("%s %s has no variable %q: add it to its vars", axis, v.ID, variable)
	}
	return value, nil
}

// environment returns what the cell sets for its child, later entries winning:
// the suite's variables, the values' in axis order, and the sweep's.
func (s *Suite) environment(cell bench.Cell, c choice) []string {
	var env []string
	add := func(vars map[string]string) {
		for name, v := range vars {
			env = append(env, name+"="+v)
		}
	}
	add(s.body.Env)
	for _, axis := range s.body.axes() {
		add(c[axis.name].Env)
	}
	for _, p := range cell.Params {
		if name, ok := strings.CutPrefix(p.Key, bench.EnvPrefix); ok {
			env = append(env, name+"="+p.Value)
		}
	}
	return env
}
