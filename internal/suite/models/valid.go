package models

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/suite"
)

const (
	defaultTimeout = 15 * time.Minute // TensorSharp's 900 s
	maxRepeats     = 1000
)

// defaults is the body before any configuration is decoded over it.
func defaults() body { return body{Repeats: 1, Timeout: defaultTimeout} }

// check validates what types cannot say.
func (b *body) check(c *config.Suite) error {
	switch {
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Timeout <= 0:
		return c.Errorf("timeout", "is %v: write a positive duration such as 90s or 15m", b.Timeout)
	case len(b.Command) == 0:
		return c.Errorf("", "the suite has no command: add command, a list of arguments; no shell sees it")
	case b.Parser != "" && (b.Operators != nil || b.Tokens != nil):
		return c.Errorf("parser", "a parser reads no operators and no tokens: remove them, or parser")
	case len(b.Metrics) == 0:
		return c.Errorf("metrics", "the suite has none: add at least one, with json or regexp")
	}
	return errors.Join(b.checkChoices(c), b.checkEnv(c), b.checkValues(c), b.checkMetrics(c), b.checkRows(c),
		suite.CheckLimits(c, b.metricLimits()), b.checkExpect(c), b.checkWorker(c))
}

func (b *body) checkChoices(c *config.Suite) error {
	var errs []error
	choice := func(path, got string, want ...string) {
		if got != "" && !slices.Contains(want, got) {
			errs = append(errs, c.Errorf(path, "unknown value %q: write %s", got, strings.Join(want, " or ")))
		}
	}
	choice("sweep_mode", b.SweepMode, "one-at-a-time", "product")
	errs = append(errs, suite.CheckUnset(c, "unset", b.Unset)...)
	for i, f := range b.Failures {
		path := fmt.Sprintf("failures[%d]", i)
		if f.Regexp.Regexp == nil || f.Cause == "" {
			errs = append(errs, c.Errorf(path, "needs regexp and cause: write both"))
			continue
		}
		choice(path+".cause", f.Cause, string(bench.CauseOOM), string(bench.CauseMachine))
	}
	return errors.Join(errs...)
}

// checkEnv refuses variables that would never reach the child: their author
// must not take them for set.
func (b *body) checkEnv(c *config.Suite) error {
	errs := suite.CheckEnv(c, "env", b.Env)
	for i, s := range b.Sweeps {
		errs = append(errs, suite.CheckVariable(c, fmt.Sprintf("sweeps[%d].env", i), s.Env))
	}
	for _, axis := range b.dimensions() {
		for i, v := range axis.Values {
			errs = append(errs, suite.CheckEnv(c, fmt.Sprintf("%s[%d].env", axis.path, i), v.Env)...)
		}
	}
	return errors.Join(errs...)
}

func (b *body) checkValues(c *config.Suite) error {
	seen := map[string]bool{"env": true, "host": true, "tags": true, "accelgate": true, "output": true, "rows": true}
	for _, axis := range b.dimensions() {
		if seen[axis.Name] || strings.ContainsAny(axis.Name, ".{} ") {
			return c.Errorf(axis.path, "%q cannot be the name of an axis, or is taken: use another one", axis.Name)
		}
		seen[axis.Name] = true
		for i, v := range axis.Values {
			path := fmt.Sprintf("%s[%d]", axis.path, i)
			switch {
			case v.ID == "":
				return c.Errorf(path, "the value has no id: add id")
			case v.Timeout < 0:
				return c.Errorf(path+".timeout", "is %v: write a positive duration such as 90s", v.Timeout)
			}
			for _, word := range v.Needs {
				if _, ok := needs[word]; !ok {
					return c.Errorf(path+".needs", "unknown need %q: use one of %s", word, needWords())
				}
			}
		}
	}
	for name := range b.Vars {
		if seen[name] {
			return c.Errorf("vars", "%q is the name of an axis or of accelgate's own: use another one", name)
		}
	}
	return nil
}

func (b *body) checkMetrics(c *config.Suite) error {
	var names []string
	for i, m := range b.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		switch {
		case m.Name == "":
			return c.Errorf(path, "the metric has no name: add name")
		case slices.Contains(names, m.Name):
			return c.Errorf(path, "metric %q occurs twice: remove one", m.Name)
		case m.Better != string(bench.Higher) && m.Better != string(bench.Lower):
			return c.Errorf(path, "metric %s: better is %q: write higher or lower", m.Name, m.Better)
		case m.Optional && len(m.When) > 0:
			return c.Errorf(path+".when", "metric %s: when already selects the cells that report it: leave optional out", m.Name)
		case len(m.Steps) > 0 && (b.Parser != "" || m.StdErr != ""):
			return c.Errorf(path+".steps", "metric %s: makes one number of those at json or regexp: remove it, or parser and stderr", m.Name)
		case m.Resolution < 0:
			return c.Errorf(path+".resolution", "is %v: write the step in which the metric is printed, such as 0.1", m.Resolution)
		case b.Parser != "" && (m.JSON != "" || m.Regexp != ""):
			return c.Errorf(path, "the suite's parser %s finds metric %s: remove json and regexp, or parser", b.Parser, m.Name)
		}
		names = append(names, m.Name)
	}
	for i, m := range b.Metrics {
		j := slices.Index(names, m.FallbackFor)
		if m.FallbackFor != "" && (j < 0 || !b.Metrics[j].describe().Gates()) {
			return c.Errorf(fmt.Sprintf("metrics[%d].fallback_for", i),
				"%q is not a metric that is always gated: name one that is neither informational nor a fallback", m.FallbackFor)
		}
	}
	return nil
}

func (b *body) checkWorker(c *config.Suite) error {
	w := b.Worker
	switch {
	case w.Persistent != nil && w.Container != nil:
		return c.Errorf("worker", "persistent and container exclude each other: keep one")
	case w.Persistent != nil && w.Persistent.StartTimeout < 0:
		return c.Errorf("worker.persistent.start_timeout", "is %v: write a positive duration such as 5m", w.Persistent.StartTimeout)
	case w.Persistent != nil && b.writes():
		return c.Errorf("command", "a persistent process answers on its standard output: leave {output} out, or use another worker")
	case w.Container != nil && len(b.Artifacts) > 0 && !strings.Contains(w.Container.Image, "@sha256:"):
		return c.Errorf("artifacts",
			"changes of image %s cannot be detected: name it by its digest, as in name@sha256:..., or leave artifacts out",
			w.Container.Image)
	case w.Container != nil:
		return w.Container.check(c)
	}
	return nil
}

func (c *container) check(s *config.Suite) error {
	const maximum = 1 << 30 // MiB
	switch {
	case c.Image == "":
		return s.Errorf("worker.container", "has no image: add image")
	case c.MemoryMiB < 0 || c.MemoryMiB > maximum || c.ShmMiB < 0 || c.ShmMiB > maximum:
		return s.Errorf("worker.container", "memory_mib or shm_mib is out of range: write mebibytes, such as 8192")
	}
	if err := c.worker(absolute).Validate(); err != nil {
		return s.Errorf("worker.container", "%v", err)
	}
	return errors.Join(suite.CheckEnv(s, "worker.container.env", c.Env)...)
}

// absolute stands in for the folder of the configuration while the form of
// paths is checked.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(string(filepath.Separator), path)
}

// writes reports whether the program writes its result to {output}: a template of the command says so.
func (b *body) writes() bool {
	templates := slices.Clone(b.Command)
	for _, a := range b.dimensions() {
		for _, v := range a.Values {
			templates = append(templates, v.Args...)
		}
	}
	return slices.ContainsFunc(templates, func(t string) bool { return strings.Contains(t, "{output}") })
}

// format returns the suite's parser; nil where metrics say where they stand.
func (b *body) format(c *config.Suite) (formats.Format, error) {
	if b.Parser == "" {
		return nil, nil
	}
	f, ok := formats.Outputs[b.Parser]
	if !ok {
		return nil, c.Errorf("parser", "unknown parser %q: use one of %s", b.Parser,
			strings.Join(slices.Sorted(maps.Keys(formats.Outputs)), ", "))
	}
	return f, nil
}
