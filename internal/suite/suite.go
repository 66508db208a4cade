// Package suite says what a kind of suite must provide. The kinds live in the
// folders below; cli holds the table of them. Everything after Cells is blind
// to the kind.
package suite

import (
	"context"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/worker"
)

// Suite is an opened suite. Its methods are called from one goroutine.
type Suite interface {
	// Metrics describes every metric that Measure may report.
	Metrics() []bench.Metric
	// Cells returns the expanded matrix, in order, without duplicates.
	Cells() []bench.Cell
	// Repeats is how often each cell is measured, at least 1.
	Repeats() int
	// Measure measures one cell once. An error means that no further cell of
	// this suite can be measured; what happens to this cell is its Outcome.
	Measure(ctx context.Context, c bench.Cell) (bench.Result, error)
	// Close releases what the suite holds. It may be called once.
	Close() error
}

// Env is what a suite gets from outside.
type Env struct {
	Host   bench.Host
	Worker worker.Worker
	// Executable is the path of accelgate itself, for suites that run the
	// embedded engine.
	Executable string
	// Dir is the folder of the configuration file; children start in it.
	Dir string
	// EngineArgs are appended to the command of cells that run the embedded
	// engine, for demonstrations: an injected slowdown, another seed. A suite
	// that does not run the embedded engine refuses them.
	EngineArgs []string
}

// Open opens a suite from its part of the configuration. Errors about the
// configuration carry its positions.
type Open func(c *config.Suite, env Env) (Suite, error)
