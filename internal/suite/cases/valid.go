package cases

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/text"
)

// check validates what types cannot say.
func (b *body) check(c *config.Suite) error {
	switch {
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Timeout <= 0:
		return c.Errorf("timeout", "is %v: write a positive duration such as 90s or 15m", b.Timeout)
	case len(b.Commands) == 0:
		return c.Errorf("commands", "is empty, so no case can be run: add a command, or leave the key out for the embedded engine")
	}
	errs := []error{
		b.checkLevels(c),
		b.checkReferences(c),
		b.checkHost(c),
		b.checkGlobs(c),
		b.checkMetrics(c),
		suite.CheckLimits(c, b.metricLimits()),
		b.checkVars(c),
	}
	errs = append(errs, suite.CheckEnv(c, "env", b.Env)...)
	errs = append(errs, suite.CheckUnset(c, "unset", b.Unset)...)
	for i := range b.Commands {
		errs = append(errs, b.checkCommand(c, i))
	}
	return errors.Join(errs...)
}

func (b *body) checkLevels(c *config.Suite) error {
	var errs []error
	for _, l := range []struct{ path, level string }{{"operators.level", b.Operators.Level}, {"no_reference", b.NoReference}, {"drift", b.Drift}} {
		if !slices.Contains([]string{"fail", "warn", "off"}, l.level) {
			errs = append(errs, c.Errorf(l.path, "unknown level %q: write fail, warn or off", l.level))
		}
	}
	return errors.Join(errs...)
}

func (b *body) checkReferences(c *config.Suite) error {
	if len(b.References) == 0 {
		return c.Errorf("references", "is empty, so nothing would be judged: write initial, baseline or both, or remove the key for both")
	}
	for i, name := range b.References {
		switch {
		case name != bench.InitialReference && name != bench.BaselineReference:
			return c.Errorf(index("references", i), "unknown reference %q: write initial or baseline", name)
		case slices.Contains(b.References[:i], name):
			return c.Errorf(index("references", i), "%s occurs twice: remove one", name)
		}
	}
	return nil
}

func (b *body) checkHost(c *config.Suite) error {
	if b.Host != "" && bench.CheckLabel(b.Host) != nil {
		return c.Errorf("host",
			"no host can have the label %q: write the one of its baseline-<host>.json, of lower-case letters, digits, \".\", \"_\" and \"-\"",
			b.Host)
	}
	return nil
}

// checkGlobs refuses a tag or a profile that stands for nothing.
func (b *body) checkGlobs(c *config.Suite) error {
	for _, t := range []struct {
		key   string
		globs map[string][]string
	}{{"tags", b.Tags}, {"profiles", b.Profiles}} {
		for _, name := range slices.Sorted(maps.Keys(t.globs)) {
			if len(t.globs[name]) == 0 {
				return c.Errorf(t.key+"."+name, "is empty, so it selects no case: list globs on the names of cases, or remove it")
			}
		}
	}
	return nil
}

func (b *body) checkMetrics(c *config.Suite) error {
	names := metricNames()
	for i, m := range b.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		switch {
		case !slices.Contains(names, m.Name):
			return c.Errorf(path, "unknown metric %q%s: use one of %s", m.Name, near(m.Name, names), strings.Join(names, ", "))
		case slices.ContainsFunc(b.Metrics[:i], func(o metric) bool { return o.Name == m.Name }):
			return c.Errorf(path, "metric %s occurs twice: remove one", m.Name)
		case m.Name == Total.Name && m.Informational:
			return c.Errorf(path, "%s is what cases are judged by: remove informational", m.Name)
		}
	}
	return nil
}

// reserved are the names in templates that neither settings nor vars can have.
var reserved = []string{"accelgate", "output", "name", flagsName, compilation}

// checkVars refuses a variable that would hide a setting.
func (b *body) checkVars(c *config.Suite) error {
	taken := slices.Concat(reserved, casefile.Keys(casefile.Text), casefile.Keys(casefile.Video))
	for _, name := range slices.Sorted(maps.Keys(b.Vars)) {
		if slices.Contains(taken, name) {
			return c.Errorf("vars."+name, "%q is a setting of cases, or accelgate's own: use another name", name)
		}
	}
	return nil
}

// checkUnused refuses a variable of the suite's own that no template uses,
// neither of the configuration nor of a case: over a preset, a misspelling would
// leave the preset's in place, and another program would be measured.
func (b *body) checkUnused(c *config.Suite, inputs []*input) error {
	var templates []string
	for i := range b.Commands {
		templates = append(templates, b.Commands[i].templates()...)
	}
	for _, in := range inputs {
		if in.command != nil {
			templates = append(templates, in.command.templates()...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.vars)) {
		used := func(t string) bool { return strings.Contains(t, "{"+name+"}") }
		if !slices.ContainsFunc(templates, used) {
			others := slices.DeleteFunc(slices.Collect(maps.Keys(b.Vars)), func(v string) bool { return v == name })
			return c.Errorf("vars."+name, "{%s} stands in no template%s: correct it or remove it", name, near(name, others))
		}
	}
	return nil
}

func (b *body) checkCommand(c *config.Suite, i int) error {
	k := &b.Commands[i]
	path := fmt.Sprintf("commands[%d]", i)
	switch {
	case k.Type == casefile.Command:
		return c.Errorf(path+".type", "a case of type command has a command of its own: write text or video, or remove the entry")
	case k.Type != casefile.Text && k.Type != casefile.Video:
		return c.Errorf(path+".type", "unknown type %q: write text or video", k.Type)
	case len(k.Command) == 0:
		return c.Errorf(path+".command", "is empty: write the program and its arguments, one item each; no shell sees them")
	case k.Timeout < 0:
		return c.Errorf(path+".timeout", "is %v: write a positive duration such as 90s", k.Timeout)
	case len(k.Flags) > 0 && !slices.Contains(k.Command, "{"+flagsName+"}"):
		return c.Errorf(path+".flags", "command has no item \"{%s}\" where they would stand: add it", flagsName)
	}
	errs := []error{k.checkSettings(c, path), k.checkRead(c, path+".read")}
	errs = append(errs, suite.CheckEnv(c, path+".env", k.Env)...)
	if err := b.try(k); err != nil {
		errs = append(errs, c.Errorf(path, "%v", err))
	}
	return errors.Join(errs...)
}

// checkSettings refuses unknown settings of the type.
func (k *command) checkSettings(c *config.Suite, path string) error {
	known := append(casefile.Keys(k.Type), compilation)
	check := func(path, key string) error {
		if slices.Contains(known, key) {
			return nil
		}
		return c.Errorf(path, "%s cases have no setting %q%s: correct it or remove it", k.Type, key, near(key, known))
	}
	var errs []error
	for _, table := range []struct {
		key      string
		settings map[string]string
	}{{"when", k.When}, {"flags", k.Flags}, {"defaults", k.Defaults}} {
		for _, name := range slices.Sorted(maps.Keys(table.settings)) {
			errs = append(errs, check(path+"."+table.key+"."+name, name))
		}
	}
	for i, name := range k.Ignored {
		errs = append(errs, check(fmt.Sprintf("%s.ignored[%d]", path, i), name))
	}
	for _, name := range slices.Sorted(maps.Keys(k.Flags)) {
		if k.Flags[name] == "" {
			errs = append(errs, c.Errorf(path+".flags."+name, "is empty: write an option such as --%s, or add the setting to ignored",
				strings.ReplaceAll(name, "_", "-")))
		}
	}
	return errors.Join(errs...)
}

func (k *command) checkRead(c *config.Suite, path string) error {
	if len(k.Read) == 0 {
		return c.Errorf(path, "is empty: name the place of the total, as in {format: json}")
	}
	for i, s := range k.Read {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := checkFormat(s.Format); err != nil {
			return c.Errorf(at+".format", "%v", err)
		}
		if s.File != "" && !filepath.IsLocal(s.File) {
			return c.Errorf(at+".file", "%q is not inside of {output}: write a plain name such as trace.json", s.File)
		}
	}
	return nil
}

func checkFormat(name string) error {
	if _, ok := optrace.Formats[name]; ok {
		return nil
	}
	names := slices.Sorted(maps.Keys(optrace.Formats))
	return fmt.Errorf("unknown format %q%s: use one of %s", name, near(name, names), strings.Join(names, ", "))
}

func near(word string, words []string) string {
	if s := text.Nearest(word, words); s != "" {
		return fmt.Sprintf(" (did you mean %s?)", s)
	}
	return ""
}
