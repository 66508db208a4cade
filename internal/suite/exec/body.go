package exec

import (
	"errors"
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
	Benchmarks []string            `yaml:"benchmarks,required"` // as the harness names them
	Dir        string              `yaml:"dir"`                 // children start there
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

// defaults is the body before any configuration is decoded over it.
func defaults() body { return body{Repeats: defaultRepeats, Timeout: defaultTimeout} }

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
	case b.Read.File != "" && !strings.Contains(strings.Join(b.Command, " "), "{output}"):
		return c.Errorf("read.file", "command does not state where the file goes: add {output}/%s to it", text.Quote(b.Read.File, 80))
	case len(b.Command) == 0 || b.Command[0] == "":
		return c.Errorf("command", "is empty: write the program and its arguments")
	case len(b.Benchmarks) == 0:
		return c.Errorf("benchmarks", "names none: list those to gate, as the harness prints them")
	case len(b.Benchmarks) > 1 && !b.chooses():
		return c.Errorf("command", "measures all benchmarks for each cell: choose one by {benchmark}, or {regexp} where the harness takes a regular expression")
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Timeout <= 0:
		return c.Errorf("timeout", "is %v: use a positive duration such as 10m", b.Timeout)
	}
	for i, name := range b.Benchmarks {
		if name == "" || slices.Contains(b.Benchmarks[:i], name) {
			return c.Errorf("benchmarks", "%s is empty or listed twice: list each benchmark once", text.Quote(name, 80))
		}
	}
	if _, err := b.arguments(b.Benchmarks[0], "output"); err != nil {
		return c.Errorf("command", "%v", err)
	}
	return errors.Join(append(suite.CheckEnv(c, "env", b.Env), suite.CheckUnset(c, "unset", b.Unset)...)...)
}

// chooses reports whether the command measures one benchmark.
func (b *body) chooses() bool {
	all := strings.Join(b.Command, " ")
	return strings.Contains(all, "{benchmark}") || strings.Contains(all, "{regexp}")
}

// arguments fills in the command of a benchmark.
func (b *body) arguments(benchmark, output string) ([]string, error) {
	return suite.FillAll(b.Command, func(name string) (string, error) {
		switch name {
		case "benchmark":
			return benchmark, nil
		case "regexp":
			return regexp.QuoteMeta(benchmark), nil
		case "output":
			return output, nil
		}
		return "", unknownPlaceholder(name)
	})
}
