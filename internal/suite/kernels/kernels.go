// Package kernels is the suite kind for FlashInfer-Bench's datasets: one cell
// for each definition, solution and workload. A trusted worker computes the
// reference, another one the solution, and what both computed is judged here,
// outside of either.
package kernels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/builtin"
)

// Suite is an opened dataset.
type Suite struct {
	name     string
	body     *body
	env      suite.Env
	dir      string // temporary: workers, sources, the built-in dataset
	folders  []*folder
	outputs  string // temporary, in memory if the configuration says so
	builds   string // compiled libraries: temporary, unless the configuration names a folder
	dataset  *flashinfer.Dataset
	config   *evalconfig.File
	only     []string // solutions that the settings name; nil for all
	points   []*point
	byID     map[string]*point
	warnings []string
	contents suite.Contents
	// minTime, maxCalls and fresh are MinTime, MaxIterations and MaxFresh of the
	// procedure; 0 means its defaults.
	minTime         time.Duration
	maxCalls, fresh int

	mu     sync.Mutex
	lanes  map[bench.Device]*lane
	opened int // lanes so far
	// written are the folders of sources that are complete.
	written map[string]bool
	tools   tools
	// results are those of the dataset's traces.
	results flashinfer.Results
}

var (
	_ suite.Suite = (*Suite)(nil)
	_ suite.Open  = Open
)

// Open decodes the suite's part of the configuration, loads the dataset and its
// evaluation settings, and chooses the cells. What is wrong with one file of the
// dataset is an error, because it could be what should have been measured.
func Open(c *config.Suite, env suite.Env) (_ suite.Suite, err error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	s := &Suite{name: c.Name, body: b, env: env, byID: map[string]*point{}, written: map[string]bool{}, lanes: map[bench.Device]*lane{},
		contents: suite.Contents{Dir: env.Dir, Environ: env.Environ}}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := s.makeFolders(c); err != nil {
		return nil, err
	}
	if err := s.load(c); err != nil {
		return nil, err
	}
	if err := s.choose(c); err != nil {
		return nil, err
	}
	return s, nil
}

// makeFolders makes the temporary folders.
func (s *Suite) makeFolders(c *config.Suite) error {
	dir, err := makeFolder("")
	if err != nil {
		return fmt.Errorf("make a folder for the kernel workers: %w: name another temporary folder with TMPDIR", err)
	}
	s.folders, s.dir, s.outputs, s.builds = append(s.folders, dir), dir.path, dir.path, filepath.Join(dir.path, "builds")
	if s.body.BuildCache != "" {
		s.builds = s.resolve(s.body.BuildCache)
		if err := checkPrivate(s.builds); err != nil {
			return c.Errorf("build_cache", "%v", err)
		}
	}
	if s.body.Scratch == "" {
		return nil
	}
	if dir, err = makeFolder(s.resolve(s.body.Scratch)); err != nil {
		return c.Errorf("scratch", "%v: name a folder that exists and has space", err)
	}
	s.folders, s.outputs = append(s.folders, dir), dir.path
	return nil
}

// load reads the dataset, or writes the one that ships with accelgate, and the
// evaluation settings.
func (s *Suite) load(c *config.Suite) error {
	root := s.resolve(s.body.Dataset)
	if s.body.Dataset == "" {
		root = s.dir + "/dataset"
		if err := os.Mkdir(root, 0o700); err != nil {
			return fmt.Errorf("make a folder for the built-in dataset: %w", err)
		}
		if err := builtin.Write(root); err != nil {
			return err
		}
	}
	var err error
	if s.dataset, err = flashinfer.Load(root); err != nil {
		return c.Errorf("dataset", "%v", err)
	}
	if err := s.loadResults(c); err != nil {
		return err
	}
	for _, w := range s.dataset.Warnings {
		s.warnings = append(s.warnings, w.Error())
	}
	if s.config, err = s.settings(); err != nil {
		return err
	}
	return s.config.CheckEvaluators(evaluator.Names())
}

// loadResults reads the traces that a resumed run goes on from.
func (s *Suite) loadResults(c *config.Suite) error {
	if !s.body.Resume {
		return nil
	}
	from := s.dataset
	if root := s.resolve(s.body.Traces); root != s.dataset.Root {
		var err error
		if from, err = flashinfer.Load(root); err != nil {
			return c.Errorf("traces", "%v", err)
		}
	}
	s.results = flashinfer.Index(from.Traces)
	return nil
}

// settings reads the evaluation settings; without a file the bundled ones hold.
func (s *Suite) settings() (*evalconfig.File, error) {
	if s.body.Config == "" {
		return evalconfig.Default(), nil
	}
	path := s.resolve(s.body.Config)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the evaluation settings: %w: correct config", err)
	}
	file, err := evalconfig.Parse(s.body.Config, data)
	if err == nil {
		s.warnings = append(s.warnings, append(file.Warnings(), file.Notes()...)...)
	}
	return file, err
}

// Plan returns one cell per definition, solution and workload, which takes the op type as its tag.
func (s *Suite) Plan() suite.Plan {
	p := suite.Plan{Metrics: metrics(), Repeats: s.body.Repeats, Warnings: s.warnings, Programs: s.programs,
		TagsOf: func(c bench.Cell) []string { return []string{s.byID[c.ID()].definition.OpType} }}
	for _, one := range s.points {
		p.Tags = append(p.Tags, one.definition.OpType)
		if one.skip == "" {
			p.Cells = append(p.Cells, one.cell)
			continue
		}
		p.Skipped = append(p.Skipped, bench.Result{Cell: one.cell, Outcome: bench.Skipped, Cause: bench.CauseCapacity, Reason: one.skip})
	}
	slices.Sort(p.Tags)
	p.Tags = slices.Compact(p.Tags)
	return p
}

// Release ends the workers of a device.
func (s *Suite) Release(d bench.Device) error {
	s.mu.Lock()
	l := s.lanes[d]
	delete(s.lanes, d)
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.close()
}

// Close ends all workers and removes what was written for them.
func (s *Suite) Close() error {
	var errs []error
	for d := range s.lanes {
		errs = append(errs, s.Release(d))
	}
	for _, f := range s.folders {
		errs = append(errs, f.remove())
	}
	return errors.Join(errs...)
}
