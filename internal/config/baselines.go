package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
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
	// From is "files", or "history" if the last runs of each host's history stand in for its
	// file; "" is "files".
	From string `yaml:"from" oneof:"files history"`
	// Runs is how many runs of the history; 0 leaves it to cli.
	Runs int `yaml:"runs"`
}

// FromHistory reports whether the last runs of the history stand in for files.
func (b Baselines) FromHistory() bool { return b.From == "history" }

// mostReferenceRuns is how many runs the gate uses of a history.
const mostReferenceRuns = 40

// baselines complains about keys that do not go together.
func (d *decoder) baselines(b *Baselines, n ast.Node) {
	if _, mapping := scalarText(d.resolve(n)); mapping || n == nil {
		return
	}
	if b.Elsewhere() {
		d.elsewhere(b, n)
	}
	runs := d.at(n, "baselines.runs")
	switch {
	case runs != n && !b.FromHistory():
		d.fail(start(runs), "baselines.runs: needs from: history", "add from: history, or remove runs")
	case runs != n:
		d.between(n, "baselines.runs", b.Runs, 1, mostReferenceRuns)
	case *b == Baselines{}:
		d.fail(start(n), "baselines: is empty", fmt.Sprintf("write a folder, as in %s, or remove the key", quote("baselines: baselines")))
	}
}
