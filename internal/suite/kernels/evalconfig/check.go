package evalconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
)

// The keys of extra that FlashInfer-Bench reads.
const (
	extraTrials = "sampling_validation_trials"
	extraTVD    = "sampling_tvd_threshold"
)

// Upper limits are ours: they keep a slip of the fingers, or a hostile file,
// from occupying a machine for days.
const (
	maxRuns       = 1_000_000
	maxTrials     = 10_000
	maxSeconds    = 7 * 24 * 60 * 60
	maxEntries    = 100
	maxComplaints = 20
)

// checker looks at what types cannot say. Fail gets the path of a value.
type checker struct {
	fail func(path, format string, args ...any)
}

// check returns at most maxComplaints, because each takes a walk through the
// file to find its position.
func (f *File) check() (errs config.Errors) {
	c := checker{func(path, format string, args ...any) {
		if len(errs) < maxComplaints {
			errs = append(errs, f.doc.Errorf(path, format, args...))
		}
	}}
	for _, key := range []string{"kind", "name"} { // which config leaves alone, as parts of a suite
		if f.doc.Position(key) != f.doc.Position("") {
			c.fail(key, "unknown key: remove it")
		}
	}
	c.body(&f.body)
	slices.SortStableFunc(errs, func(a, b *config.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return errs
}

func (c checker) body(b *body) {
	c.run(b.Run)
	c.settings("", b.Settings)
	c.outputs("outputs", b.Outputs)
	c.whole(extraTrials, b.SamplingValidationTrials, 1, maxRuns)
	if t := b.SamplingTVDThreshold; t != nil && !(*t >= 0 && *t <= 1) {
		c.fail(extraTVD, tvdRange, *t)
	}
	b.eachSection(func(path string, e *eval) {
		c.settings(path+".", e.Settings)
		c.outputs(path+".outputs", e.Outputs)
		c.size(path+".extra", len(e.Extra))
		for _, key := range slices.Sorted(maps.Keys(e.Extra)) {
			c.extra(path+".extra", key, e.Extra[key])
		}
	})
	for _, glob := range slices.Sorted(maps.Keys(b.Evaluators)) {
		c.evaluator(element("evaluators", glob), glob, b.Evaluators[glob])
	}
}

func (c checker) run(r Run) {
	c.whole("timeout_seconds", r.TimeoutSeconds, 1, maxSeconds)
	c.names("definitions", r.Definitions)
	c.names("solutions", r.Solutions)
}

func (c checker) names(path string, list []string) {
	if list != nil && (len(list) == 0 || slices.Contains(list, "")) {
		c.fail(path, "holds no name, so nothing would run: write the names of %s, or leave this out for all", path)
	}
}

func (c checker) settings(prefix string, s Settings) {
	if s.Mode != nil && *s.Mode != fib && *s.Mode != strict {
		c.fail(prefix+"mode", "unknown mode %s: write %s for accelgate's rules or %s for FlashInfer-Bench's", show(*s.Mode), strict, fib)
	}
	c.whole(prefix+"warmup_runs", s.WarmupRuns, 0, maxRuns)
	c.whole(prefix+"iterations", s.Iterations, 1, maxRuns)
	c.whole(prefix+"num_trials", s.NumTrials, 1, maxTrials)
	c.tolerance(prefix, tolerance{s.Rtol, s.Atol, s.RequiredMatchedRatio})
}

func (c checker) outputs(path string, outputs map[string]tolerance) {
	c.size(path, len(outputs))
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		c.tolerance(element(path, name)+".", outputs[name])
	}
}

// size bounds what has to be looked up for each definition.
func (c checker) size(path string, n int) {
	if n > maxEntries {
		c.fail(path, "has %d entries: write at most %d", n, maxEntries)
	}
}

func (c checker) tolerance(prefix string, t tolerance) {
	c.positive(prefix+"rtol", t.Rtol)
	c.positive(prefix+"atol", t.Atol)
	if r := t.RequiredMatchedRatio; r != nil && !(*r > 0 && *r <= 1) {
		c.fail(prefix+"required_matched_ratio", "is %v: write a number above 0 and up to 1, where 1 means all elements", *r)
	}
}

func (c checker) positive(path string, v *float64) {
	if v != nil && (!(*v > 0) || math.IsInf(*v, 1)) {
		c.fail(path, "is %v: write a number above 0, such as 0.01", *v)
	}
}

func (c checker) whole(path string, v *int, low, high int) {
	if v != nil && (*v < low || *v > high) {
		c.fail(path, "is %d: write a whole number from %d to %d", *v, low, high)
	}
}

const tvdRange = "is %v: write a number from 0 to 1"

// extra is open, because commands of the user may read it; a slip of the
// fingers is refused nevertheless.
func (c checker) extra(path, key, value string) {
	path = element(path, key)
	switch key {
	case extraTrials:
		if n, err := strconv.Atoi(value); err != nil || n < 1 || n > maxRuns {
			c.fail(path, "is %s: write a whole number from 1 to %d", show(value), maxRuns)
		}
	case extraTVD:
		if v, err := strconv.ParseFloat(value, 64); err != nil || !(v >= 0 && v <= 1) {
			c.fail(path, tvdRange, show(value))
		}
	default:
		if meant := text.Nearest(key, []string{extraTrials, extraTVD}); meant != "" {
			c.fail(path, "unknown key: write %s", meant)
		}
	}
}

func (c checker) evaluator(at, glob string, e Evaluator) {
	_, err := path.Match(glob, "")
	switch {
	case glob == "" || err != nil:
		c.fail(at, "this is not a pattern for names of definitions: write one such as \"gemm_*\"")
	case e.Name != "" && e.Command != nil:
		c.fail(at, "has both a name and a command: remove one of them")
	case e.Name == "" && (len(e.Command) == 0 || e.Command[0] == ""):
		c.fail(at, "names no evaluator: write the name of an evaluator, or \"command:\" with a list of the program and its arguments")
	}
}

// CheckEvaluators returns an error for each evaluator that the file names and
// that is not known.
func (f *File) CheckEvaluators(known []string) error {
	var errs []error
	for _, glob := range slices.Sorted(maps.Keys(f.body.Evaluators)) {
		name := f.body.Evaluators[glob].Name
		if name == "" || slices.Contains(known, name) || len(errs) == maxComplaints {
			continue
		}
		advice := "write " + strings.Join(known, ", ") + ", or a command"
		if meant := text.Nearest(name, known); meant != "" {
			advice = fmt.Sprintf("did you mean %s? (%s)", meant, advice)
		}
		errs = append(errs, f.doc.Errorf(element("evaluators", glob), "unknown evaluator %s: %s", show(name), advice))
	}
	return errors.Join(errs...)
}

// Check returns an error for each flag that is out of range. [File.Resolve]
// calls it.
func (o Overrides) Check() error {
	var errs []error
	c := checker{func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf(flag(path)+": "+format, args...))
	}}
	c.run(o.Run)
	c.settings("", o.Settings)
	return errors.Join(errs...)
}
