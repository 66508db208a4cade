package cases

import (
	"embed"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// body is the part of accelgate.yaml that belongs to this kind;
// docs/cases.md describes it.
type body struct {
	Cases string `yaml:"cases"` // folder of case files
	// Preset names a file of package preset whose keys are the defaults of all
	// others here.
	Preset   string            `yaml:"preset"`
	Commands []command         `yaml:"commands"` // the first that is for a case counts
	Dir      string            `yaml:"dir"`      // children start there
	Vars     map[string]string `yaml:"vars"`     // {NAME}
	vars     map[string]string // without those of the preset
	Env      map[string]string `yaml:"env"`
	Unset    []string          `yaml:"unset"` // names or globs of variables that no child inherits
	Repeats  int               `yaml:"repeats"`
	Timeout  time.Duration     `yaml:"timeout"`

	Tags     map[string][]string `yaml:"tags"`     // globs on the names of cases
	Profiles map[string][]string `yaml:"profiles"` // globs on the names of cases
	Metrics  []metric            `yaml:"metrics"`  // gated beside the total

	Exact       bool         `yaml:"exact"`      // totals are deterministic
	References  []string     `yaml:"references"` // which of the recorded times count
	Operators   operatorKeys `yaml:"operators"`
	NoReference string       `yaml:"no_reference"`
	Drift       string       `yaml:"drift"`
	Host        string       `yaml:"host"` // label of the host that the recorded times are of
}

// command describes how cases of a type are run.
type command struct {
	Type    string            `yaml:"type,required"`
	When    map[string]string `yaml:"when"` // settings that the case must have
	Command []string          `yaml:"command,required"`
	// Flags are the options of settings, spliced in at {flags}. One that ends in
	// "=" is joined with its value, and repeated for each item of a list.
	Flags map[string]string `yaml:"flags"`
	// Defaults are what the program does without an option, where that is not
	// the documented default of the setting.
	Defaults map[string]string `yaml:"defaults"`
	Ignored  []string          `yaml:"ignored"` // settings that change no number
	Env      map[string]string `yaml:"env"`     // templates as in command
	Read     []source          `yaml:"read,required"`
	Timeout  time.Duration     `yaml:"timeout"`
	used     map[string]bool   // settings that stand in templates
}

// source is where a profile may be found.
type source struct {
	Format string `yaml:"format,scalar"` // of profile.Formats
	File   string `yaml:"file"`          // in {output}; "" for standard output
}

// where names the source in messages.
func (s source) where() string {
	if s.File == "" {
		return "standard output"
	}
	return "{output}/" + s.File
}

type operatorKeys struct {
	Level    string         `yaml:"level"`
	MinShare config.Percent `yaml:"min_share"`
}

type metric struct {
	Name          string `yaml:"name,scalar"`
	Exact         bool   `yaml:"exact"`
	Informational bool   `yaml:"informational"`
	Optional      bool   `yaml:"optional"` // some cases do not report it
	// Limit is the change for the worse, against the host's baseline, that blocks; nil is
	// the policy's.
	Limit *config.Percent `yaml:"limit"`
}

const (
	defaultTimeout = 15 * time.Minute
	maxRepeats     = 1000
)

// defaults is the body before any configuration is decoded over it.
func defaults() body {
	return body{
		Repeats: 1, Timeout: defaultTimeout, NoReference: "warn", Drift: "fail",
		References: []string{bench.InitialReference, bench.BaselineReference},
		Operators:  operatorKeys{Level: "fail", MinShare: 1},
	}
}

// presets are the bodies that ship with accelgate: what is known of a program
// as data. A preset's keys are defaults for a suite that names it.
//
//go:embed preset/*.yaml
var presets embed.FS

// defaultPreset runs anywhere.
const defaultPreset = "engine"

// load decodes and checks the suite over its preset over the defaults.
func load(c *config.Suite) (*body, error) {
	own := defaults()
	if err := c.Decode(&own); err != nil {
		return nil, err
	}
	if own.Preset == "" && own.Commands == nil {
		own.Preset = defaultPreset
	}
	b := defaults()
	if err := b.decodePreset(c, own.Preset); err != nil {
		return nil, err
	}
	b.Preset = own.Preset
	if err := c.Decode(&b); err != nil {
		return nil, err
	}
	b.vars = own.Vars
	return &b, b.check(c)
}

// decodePreset decodes a preset over the one that it names itself.
func (b *body) decodePreset(c *config.Suite, name string) error {
	if name == "" {
		return nil
	}
	preset, err := suite.Preset(c, presets, name)
	if err != nil {
		return err
	}
	var base body
	if err := preset.Decode(&base); err != nil {
		return fmt.Errorf("preset %s: %w", name, err)
	}
	if err := b.decodePreset(c, base.Preset); err != nil {
		return err
	}
	return preset.Decode(b)
}
