package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// applySelection applies the body's selection: what is not selected does not exist,
// and the order of the selection is the order of the matrix.
func (b *body) applySelection(c *config.Suite) error { return b.applySelectionAt(c, "select") }

func (b *body) applySelectionAt(c *config.Suite, path string) (err error) {
	if b.Models, err = pick(c, path+".models", b.Select.Models, b.Models, valueID); err != nil {
		return err
	}
	if b.Backends, err = pick(c, path+".backends", b.Select.Backends, b.Backends, valueID); err != nil {
		return err
	}
	if b.Features, err = pick(c, path+".features", b.Select.Features, b.Features, valueID); err != nil {
		return err
	}
	b.Sweeps, err = pick(c, path+".sweeps", b.Select.Sweeps, b.Sweeps, func(s sweep) string { return s.Env })
	return err
}

// checkPatterns refuses patterns of the suite's own profiles that match nothing:
// coverage must not shrink by a misspelling.
func (b *body) checkPatterns(c *config.Suite) error {
	for _, name := range slices.Sorted(maps.Keys(b.profiles)) {
		copied := *b // of which the selection is thrown away
		copied.Select = b.profiles[name]
		if b.Discover.Dir != "" { // which models there are differs from host to host
			copied.Select.Models = nil
		}
		if err := copied.applySelectionAt(c, "profiles."+name); err != nil {
			return err
		}
	}
	return nil
}

// checkVars refuses a variable of the suite's own that no template uses: over a
// preset, a misspelling would leave the preset's in place, and another program
// would be measured. All values count, also those that are not selected.
func (b *body) checkVars(c *config.Suite, axes []axis) error {
	templates := slices.Concat(b.Command, b.BaseCommand, b.Files, b.Artifacts, b.Discover.Args)
	if p := b.Worker.Persistent; p != nil {
		templates = slices.AppendSeq(templates, maps.Values(p.Params))
	}
	for _, a := range axes {
		for _, v := range a.Values {
			templates = slices.Concat(templates, v.Args, v.Files)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.vars)) {
		used := func(t string) bool { return strings.Contains(t, "{"+name+"}") }
		if !slices.ContainsFunc(templates, used) {
			return c.Errorf("vars."+name, "{%s} stands in no template%s: correct it or remove it", name,
				near(name, slices.Collect(maps.Keys(b.Vars))))
		}
	}
	return nil
}

// checkDefaults refuses a sweep whose default is not what the plain cell gets
// from the configuration itself.
func (b *body) checkDefaults(c *config.Suite) error {
	for i, sw := range b.Sweeps {
		envs := []map[string]string{b.Env}
		for _, a := range b.dimensions() {
			for _, v := range a.Values {
				if sw.When == "" { // else it may be for other values
					envs = append(envs, v.Env)
				}
			}
		}
		for _, env := range envs {
			if set, ok := env[sw.Env]; ok && sw.Default != "" && sw.Default != set {
				return c.Errorf(fmt.Sprintf("sweeps[%d].default", i),
					"is %q, and env sets %s to %q for cells that no sweep touches: make them equal, or remove one", sw.Default, sw.Env, set)
			}
		}
	}
	return nil
}

// checkExcludes refuses patterns of an exclude that match no value. Which models
// a folder holds differs from host to host.
func (b *body) checkExcludes(c *config.Suite, axes []axis) error {
	for i, m := range b.Exclude {
		for _, a := range axes {
			pattern, ok := m[a.Name]
			if ok && !(a.Name == "model" && b.Discover.Dir != "") &&
				!slices.ContainsFunc(a.Values, func(v value) bool { return matrix.Glob(pattern, v.ID) }) {
				return c.Errorf(fmt.Sprintf("exclude[%d].%s", i, a.Name), "%q matches none of %s: correct it or remove the entry", pattern,
					shorten(a.Values, valueID))
			}
		}
	}
	return nil
}

// checkProvided refuses a value that requires what nothing could ever provide.
// A preset's features are for other models, too.
func (b *body) checkProvided(c *config.Suite) error {
	if b.Preset != "" {
		return nil
	}
	axes, words := b.dimensions(), slices.Clone(b.Discover.Provides)
	for _, f := range b.Discover.Families {
		words = append(words, f.Provides...)
	}
	for _, a := range axes {
		for _, v := range a.Values {
			words = append(words, v.Provides...)
		}
	}
	for _, a := range axes {
		for i, v := range a.Values {
			for _, word := range v.Requires {
				if !slices.Contains(words, word) {
					return c.Errorf(fmt.Sprintf("%s[%d].requires", a.path, i),
						"no value provides %q%s: correct it, or add it to the provides of a value", word, near(word, words))
				}
			}
		}
	}
	return nil
}

func near(word string, words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == word })
	if s := text.Nearest(word, words); s != "" {
		return fmt.Sprintf(" (did you mean %q?)", s)
	}
	return ""
}

func valueID(v value) string { return v.ID }

// pick returns the items whose names match the patterns, in the order of the
// patterns. Nil patterns pick everything; one that matches nothing is an error,
// because coverage must not shrink by a misspelling.
func pick[T any](c *config.Suite, path string, patterns []string, items []T, name func(T) string) ([]T, error) {
	if patterns == nil {
		return items, nil
	}
	picked := make([]T, 0, len(items))
	taken := make([]bool, len(items))
	for i, p := range patterns {
		found := false
		for j, item := range items {
			if !matrix.Glob(p, name(item)) {
				continue
			}
			found = true
			if !taken[j] {
				taken[j] = true
				picked = append(picked, item)
			}
		}
		if !found {
			return nil, c.Errorf(fmt.Sprintf("%s[%d]", path, i), "%q matches none of %s: correct it or remove it", p, shorten(items, name))
		}
	}
	return picked, nil
}

func shorten[T any](items []T, name func(T) string) string {
	const maximum = 30
	var names []string
	for _, item := range items[:min(len(items), maximum)] {
		names = append(names, name(item))
	}
	if len(items) > maximum {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// spec is the matrix that the body describes, for a host. Predicates are read
// against all axes, as they were before the selection.
func (s *Suite) spec(c *config.Suite, all []axis) (spec matrix.Spec, err error) {
	b := &s.body
	spec = matrix.Spec{Suite: c.Name, Axes: matrixAxes(s.axes), Mode: matrix.Mode(b.SweepMode), NoisePairs: b.NoisePairs, Skip: s.lacking}
	axes := matrixAxes(all)
	if spec.When, err = s.predicate(c, "when", b.When, axes); err != nil {
		return spec, err
	}
	for i, sw := range b.Sweeps {
		when, err := s.predicate(c, fmt.Sprintf("sweeps[%d].when", i), sw.When, axes)
		if err != nil {
			return spec, err
		}
		spec.Sweeps = append(spec.Sweeps, matrix.Sweep{Env: sw.Env, Values: sw.Values, Default: sw.Default, When: when, Tags: sw.Tags})
	}
	for _, m := range b.Exclude {
		spec.Exclude = append(spec.Exclude, m)
	}
	for _, m := range b.Include {
		spec.Include = append(spec.Include, m)
	}
	return spec, nil
}

func matrixAxes(axes []axis) (converted []matrix.Axis) {
	for _, a := range axes {
		values := make([]matrix.Value, 0, len(a.Values))
		for _, v := range a.Values {
			values = append(values, matrix.Value{ID: v.ID, Vars: v.Vars, Tags: v.Tags})
		}
		converted = append(converted, matrix.Axis{Key: a.Name, Values: values})
	}
	return converted
}

func (s *Suite) predicate(c *config.Suite, path, text string, axes []matrix.Axis) (*matrix.Predicate, error) {
	if text == "" {
		return nil, nil
	}
	p, err := matrix.Compile(text, s.facts(), axes)
	if err != nil {
		return nil, c.Errorf(path, "%v", err)
	}
	return p, nil
}

func (s *Suite) facts() matrix.Facts {
	h := s.env.Host
	f := matrix.Facts{OS: h.OS, Arch: h.Arch, Label: h.Label}
	for _, a := range h.Accelerators {
		if !slices.Contains(f.Vendors, a.Vendor) {
			f.Vendors = append(f.Vendors, a.Vendor)
		}
	}
	return f
}

// lacking returns why the host, or another value of the combination, cannot do
// what a value needs; "" if all is there.
func (s *Suite) lacking(get matrix.Combination) string {
	var chosen []*value
	for _, a := range s.axes {
		v := s.values[a.Name][get.Get(a.Name).ID]
		if why := unmet(a.Name, v, s.env.Host); why != "" {
			return why
		}
		chosen = append(chosen, v)
	}
	for i, v := range chosen {
		for _, need := range v.Requires {
			if !slices.ContainsFunc(chosen, func(o *value) bool { return slices.Contains(o.Provides, need) }) {
				return fmt.Sprintf("%s %s needs %s, which %s does not provide", s.axes[i].Name, v.ID, need, others(chosen, v))
			}
		}
	}
	return ""
}

// others names the values that might have provided something: the model.
func others(chosen []*value, v *value) string {
	for _, o := range chosen {
		if o != v {
			return o.ID
		}
	}
	return "anything"
}

// wanted reports whether a profile holds a cell.
func (p selection) wanted(cell bench.Cell) bool {
	for key, patterns := range map[string][]string{"model": p.Models, "backend": p.Backends, "feature": p.Features} {
		if patterns != nil && !matrix.GlobAny(patterns, cell.Get(key)) {
			return false
		}
	}
	if p.Sweeps == nil {
		return true
	}
	for _, param := range cell.Params {
		if name, ok := strings.CutPrefix(param.Key, bench.EnvPrefix); ok && !matrix.GlobAny(p.Sweeps, name) {
			return false
		}
	}
	return true
}
