package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/parse"
	"github.com/accelgate/accelgate/internal/worker"
)

// body is the part of accelgate.yaml that belongs to this kind;
// docs/configuration.md describes it.
type body struct {
	Repeats   int                 `yaml:"repeats"`
	Timeout   time.Duration       `yaml:"timeout"`
	Command   []string            `yaml:"command"`
	Env       map[string]string   `yaml:"env"`
	Models    []value             `yaml:"models"`
	Backends  []value             `yaml:"backends"`
	Features  []value             `yaml:"features"`
	Sweeps    []sweep             `yaml:"sweeps"`
	Include   []map[string]string `yaml:"include"`
	Exclude   []map[string]string `yaml:"exclude"`
	Metrics   []metric            `yaml:"metrics"`
	Answer    *source             `yaml:"answer"`
	Tokens    *parse.Path         `yaml:"tokens"`    // of the list of token ids
	Operators *parse.Path         `yaml:"operators"` // of the list of {name, total_ms, calls}
	Expect    []expectation       `yaml:"expect"`
}

// value is one value of an axis.
type value struct {
	ID    string            `yaml:"id"`
	Args  []string          `yaml:"args"`  // spliced in at {model.args} and so on
	Vars  map[string]string `yaml:"vars"`  // {model.NAME}
	Env   map[string]string `yaml:"env"`   // set for the child
	Needs []string          `yaml:"needs"` // what the host must have; see capability.go
}

type sweep struct {
	Env    string   `yaml:"env"`
	Values []string `yaml:"values"`
}

type metric struct {
	Name          string `yaml:"name"`
	JSON          string `yaml:"json"`
	Regexp        string `yaml:"regexp"`
	Unit          string `yaml:"unit"`
	Better        string `yaml:"better"`
	Exact         bool   `yaml:"exact"`
	Informational bool   `yaml:"informational"`
	FallbackFor   string `yaml:"fallback_for"`
}

func (m metric) describe() bench.Metric {
	return bench.Metric{Name: m.Name, Unit: m.Unit, Better: bench.Direction(m.Better),
		Exact: m.Exact, Informational: m.Informational, FallbackFor: m.FallbackFor}
}

// source says where in the output the answer stands, by one of the two.
// Without a source, the answer is all of the standard output.
type source struct {
	JSON   *parse.Path    `yaml:"json"`
	Regexp *parse.Pattern `yaml:"regexp"`
}

// expectation is what the cells that When selects must answer.
type expectation struct {
	When     map[string]string `yaml:"when"`     // as in exclude; empty selects every cell
	Contains []string          `yaml:"contains"` // substrings, letter case ignored
	Text     *string           `yaml:"text"`     // the whole answer
	Tokens   []int64           `yaml:"tokens"`   // the whole list of token ids
}

const (
	defaultTimeout = 15 * time.Minute // TensorSharp's 900 s
	maxRepeats     = 1000
)

// defaults is the body before the configuration is decoded over it.
func defaults() body { return body{Repeats: 1, Timeout: defaultTimeout} }

// check validates what types cannot say.
func (b *body) check(c *config.Suite) error {
	switch {
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Timeout <= 0:
		return c.Errorf("timeout", "is %v: write a positive duration such as 90s or 15m", b.Timeout)
	case len(b.Metrics) == 0:
		return c.Errorf("metrics", "the suite has none: add at least one, with json or regexp")
	}
	return errors.Join(b.checkEnv(c), b.checkMetrics(c), b.checkExpect(c))
}

// checkEnv refuses variables that would never reach the child: their author
// must not believe that they did.
func (b *body) checkEnv(c *config.Suite) error {
	errs := checkNames(c, "env", b.Env)
	for i, s := range b.Sweeps {
		errs = append(errs, checkName(c, fmt.Sprintf("sweeps[%d].env", i), s.Env))
	}
	for _, axis := range b.axes() {
		for i, v := range axis.values {
			errs = append(errs, checkNames(c, fmt.Sprintf("%ss[%d].env", axis.name, i), v.Env)...)
		}
	}
	return errors.Join(errs...)
}

func checkNames(c *config.Suite, path string, env map[string]string) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		errs = append(errs, checkName(c, path, name))
	}
	return errs
}

func checkName(c *config.Suite, path, name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return c.Errorf(path, "%q is not the name of a variable: use letters, digits and underscores", name)
	case worker.Withheld(name):
		return c.Errorf(path, "%s never reaches a child, because names like it belong to the runner or hold secrets: use another name", name)
	}
	return nil
}

// axis is a dimension of the matrix. In the configuration its name has an "s".
type axis struct {
	name   string
	values []value
}

// axes in the order of the loops, slowest first.
func (b *body) axes() []axis {
	return []axis{{"model", b.Models}, {"backend", b.Backends}, {"feature", b.Features}}
}

func (b *body) checkMetrics(c *config.Suite) error {
	var names []string
	for i, m := range b.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		switch {
		case m.Name == "":
			return c.Errorf(path, "the metric has no name: add name")
		case slices.Contains(names, m.Name):
			return c.Errorf(path, "metric %q stands twice: remove one", m.Name)
		case m.Better != string(bench.Higher) && m.Better != string(bench.Lower):
			return c.Errorf(path, "metric %s: better is %q: write higher or lower", m.Name, m.Better)
		}
		names = append(names, m.Name)
	}
	for i, m := range b.Metrics {
		j := slices.Index(names, m.FallbackFor)
		if m.FallbackFor != "" && (j < 0 || !b.Metrics[j].describe().Gates()) {
			return c.Errorf(fmt.Sprintf("metrics[%d].fallback_for", i), "%q is not a metric that is always gated: name one that is neither informational nor a fallback", m.FallbackFor)
		}
	}
	return nil
}

func (b *body) checkExpect(c *config.Suite) error {
	for i, e := range b.Expect {
		path := fmt.Sprintf("expect[%d]", i)
		switch {
		case len(e.Contains) == 0 && e.Text == nil && e.Tokens == nil:
			return c.Errorf(path, "expects nothing: add contains, text or tokens")
		case slices.Contains(e.Contains, ""):
			return c.Errorf(path+".contains", "every answer contains \"\": write what it must contain")
		case e.Tokens != nil && b.Tokens == nil:
			return c.Errorf(path, "tokens are expected, and the suite does not say where they are printed: add tokens, a JSON path, to the suite")
		}
	}
	return nil
}

// spec is the matrix that the body describes.
func (b *body) spec(suite string) matrix.Spec {
	s := matrix.Spec{Suite: suite}
	for _, axis := range b.axes() {
		ids := make([]string, 0, len(axis.values))
		for _, v := range axis.values {
			ids = append(ids, v.ID)
		}
		s.Axes = append(s.Axes, matrix.Axis{Key: axis.name, Values: ids})
	}
	for _, sw := range b.Sweeps {
		s.Sweeps = append(s.Sweeps, matrix.Sweep{Env: sw.Env, Values: sw.Values})
	}
	for _, m := range b.Exclude {
		s.Exclude = append(s.Exclude, m)
	}
	for _, m := range b.Include {
		s.Include = append(s.Include, m)
	}
	return s
}
