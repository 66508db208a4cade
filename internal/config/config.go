// Package config reads accelgate.yaml: strict YAML in which every complaint
// carries file, line and column and ends in a next step.
//
// It decodes the frame that all suites share (baselines, host, policy, names and
// kinds of suites) and not the bodies: a kind decodes its own keys with
// [Suite.Decode] and reports what they mean wrongly with [Suite.Errorf], under
// the same strictness and with the same positions. It applies no defaults and
// no layers; an absent value stays absent, and its reader decides.
package config

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text"
)

// Version is the version of the file format that this build reads.
const Version = 1

// File is one accelgate.yaml. Absent values are zero.
type File struct {
	Version int `yaml:"version,required"`
	// Name distinguishes the configurations of a repository apart; "" where there is one. It
	// has 1 to 32 of a-z, 0-9 and "-".
	Name string `yaml:"name"`
	// Baselines say what runs are compared with.
	Baselines Baselines `yaml:"baselines"`
	Host      Host      `yaml:"host"`
	Policy    Policy    `yaml:"policy"`
	Limits    Limits    `yaml:"limits"`
	// Build builds a checkout before any suite is measured; nil if nothing is built.
	Build *Build `yaml:"build"`
	// Artifacts are what suites use and the checkout does not have, by name.
	Artifacts map[string]Artifact `yaml:"artifacts"`
	// AB is how the base of pairs is made; nil if it is as its commit has it.
	AB *Pairing `yaml:"ab"`
	// Runners are the hosts that the project measures on, for planning.
	Runners []Runner `yaml:"runners"`
	// Suites is never empty and its names are unique.
	Suites []Suite

	// Dir is the folder of the file, which its paths are relative to.
	Dir string
	// Digest is the SHA-256 of the file, in hexadecimal.
	Digest string
	// Text is the file as it was read.
	Text []byte

	doc *document
}

// Host describes which machine this is, where detection should not decide.
type Host struct {
	// Label selects the baseline file, baseline-<label>.json. It may be any
	// text here: whoever detects the host says what a label is.
	Label string `yaml:"label"`
	// Devices are those that cells may be pinned to, one cell at a time on
	// each. Nil means that cells are not pinned.
	Devices []string `yaml:"devices"`
	// Health is "auto" if the machine is watched while cells are measured, or
	// "off"; "" leaves it to cli.
	Health string `yaml:"health" oneof:"auto off"`
	// Cache is the folder of artifacts as written, see [File.Resolve]; "" leaves it to
	// the environment.
	Cache string `yaml:"cache"`
	// CacheGiB bounds the cache, in gibibytes; 0 means the built-in limit.
	CacheGiB int `yaml:"cache_gib"`
}

// Limits bound what a run may cost. Zero means no bound.
type Limits struct {
	// MaxCells bounds the number of cells; those beyond it are left out.
	MaxCells int `yaml:"max_cells"`
	// Budget bounds the time of measuring. A cell that is being measured when
	// it ends is finished.
	Budget time.Duration `yaml:"budget"`
	// Retries is how often a measurement is repeated that failed for reasons
	// of the machine.
	Retries int `yaml:"retries"`
	// CoolDown is the wait before cells are measured a second time; nil means the
	// built-in one.
	CoolDown *time.Duration `yaml:"cool_down"`
	// Lease bounds the wait for devices that another job uses; nil means the
	// built-in limit.
	Lease *time.Duration `yaml:"lease"`
}

// Runner is a kind of host that measures.
type Runner struct {
	Host    string        `yaml:"host,required"` // label of the baseline
	RunsOn  RunsOn        `yaml:"runs_on"`
	Suites  []string      `yaml:"suites"`  // names of those that the host measures; nil is all
	Shards  int           `yaml:"shards"`  // jobs to split the matrix over; 0 means 1
	Longest time.Duration `yaml:"longest"` // that a job should measure; 0 is any
}

// Policy holds the limits of the gate. A nil value was not set.
type Policy struct {
	// Threshold is the slowdown in percent that fails a cell.
	Threshold *Percent `yaml:"threshold"`
	// RequireBaseline is whether a run without a comparable baseline needs
	// the attention of a person.
	RequireBaseline *bool `yaml:"require_baseline"`
	// Fingerprint is what a baseline of another machine means: "ignore",
	// "warn" or "refuse"; "" leaves it to the gate.
	Fingerprint string `yaml:"fingerprint" oneof:"ignore warn refuse"`
	// LeftOut is what a cell means that a limit kept from being measured and
	// that the baseline has: "fail" or "warn"; "" is "fail".
	LeftOut string `yaml:"left_out" oneof:"fail warn"`
	// Compat names a tool whose rules are applied in place of our own:
	// "msmodeling", its older rules or "tensorsharp"; "" is none.
	Compat string `yaml:"compat" oneof:"msmodeling msmodeling@84fec85 tensorsharp"`
	// Method is "evidence", which judges speed by pairs or by history where there
	// is enough of them, or "threshold", which never does; "" leaves it to cli.
	Method string `yaml:"method" oneof:"evidence threshold"`
	// MinEffect is the slowdown in percent below which evidence is of no interest.
	// Nil leaves it to cli.
	MinEffect *Percent `yaml:"min_effect"`
	// Inconclusive is whether what is undecided blocks: "warn" or "fail"; "" is "warn".
	Inconclusive string `yaml:"inconclusive" oneof:"warn fail"`
	// Improvement is what a certain gain means that the baseline does not have: "pass"
	// or "fail"; "" is "pass".
	Improvement string `yaml:"improvement" oneof:"pass fail"`
	// Levels say on which occasions numbers only warn.
	Levels []Level `yaml:"levels"`
	// Unhealthy is what a regression means that was measured on an unhealthy
	// host: "inconclusive" or "ignore"; "" is "inconclusive".
	Unhealthy string `yaml:"unhealthy" oneof:"inconclusive ignore"`
	// FalseAlarms is the chance that a report on unchanged code blocks for speed.
	// Nil leaves it to cli.
	FalseAlarms *Percent `yaml:"false_alarms"`
	// Drift is the slowdown in percent since a cell's anchor that fails it. Nil
	// leaves it to cli.
	Drift *Percent `yaml:"drift"`
	// Implausible is the factor beyond which a change is implausible. Nil leaves it
	// to cli.
	Implausible *int `yaml:"implausible"`
	// History is the folder of the history as written; see [File.Resolve]. "" leaves
	// it to cli.
	History string `yaml:"history"`
	// HistoryKeep is how many of the newest runs of a host are kept. Nil leaves it
	// to cli.
	HistoryKeep *int `yaml:"history_keep"`
	// Remeasure is the number of values that a regression must rest on: a cell
	// with fewer is measured again before it blocks. Nil leaves it to cli.
	Remeasure *int `yaml:"remeasure"`
	// Waivers is the file of waivers as written; see [File.Resolve]. "" leaves
	// it to cli.
	Waivers string `yaml:"waivers"`
	// Quarantine is the file of quarantined cells as written; see [File.Resolve]. ""
	// leaves it to cli.
	Quarantine string `yaml:"quarantine"`
	// ConfigChanges is what a pull request needs that changes what is checked:
	// "block", the approval of a user with write permission, "other-person", that of
	// another one than its author, or "warn", none; "" is "block".
	ConfigChanges string `yaml:"config_changes" oneof:"block other-person warn"`
}

// Measures reports whether a host measures a suite: every host does, unless an entry of
// [File.Runners] names its suites.
func (f *File) Measures(host, suite string) bool {
	i := slices.IndexFunc(f.Runners, func(r Runner) bool { return r.Host == host })
	return i < 0 || f.Runners[i].Suites == nil || slices.Contains(f.Runners[i].Suites, suite)
}

// Resolve returns the path relative to the folder of the file, or the path
// itself if it is absolute.
func (f *File) Resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.Dir, path)
}

// Load reads the file at path. A file that cannot be opened is an error that
// wraps the cause, so [os.ErrNotExist] can be asked for; a file that is not a
// valid configuration yields [Errors].
func Load(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open configuration: %w; %s", err, instead(path))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w; name another file with --config", err)
	}
	return Parse(path, data)
}

// maxAbove bounds the folders above in which a configuration is looked for.
const maxAbove = 20

// instead is what to do where a file cannot be opened: name that of a folder above, or create one.
func instead(path string) string {
	above := filepath.Base(path)
	for range maxAbove {
		above = filepath.Join("..", above)
		if info, err := os.Stat(above); err == nil && path == filepath.Base(path) && info.Mode().IsRegular() {
			return "a folder above has one: name it with --config " + text.ShellWord(filepath.ToSlash(above))
		}
	}
	return "create it with 'accelgate init', or name another one with --config"
}

// Parse reads data. The name stands in positions, and its folder becomes
// [File.Dir]. Every error is of type [Errors].
func Parse(name string, data []byte) (*File, error) {
	doc, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	file, err := read(doc)
	if err != nil {
		return nil, err
	}
	file.Dir, file.Digest, file.Text = filepath.Dir(name), fmt.Sprintf("%x", sha256.Sum256(data)), data
	return file, nil
}

// read decodes a document.
func read(doc *document) (*File, error) {
	file := &File{doc: doc}
	d := doc.decoder()
	doc.artifacts = d.artifactNames()
	nodes := d.structure(doc.root, "", file, "suites")
	d.artifacts(file, nodes["artifacts"])
	d.choices(file, nodes)
	if n := nodes["name"]; n != nil && len(d.errs) == 0 {
		d.name(n, file.Name)
	}
	if file.Build != nil && len(d.errs) == 0 {
		d.build(file.Build, nodes["build"], "build")
	}
	if len(d.errs) == 0 {
		d.baselines(&file.Baselines, nodes["baselines"])
	}
	if file.AB != nil && len(d.errs) == 0 {
		d.pairing(file.AB, nodes["ab"])
	}
	if v := nodes["version"]; v != nil && file.Version != Version && (file.Version != 0 || len(d.errs) == 0) {
		d.errs = nil // what a later format means by its keys is not known here
		d.fail(start(v), fmt.Sprintf("version: this build reads version %d, got %d", Version, file.Version),
			fmt.Sprintf("write version: %d or install a newer accelgate", Version))
		return nil, d.err()
	}
	if _, ok := d.resolve(doc.root).(*ast.MappingNode); ok {
		file.Suites = d.suites(nodes["suites"], file.Policy.Method == "threshold")
	}
	d.runners(file, nodes["runners"])
	if err := d.err(); err != nil {
		return nil, err
	}
	return file, nil
}

// suites splits the list of suites into name and kind, which config reads, and
// the body, which it leaves to the kind. medians: they decide, and no statistics.
func (d *decoder) suites(n ast.Node, medians bool) []Suite {
	const next = `add under suites: "- name: quickstart" and below it "kind: models"`
	if n == nil {
		d.fail(start(d.doc.root), "suites: missing, so there is nothing to measure", next)
		return nil
	}
	seq, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		d.wrongType(n, "suites", "a list")
		return nil
	}
	if len(seq.Values) == 0 {
		d.fail(start(n), "suites: empty, so there is nothing to measure", next)
	}
	suites := make([]Suite, len(seq.Values))
	lines := map[string]int{}
	for i, item := range seq.Values {
		s := &suites[i]
		*s = Suite{Line: start(item).Line, doc: d.doc, node: item, path: fmt.Sprintf("suites[%d]", i)}
		before := len(d.errs)
		nodes := d.structure(item, s.path, s, "*")
		name := nodes["name"]
		if len(d.errs) == before {
			d.limits(s, medians)
			d.devices(s)
			d.around(s, nodes)
			d.checkWatchdog(s, nodes)
			d.fits(s)
			d.levels(s)
		}
		if s.Name == "" {
			continue
		}
		d.label(name, s.path+".name", s.Name)
		if first, dup := lines[s.Name]; dup {
			d.fail(start(name), fmt.Sprintf("%s.name: %s is taken by the suite at line %d", s.path, quote(s.Name), first),
				"give each suite its own name")
			continue
		}
		lines[s.Name] = s.Line
	}
	return suites
}
