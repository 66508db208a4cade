package exec

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// body is the part of accelgate.yaml that belongs to this kind;
// docs/exec.md describes it.
type body struct {
	Command    []string            `yaml:"command,required"` // templates
	Read       source              `yaml:"read,required"`
	Benchmarks config.List[string] `yaml:"benchmarks"` // as the harness names them, or [everyBenchmark]
	List       []string            `yaml:"list"`       // templates; runs every benchmark once
	Exclude    []string            `yaml:"exclude"`    // globs on benchmarks
	Prefix     string              `yaml:"prefix"`     // of ids
	Dir        string              `yaml:"dir"`        // children start there
	Env        map[string]string   `yaml:"env"`
	Unset      []string            `yaml:"unset"` // names or globs of variables that no child inherits
	Repeats    int                 `yaml:"repeats"`
	Timeout    time.Duration       `yaml:"timeout"`
	Tags       map[string][]string `yaml:"tags"`     // globs on benchmarks
	Profiles   map[string][]string `yaml:"profiles"` // globs on benchmarks
}

// source is where the benchmarks are read.
type source struct {
	Format string `yaml:"format,scalar"` // of formats.Harnesses
	File   string `yaml:"file"`          // in {output}; "" for standard output
}

const (
	defaultRepeats = 5
	defaultTimeout = 15 * time.Minute
	maxRepeats     = 1000
)

// everyBenchmark stands for what the harness reports.
const everyBenchmark = "all"

// defaults is the body before any configuration is decoded over it.
func defaults() body {
	return body{Repeats: defaultRepeats, Timeout: defaultTimeout, Benchmarks: config.List[string]{everyBenchmark}}
}

// all reports whether the harness says which benchmarks there are.
func (b *body) all() bool { return len(b.Benchmarks) == 1 && b.Benchmarks[0] == everyBenchmark }

// load decodes and checks the suite.
func load(c *config.Suite) (*body, error) {
	b := defaults()
	if err := c.Decode(&b); err != nil {
		return nil, err
	}
	return &b, b.check(c)
}

func (b *body) check(c *config.Suite) error {
	names := slices.Sorted(maps.Keys(formats.Harnesses))
	switch {
	case formats.Harnesses[b.Read.Format] == nil:
		return c.Errorf("read", "unknown format %.80q: use one of %s", b.Read.Format, strings.Join(names, ", "))
	case b.Read.File != "" && strings.ContainsAny(b.Read.File, `/\`):
		return c.Errorf("read.file", "%.80q is not a name of a file: write the name alone, and {output}/NAME in command", b.Read.File)
	case b.Read.File != "" && !writes(b.Command):
		return c.Errorf("read.file", "command does not state where the file goes: add {output}/%s to it", text.Quote(b.Read.File, 80))
	case len(b.Command) == 0 || b.Command[0] == "":
		return c.Errorf("command", "is empty: write the program and its arguments")
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Timeout <= 0:
		return c.Errorf("timeout", "is %v: use a positive duration such as 10m", b.Timeout)
	}
	if err := b.checkNames(c); err != nil {
		return err
	}
	if _, err := b.arguments(b.Command, b.Benchmarks[:1], "output"); err != nil {
		return c.Errorf("command", "%v", err)
	}
	if _, err := b.listing("output"); err != nil && b.all() {
		return c.Errorf("list", "%v", err)
	}
	return errors.Join(append(suite.CheckEnv(c, "env", b.Env), suite.CheckUnset(c, "unset", b.Unset)...)...)
}

// checkNames checks which benchmarks are measured, and how they become known.
func (b *body) checkNames(c *config.Suite) error {
	switch {
	case len(b.Benchmarks) == 0:
		return c.Errorf("benchmarks", "names none: list those to gate as the harness prints them, or write all")
	case b.all() && len(b.List) == 0 && b.has("{benchmark}"):
		return c.Errorf("benchmarks", "are not known: add list, a command that runs all of them once, or name them")
	case b.all() && len(b.List) > 0 && b.Read.File != "" && !writes(b.List):
		return c.Errorf("list", "does not state where the file goes: add {output}/%s to it", text.Quote(b.Read.File, 80))
	case b.all() && len(b.List) > 0 && b.List[0] == "":
		return c.Errorf("list", "is empty: write the program and its arguments")
	case !b.all() && len(b.List) > 0:
		return c.Errorf("list", "lists benchmarks, and benchmarks names them: remove one of the two")
	case !b.all() && len(b.Exclude) > 0:
		return c.Errorf("exclude", "leaves out benchmarks, and benchmarks names those to gate: remove one of the two")
	}
	for i, name := range b.Benchmarks {
		if name == "" || slices.Contains(b.Benchmarks[:i], name) {
			return c.Errorf("benchmarks", "%s is empty or listed twice: list each benchmark once", text.Quote(name, 80))
		}
	}
	return nil
}

// writes reports whether a command names the folder of its result.
func writes(command []string) bool { return strings.Contains(strings.Join(command, " "), "{output}") }

// chooses reports whether the command measures one benchmark.
func (b *body) chooses() bool {
	return b.has("{benchmark}") || b.has("{regexp}")
}

// has reports whether the command has a placeholder.
func (b *body) has(placeholder string) bool {
	return strings.Contains(strings.Join(b.Command, " "), placeholder)
}

// arguments fills in a command for some benchmarks, one where the command chooses one; nil is every one. Of Go it names
// benchmarks without their packages.
func (b *body) arguments(command, benchmarks []string, output string) ([]string, error) {
	var names, patterns []string
	for _, name := range benchmarks {
		if b.Read.Format == goFormat {
			_, name = formats.GoName(name)
		}
		names, patterns = append(names, name), append(patterns, regexp.QuoteMeta(name))
	}
	if benchmarks == nil {
		patterns = []string{".*"}
	}
	var args []string
	for _, item := range command {
		if item == "{benchmarks}" {
			args = append(args, names...)
			continue
		}
		arg, err := suite.Fill(item, placeholders(names, patterns, output))
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

// placeholders are those of a command.
func placeholders(names, patterns []string, output string) suite.Lookup {
	return func(name string) (string, error) {
		switch name {
		case "benchmark":
			return names[0], nil
		case "regexp", "regexps":
			return strings.Join(patterns, "|"), nil
		case "benchmarks":
			return strings.Join(names, ","), nil
		case "output":
			return output, nil
		}
		return "", unknownPlaceholder(name)
	}
}

const goFormat = "gobench"

// listing is the command that runs every benchmark once.
func (b *body) listing(output string) ([]string, error) {
	command := b.List
	if len(command) == 0 {
		command = b.Command
	}
	for _, one := range []string{"{benchmark}", "{regexp}"} {
		if all := strings.Join(command, " "); strings.Contains(all, one) && (one == "{benchmark}" || len(b.List) > 0) {
			return nil, fmt.Errorf("%s names one benchmark: run all of them", one)
		}
	}
	return b.arguments(command, nil, output)
}
