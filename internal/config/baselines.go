package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Baselines say what runs are compared with. A text stands for the path alone.
type Baselines struct {
	// Path is the folder of the committed baselines as written; see [File.Resolve]. "" leaves
	// it to cli.
	Path string `yaml:"path,scalar"`
	// Repository and Ref are where the folder is, if that is not this checkout: OWNER/NAME on the
	// GitHub server, an address or a path that git takes, and a branch, tag or commit. With
	// Ref alone it is this repository.
	Repository string `yaml:"repository"`
	Ref        string `yaml:"ref"`
	// Fetch and Publish are commands that read and write files of a store elsewhere; see package remote.
	Fetch   []string `yaml:"fetch"`
	Publish []string `yaml:"publish"`
	// From is "files", or "history" or "history-mean" if the medians or means of the last runs of each host's
	// history stand in for its file; "" is "files".
	From string `yaml:"from" oneof:"files history history-mean"`
	// Runs is how many runs of the history; 0 is the default of [Baselines.LastRuns].
	Runs int `yaml:"runs"`
	// MaxAge is the age from which on a baseline is warned of, as in "30 days" or "20 runs"; see [Baselines.Age].
	MaxAge string `yaml:"max_age"`
	// MinMove is the share of its limit that a number must have moved by for a refresh to
	// rewrite it, in percent; 0 is none.
	MinMove Percent `yaml:"min_move"`
	// Devices are the files that hosts with the same device share. Later entries win.
	Devices []Shared `yaml:"devices"`
}

// Shared is the baseline file of all hosts with a device.
type Shared struct {
	// Name is the part of the file's name that is the label of the host elsewhere.
	Name string `yaml:"name,required"`
	// Model is a glob of the accelerators' models, or of the CPU's where there are none.
	Model string `yaml:"model,required"`
	// Hosts is a glob of labels; "" is all.
	Hosts string `yaml:"hosts"`
}

// FromHistory reports whether the last runs of the history stand in for files.
func (b Baselines) FromHistory() bool { return b.From == "history" || b.Mean() }

// LastRuns is how many runs of the history stand in for files; 0 if files count.
func (b Baselines) LastRuns() int {
	if !b.FromHistory() {
		return 0
	}
	return cmp.Or(b.Runs, 5)
}

// Mean reports whether the means of the last runs count, and not their medians.
func (b Baselines) Mean() bool { return b.From == "history-mean" }

var age = lazyregexp.New(`^([1-9][0-9]{0,3}) (days?|runs?)$`)

// Age is MaxAge as days or as runs of the default branch; both are 0 for no limit.
func (b Baselines) Age() (days, runs int) {
	match := age.FindStringSubmatch(b.MaxAge)
	if match == nil {
		return 0, 0
	}
	n, _ := strconv.Atoi(match[1])
	if strings.HasPrefix(match[2], "run") {
		return 0, n
	}
	return n, 0
}

// maxReferenceRuns is how many runs the gate uses of a history.
const maxReferenceRuns = 40

// baselines complains about keys that do not go together.
func (d *decoder) baselines(b *Baselines, n ast.Node) {
	if _, mapping := scalarText(d.resolve(n)); mapping || n == nil {
		return
	}
	if b.Elsewhere() && !b.Stored() {
		d.elsewhere(b, n)
	}
	d.shared(b, d.at(n, "baselines.devices"))
	d.store(b, n)
	if b.MaxAge != "" && !age.MatchString(b.MaxAge) {
		d.fail(start(d.at(n, "baselines.max_age")), "baselines.max_age: is "+quote(b.MaxAge), `write days or runs, as in "30 days" or "20 runs"`)
	}
	runs := d.at(n, "baselines.runs")
	switch {
	case runs != n && !b.FromHistory():
		d.fail(start(runs), "baselines.runs: needs from: history", "add from: history, or remove runs")
	case runs != n:
		d.between(n, "baselines.runs", b.Runs, 1, maxReferenceRuns)
	case reflect.ValueOf(*b).IsZero():
		d.fail(start(n), "baselines: is empty", fmt.Sprintf("write a folder, as in %s, or remove the key", quote("baselines: baselines")))
	}
}

var fileLabel = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// shared complains about entries that name no file, and about hosts without one of their own
// where the history of each is what counts.
func (d *decoder) shared(b *Baselines, list ast.Node) {
	if b.Devices != nil && b.FromHistory() {
		d.fail(start(list), "baselines.devices: from is history, which each host has of its own", "remove devices, or from and runs")
	}
	for i, one := range b.Devices {
		item := child(d, list, "", i)
		at := fmt.Sprintf("baselines.devices[%d]", i)
		if !fileLabel.MatchString(one.Name) || strings.Contains(one.Name, "..") || strings.HasSuffix(one.Name, ".") {
			d.fail(start(d.at(item, "x.name")), at+".name: "+quote(one.Name)+" cannot name a file",
				"write lower-case letters, digits, \".\", \"_\" and \"-\", as in h100")
		}
	}
}
