package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// fits returns the rules of all suites on lines over axes.
func fits(file *config.File) (rules []gate.Rule, err error) {
	for i := range file.Suites {
		s := &file.Suites[i]
		if len(s.Fits) > 0 && !hasEntries(file) {
			return nil, s.Errorf("fits", "policy.compat: %s has no fits: remove one of the two", file.Policy.Compat)
		}
		for k := range s.Fits {
			f := &s.Fits[k]
			of := matrix.WhenOf(f.When)
			one := &gate.Fit{
				Scope:     gate.Scope{Suite: s.Name, Metric: f.Metric, Host: of.Host, Cells: of.Cells},
				Over:      f.Over,
				Per:       1,
				Slope:     limitOfFit(f.Slope),
				Intercept: limitOfFit(f.Intercept),
				At: func(c bench.Cell) (string, float64, bool) {
					group, x, _, ok := fitPlace(f, c)
					return group, x, ok
				},
			}
			if f.Per != nil {
				one.Per = *f.Per
			}
			rules = append(rules, one)
		}
	}
	return rules, nil
}

func limitOfFit(l *config.FitLimit) gate.FitLimit {
	if l == nil {
		return gate.FitLimit{}
	}
	return gate.FitLimit{Change: (*float64)(l.Change), Min: l.Min, Max: l.Max}
}

// fitPlace finds a cell on the axis of a fit. Cells with the same other parameters are one group. text is
// the value of the axis, "" for a cell without one; ok is false where it is no number.
func fitPlace(f *config.Fit, c bench.Cell) (group string, x float64, text string, ok bool) {
	var others []string
	for _, p := range c.Params {
		key := strings.TrimPrefix(p.Key, bench.EnvPrefix)
		if key != f.Over {
			others = append(others, key+"="+p.Value)
			continue
		}
		text = p.Value
		if x, ok = f.Values[text]; !ok {
			var err error
			x, err = strconv.ParseFloat(text, 64)
			ok = err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
		}
	}
	return strings.Join(others, ", "), x, text, ok
}

// checkFits refuses fits that nothing in the suite can meet.
func (h onHost) checkFits(s *config.Suite, metrics []bench.Metric, cells []bench.Cell) error {
	for i := range s.Fits {
		f, path := &s.Fits[i], fmt.Sprintf("fits[%d]", i)
		m, err := metricOf(s, path, f.Metric, metrics)
		if err != nil {
			return err
		}
		if m.Exact {
			return s.Errorf(path+".metric", "%s must be equal, so no line of it is judged: use another metric, or remove the entry", m.Name)
		}
		of := matrix.WhenOf(f.When)
		if err := h.checkSelection(s, path, &of, cells); err != nil {
			return err
		}
		if err := h.checkPoints(s, path, f, &of, cells); err != nil {
			return err
		}
	}
	return nil
}

// checkPoints refuses an axis without numbers, and groups with fewer points than a line needs. Those of
// other hosts are not held against the cells.
func (h onHost) checkPoints(s *config.Suite, path string, f *config.Fit, of *matrix.When, cells []bench.Cell) error {
	points, found := map[string][]float64{}, false
	var keys, values []string
	for _, c := range cells {
		for _, param := range c.Params {
			if key := strings.TrimPrefix(param.Key, bench.EnvPrefix); !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		if !of.Selects(c) {
			continue
		}
		group, x, value, ok := fitPlace(f, c)
		if value != "" && !slices.Contains(values, value) {
			found, values = true, append(values, value)
		}
		switch {
		case ok:
			points[group] = append(points[group], x)
		case value != "":
			return s.Errorf(path+".over", "the value %s of %s is not a number: write what it stands for, as in values: {%s: 512}",
				text.Quote(value, maxWord), text.Quote(f.Over, maxWord), value)
		}
	}
	switch {
	case !of.On(string(h)):
		return nil
	case !slices.Contains(keys, f.Over):
		return s.Errorf(path+".over", "no cell has %s: %s", text.Quote(f.Over, maxWord), text.Instead(f.Over, keys))
	case !found:
		return s.Errorf(path+".over", "no cell that when selects has %s: correct when, or remove it", text.Quote(f.Over, maxWord))
	}
	for _, value := range slices.Sorted(maps.Keys(f.Values)) {
		if !slices.Contains(values, value) {
			return s.Errorf(path+".values."+value, "no cell of the fit has the value %s: %s",
				text.Quote(value, maxWord), text.Instead(value, values))
		}
	}
	for _, group := range slices.Sorted(maps.Keys(points)) {
		xs := points[group]
		slices.Sort(xs)
		if n := len(slices.Compact(xs)); n < detect.MinPoints {
			return s.Errorf(path,
				"the cells %s have %s over %s, and a line needs %d: add values to the axis, or leave these cells out by when", group,
				text.Plural(n, "point"), f.Over, detect.MinPoints)
		}
	}
	return nil
}
