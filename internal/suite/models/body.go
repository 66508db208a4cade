package models

import (
	"fmt"
	"regexp"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
)

// body is the part of accelgate.yaml that belongs to this kind;
// docs/models.md describes it.
type body struct {
	// Preset names a file of package preset whose keys are the defaults of all
	// others here.
	Preset  string        `yaml:"preset"`
	Repeats int           `yaml:"repeats"`
	Timeout time.Duration `yaml:"timeout"`
	Command []string      `yaml:"command"`
	// BaseCommand replaces Command where the suite is the base of pairs.
	BaseCommand []string          `yaml:"base_command"`
	Vars        map[string]string `yaml:"vars"` // {NAME}
	vars        map[string]string // without those of the preset
	Files       []string          `yaml:"files"` // must exist when a cell runs; templates as in command
	// Artifacts are globs, with templates as in command, of the files that are what
	// is measured. Where none of them has changed, speed has not.
	Artifacts []string          `yaml:"artifacts"`
	Env       map[string]string `yaml:"env"`
	Unset     []string          `yaml:"unset"` // names or globs of variables that no child inherits

	Discover discover `yaml:"discover"` // adds to Models
	Models   []value  `yaml:"models"`
	Backends []value  `yaml:"backends"`
	Features []value  `yaml:"features"`
	Axes     []axis   `yaml:"axes"` // further dimensions, after the three
	Sweeps   []sweep  `yaml:"sweeps"`
	// SweepMode is "one-at-a-time" or "product".
	SweepMode  string               `yaml:"sweep_mode"`
	NoisePairs bool                 `yaml:"noise_pairs"`
	When       string               `yaml:"when"`
	Include    []map[string]string  `yaml:"include"`
	Exclude    []map[string]string  `yaml:"exclude"`
	Select     selection            `yaml:"select"` // of the values above; what is not selected does not exist
	Profiles   map[string]selection `yaml:"profiles"`
	profiles   map[string]selection // without those of the preset

	Worker workerConfig `yaml:"worker"`

	// Parser names a program whose output is understood as a whole, in place
	// of json and regexp in Metrics; see formats.Outputs.
	Parser    string        `yaml:"parser"`
	Metrics   []metric      `yaml:"metrics"`
	rows      []rowMetric   // of Metrics
	own       bool          // the metrics are the suite's, and not the preset's
	Answer    *source       `yaml:"answer"`
	Tokens    *formats.Path `yaml:"tokens"`    // of the list of token ids
	Operators *formats.Path `yaml:"operators"` // of the list of {name, total_ms, calls}
	Expect    []expectation `yaml:"expect"`
	// Failures tell from what a failed child printed why it failed.
	Failures []failure `yaml:"failures"`
}

// value is one value of an axis.
type value struct {
	ID       string            `yaml:"id,scalar"` // a plain value stands for its id
	Args     []string          `yaml:"args"`      // spliced in at {model.args} and so on
	Vars     map[string]string `yaml:"vars"`      // {model.NAME}
	Env      map[string]string `yaml:"env"`       // set for the child
	Needs    []string          `yaml:"needs"`     // what the host must have; see capability.go
	Provides []string          `yaml:"provides"`  // what this value makes possible for others
	Requires []string          `yaml:"requires"`  // what another value of the cell must provide
	Files    []string          `yaml:"files"`     // as in the suite
	Tags     []string          `yaml:"tags"`
	Timeout  time.Duration     `yaml:"timeout"` // in place of the suite's
	Expect   *expectation      `yaml:"expect"`  // of every cell with this value
}

// sweep is an environment variable that takes several values.
type sweep struct {
	Env     string   `yaml:"env"`
	Values  []string `yaml:"values"`
	Default string   `yaml:"default"` // the value that the plain cell has; "" if it is none of Values
	When    string   `yaml:"when"`
	Tags    []string `yaml:"tags"`
}

// selection picks values by id or glob. A nil list picks all, an empty one
// none.
type selection struct {
	Models   []string `yaml:"models"`
	Backends []string `yaml:"backends"`
	Features []string `yaml:"features"`
	Sweeps   []string `yaml:"sweeps"` // by variable
}

// discover finds models in a folder.
type discover struct {
	Dir  string `yaml:"dir"`
	Glob string `yaml:"glob"` // of file names, such as *.gguf; no folder below is looked at
	// Companion is a part of the name of files that are not models but belong
	// to one, such as mmproj.
	Companion string   `yaml:"companion"`
	Families  []family `yaml:"families"` // the first that matches a name counts
	// Args are the model's, with {path} and {companion}; the list is left out
	// for a model without a companion if it holds {companion}.
	Args []string `yaml:"args"`
	// Provides is what a model with a companion provides besides.
	Provides []string `yaml:"provides"`
}

// family describes what a model can do by parts of its file's name, in lower case.
type family struct {
	Name       string   `yaml:"name"`
	Contains   []string `yaml:"contains"` // at least one of them; empty matches every name
	With       []string `yaml:"with"`     // and all of these
	Without    []string `yaml:"without"`  // and none of these
	Provides   []string `yaml:"provides"`
	Companions []string `yaml:"companions"` // parts of the companion's name, tried in order
}

// workerConfig describes how cells are run; at most one of its keys is set.
type workerConfig struct {
	Persistent *persistent `yaml:"persistent"`
	Container  *container  `yaml:"container"`
}

// persistent keeps one process for consecutive cells with the same command and
// environment.
type persistent struct {
	Params       map[string]string `yaml:"params"`        // of each request; templates as in command
	StartTimeout time.Duration     `yaml:"start_timeout"` // until the first health check is answered
}

// container runs each cell in a container of its own; see [worker.Container].
type container struct {
	Image     string            `yaml:"image"`
	Pull      bool              `yaml:"pull"`
	GPUs      string            `yaml:"gpus"`    // "all", a number, or "device=0,1"
	Devices   []string          `yaml:"devices"` // /dev/kfd and so on, HOST[:CONTAINER[:rwm]]
	Mounts    []string          `yaml:"mounts"`  // HOST:CONTAINER[:ro]
	Root      string            `yaml:"root"`    // folder that is mounted at the same path; the configuration's if absent
	Env       map[string]string `yaml:"env"`
	Inherit   []string          `yaml:"inherit"` // names of variables
	User      string            `yaml:"user"`
	Network   string            `yaml:"network"` // "none" if absent
	MemoryMiB int64             `yaml:"memory_mib"`
	ShmMiB    int64             `yaml:"shm_mib"`
	Socket    string            `yaml:"socket"` // unix:///path of the engine; DOCKER_HOST or the usual one if absent
	SamePaths bool              `yaml:"same_paths"`
}

// failure names the cause of a failure by what the child printed.
type failure struct {
	Regexp expression `yaml:"regexp"`
	Cause  string     `yaml:"cause"` // oom or machine
}

// expression is a regular expression that is only searched for.
type expression struct{ *regexp.Regexp }

// maxExpression bounds the time that compiling takes.
const maxExpression = 1000

// UnmarshalText implements [encoding.TextUnmarshaler].
func (e *expression) UnmarshalText(text []byte) (err error) {
	if len(text) > maxExpression {
		return fmt.Errorf("the regular expression is longer than %d bytes: shorten it", maxExpression)
	}
	if e.Regexp, err = regexp.Compile(string(text)); err != nil {
		return fmt.Errorf("%w: write it as RE2 has it, https://github.com/google/re2/wiki/Syntax", err)
	}
	return nil
}

type metric struct {
	Name   string `yaml:"name"`
	JSON   string `yaml:"json"`
	Regexp string `yaml:"regexp"`
	// Steps makes one number of several; empty where JSON or Regexp find one.
	Steps config.List[string] `yaml:"steps"`
	// StdErr finds the standard error as JSON or Regexp find the number.
	StdErr string `yaml:"stderr"`
	// N finds the number of trials of a share likewise.
	N             string `yaml:"n"`
	Unit          string `yaml:"unit"`
	Better        string `yaml:"better"`
	Exact         bool   `yaml:"exact"`
	Informational bool   `yaml:"informational"`
	// Limit is the change for the worse that blocks; nil is the policy's.
	Limit       *config.Percent `yaml:"limit"`
	FallbackFor string          `yaml:"fallback_for"`
	// Resolution is the step in which the program prints the metric.
	Resolution float64 `yaml:"resolution"`
	// Kind is what kind of number it is; "" is by the unit.
	Kind bench.Quantity `yaml:"kind,scalar"`
	// Optional means that some cells do not report it; When selects those that do.
	Optional bool              `yaml:"optional"`
	When     map[string]string `yaml:"when"`
}

func (m metric) describe() bench.Metric {
	return bench.Metric{Name: m.Name, Unit: m.Unit, Better: bench.Direction(m.Better),
		Exact: m.Exact, Informational: m.Informational, FallbackFor: m.FallbackFor, Resolution: m.Resolution,
		Kind: m.Kind, Optional: m.Optional || len(m.When) > 0}
}

func (b *body) metrics() (metrics []bench.Metric) {
	rows := len(b.rows) > 0
	for _, m := range b.Metrics {
		described := m.describe()
		described.Optional = described.Optional || rows // of other cells
		metrics = append(metrics, described)
	}
	return metrics
}

// source describes where in the output the answer stands, by one of the three.
// Without a source, the answer is all of the output.
type source struct {
	JSON   *formats.Path    `yaml:"json"`
	Regexp *formats.Pattern `yaml:"regexp"`
	// parser has the suite's parser find the answer.
	parser bool
}

// axis is a dimension of the matrix.
type axis struct {
	Name   string  `yaml:"name,required"`
	Values []value `yaml:"values,required"`
	path   string  // of the list of values in the configuration
}

// dimensions lists the axes in the order of the loops, slowest first. An axis
// of the first three that the configuration does not mention is no dimension.
func (b *body) dimensions() []axis {
	all := []axis{{"model", b.Models, "models"}, {"backend", b.Backends, "backends"}, {"feature", b.Features, "features"}}
	for i, a := range b.Axes {
		all = append(all, axis{a.Name, a.Values, fmt.Sprintf("axes[%d].values", i)})
	}
	kept := all[:0]
	for _, a := range all {
		if a.Values != nil {
			kept = append(kept, a)
		}
	}
	return kept
}
