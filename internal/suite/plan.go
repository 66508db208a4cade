package suite

import (
	"context"

	"github.com/accelgate/accelgate/internal/bench"
)

// Plan is what is known of a suite before it measures. A field that a kind has no use for stays zero.
type Plan struct {
	Metrics  []bench.Metric // all that Measure may report
	Cells    []bench.Cell   // that this host can run, in order and without duplicates
	Skipped  []bench.Result // cells that it cannot run, each with Outcome Skipped and a Reason
	Repeats  int            // measurements of each cell, at least 1
	Warnings []string       // what looks wrong and does not keep the suite from running
	// Partners has, by id of a cell, the id of the one that is measured under the same
	// conditions, so that their difference is noise.
	Partners map[string]string
	// Loads names, by id of a cell, what the suite loads for it and keeps, such as a model:
	// cells with equal names share it.
	Loads map[string]string
	// Secrets are taken out of everything that the suite measures.
	Secrets []string
	// Starts is set if the suite starts a program for each cell. That of the cells in
	// Embedded, by id, is accelgate itself.
	Starts   bool
	Embedded map[string]bool
	// Programs returns what the suite starts on this host, and not in an image; nil where nothing.
	Programs func() []Program
	// Address is that of a server which runs already: all who use the same address measure
	// the same server. "" is none.
	Address string
	// Outside is set if what is measured does not run below this process, such as a server
	// that runs already or containers.
	Outside bool
	// Profiles are the named selections of cells, and Tags the words that select some.
	Profiles map[string]func(bench.Cell) bool
	Tags     []string
	TagsOf   func(bench.Cell) []string // nil where Tags is empty
	// Artifacts is the digest of all that can make a cell slower, as far as it was
	// declared: the declared files, by name and content, what Digest covers, how
	// numbers are taken from what the program prints, and the machine. An error means that
	// the configuration is wrong, or that a file cannot be read. Nil where nothing was declared.
	Artifacts func(c bench.Cell) (string, error)
	// Hidden returns the expectations that look at the answer alone where a value of the rest
	// of the output may be meant. A value that a cell answered before was meant. Nil where
	// all of the output is the answer.
	Hidden func(answered func(bench.Cell) string) []string
	// Listing finds out the cells by running a program; nil where Cells are all that there are.
	Listing *Listing
	// Sharing has one process measure several cells; nil where each process measures one.
	Sharing *Sharing
}

// Program is the first item of a command, with variables that the command gets.
type Program struct {
	Name string
	Env  []string
}

// Listing finds out the cells of a suite.
type Listing struct {
	// List returns the plan with the cells. It is called at most once, before any other method of
	// the suite but Plan and Close. It also returns why cells may be unknown, "" if all are known.
	// An error means that ctx was done.
	List func(ctx context.Context) (p Plan, why string, err error)
	// Named returns the cell that has an id.
	Named func(id string) bench.Cell
}

// Sharing lets one process measure several cells. Ready may be called as Measure may.
type Sharing struct {
	// Process names the process that measures a cell: cells with equal names share it. That of "" measures the cell alone.
	Process func(c bench.Cell) string
	// Choose says which cells are measured next.
	Choose func(cells []bench.Cell)
	// Ready reports whether the next result of a cell is there, because a process has measured it with another cell.
	Ready func(c bench.Cell, d bench.Device) bool
}
