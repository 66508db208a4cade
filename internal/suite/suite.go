// Package suite says what a kind of suite must provide. The kinds live in the
// folders below; cli holds the table of them. Everything after Cells is blind
// to the kind.
package suite

import (
	"context"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/worker"
)

// Suite is an opened suite. Measure may be called from several goroutines at
// once, each with a device of its own; the other methods from one.
type Suite interface {
	// Plan returns what is known of the suite before anything is measured. It is the same each
	// time, and no caller changes it.
	Plan() Plan
	// Digest identifies what Measure runs for a cell: the command, its
	// environment, and the contents of the programs and scripts in it. Equal
	// digests mean that an earlier measurement may stand in for a new one.
	Digest(c bench.Cell) (string, error)
	// Measure measures one cell once, pinned to a device unless that is zero.
	// An error means that no further cell of this suite can be measured; what
	// happens to this cell is its Outcome.
	Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error)
	// Release ends what the suite keeps running for a device, such as a loaded
	// model: cells of another suite are measured next.
	Release(d bench.Device) error
	// Close releases what the suite holds. It may be called once.
	Close() error
}

// Env is what a suite gets from outside.
type Env struct {
	Host bench.Host
	// Worker runs one process per request.
	Worker worker.Worker
	// Environ is the environment of this process, NAME=VALUE, for suites that
	// need another worker.
	Environ []string
	// Executable is the path of accelgate itself, for suites that run the
	// embedded engine.
	Executable string
	// Dir is the folder of the configuration file; children start in it.
	Dir string
	// Base means that this is the old code, which is measured alternately with the new.
	Base bool
	// RawIDs means that cells are named as TensorSharp names them: their values are
	// joined without escapes.
	RawIDs bool
	// ModelDir replaces the folder in which a suite looks for models; "" keeps
	// the configuration's.
	ModelDir string
	// Downloads is how a suite downloads what it names by itself.
	Downloads Downloads
	// Pin returns the variables, NAME=VALUE, that pin a child to a device and to
	// processors. Nil pins nothing.
	Pin func(bench.Device) []string
	// EngineArgs are appended to the command of cells that run the embedded
	// engine, for demonstrations: an injected slowdown, another seed. A suite
	// that does not run the embedded engine refuses them.
	EngineArgs []string
	// Hide takes secrets out of a text that a suite writes itself; nil hides
	// nothing.
	Hide func(string) string
	// Now is the clock; it is monotonic.
	Now func() time.Time
	// Watch reads the state of the host's NVIDIA GPUs for all who ask.
	Watch *watch.Host
	// Files is the folder in which a suite may leave files beside the run
	// document; "" leaves none.
	Files string
	// Progress gets the progress of a measurement from time to time, unless nil.
	// It may be called by several goroutines at once.
	Progress func(Progress)
}

// Downloads is the cache that downloads go to.
type Downloads struct {
	Dir     string // absolute; "" leaves it to the environment
	Limit   int64  // bytes; 0 leaves it to the environment
	Offline bool   // download nothing
}

// Progress is how far one measurement is.
type Progress struct {
	Cell          string        // id
	Done, Failed  int           // requests
	Rate          float64       // requests a second
	Elapsed, Left time.Duration // Left is an estimate, 0 or below where there is none
	Ended         bool          // the last one of a load
}

// Kind is a kind of suite: what its folder provides. Only Body, Keys and Open are required.
type Kind struct {
	Body   any         // what the kind's keys are decoded into, with what absent keys stand for, for the schema
	Keys   config.Keys // describes the keys, for the schema and the pages of docs
	Open   Open
	Expect Expect // nil where no file of its own says what cells should measure
	// Operators compares the operators that Expect reads; nil where it reads none.
	Operators gate.OperatorJudge
	Demand    Demand  // nil where the configuration gates no metric by name
	Recheck   Recheck // nil where a run does not record what was judged
	Files     Files   // nil where the configuration says all
	Limits    Limits  // nil where metrics have no limits of their own
	Shown     Shown   // nil where a metric is gated in every suite of the kind or in none
	Ungated   Ungated // nil where files of a repository show no benchmark
	Inside    bool    // cells are computed by accelgate itself, without children
	Watched   bool    // children are watched as [WatchdogOf] describes
	// Report is what reports show of the kind; the zero value adds nothing.
	Report report.Kind
}

// Open opens a suite from its part of the configuration. Errors about the
// configuration carry its positions.
type Open func(c *config.Suite, env Env) (Suite, error)

// Expect returns what the suite's own files, such as recorded times, say that
// its cells should measure. It reads the configuration and those files and
// nothing else, because a run may be judged on another machine than the one
// that measured. The folder is the configuration's.
type Expect func(c *config.Suite, dir string) ([]bench.Expected, error)

// Demand returns which metrics the configuration gates in a cell of the suite, so
// that a run cannot drop one. It reads the configuration and nothing else.
type Demand func(c *config.Suite) (func(bench.Cell) []bench.Demand, error)

// Limits returns the limits of the changes of metrics that the list of metrics has. It
// reads the configuration and nothing else.
type Limits func(c *config.Suite) ([]config.Limit, error)

// Shown returns the metrics that the suite measures and does not gate, whatever another
// suite does. It reads the configuration and nothing else.
type Shown func(c *config.Suite) ([]string, error)

// Ungated warns of benchmarks that suites of the kind could measure, and none of the configuration does. It
// reads files and starts nothing.
type Ungated func(file *config.File) []string

// Files returns the files and folders that the suite names and is measured or judged
// by, whether they are there or not. The folder is the configuration's.
type Files func(c *config.Suite, dir string) ([]string, error)

// Recheck returns what holds the record of a cell that passed against the
// configuration's expectations. It reads the configuration and nothing else. An error
// says that the answer is wrong, unverified what the record does not show; a record
// that is no measurement is failed in place.
type Recheck func(c *config.Suite) (func(*bench.Result) (unverified string, err error), error)
