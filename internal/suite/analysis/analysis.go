// Package analysis is the suite kind for what a training run does before and
// beside its kernels: how sequences are packed, and how well decomposed weights
// give back the original. Nothing is started; everything is computed here.
package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// Suite is an opened suite.
type Suite struct {
	name     string
	body     *body
	env      suite.Env
	points   []point
	byID     map[string]point
	fidelity *fidelity
	contents suite.Contents
}

// point is a cell and how it is measured.
type point struct {
	cell    bench.Cell
	tag     string // packing or fidelity
	content func() (string, error)
	measure func(ctx context.Context) (bench.Result, error)
}

var (
	_ suite.Suite = (*Suite)(nil)
	_ suite.Open  = Open
)

// Open decodes the suite's part of the configuration and reads files of
// lengths. A checkpoint is opened, or fetched, when the first of its cells is
// measured.
func Open(c *config.Suite, env suite.Env) (suite.Suite, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	s := &Suite{name: c.Name, body: b, env: env, byID: map[string]point{}, contents: suite.Contents{Dir: env.Dir, Environ: env.Environ}}
	if b.Packing != nil {
		if err := s.packing(c); err != nil {
			return nil, err
		}
	}
	if b.Fidelity != nil {
		s.fidelity = &fidelity{suite: s, body: b.Fidelity}
		s.fidelity.add()
	}
	return s, nil
}

func (s *Suite) add(p point) {
	p.cell.Suite = s.name
	s.points = append(s.points, p)
	s.byID[p.cell.ID()] = p
}

// cell names a cell by the parts of its id; the last part but the first names
// what is compared, so that slashes in it stay.
func cell(params ...bench.Param) bench.Cell {
	var parts []string
	for _, p := range params {
		parts = append(parts, escape(p.Value))
	}
	return bench.Cell{Raw: strings.Join(parts, "/"), Params: params}
}

// escape keeps names readable and ids free of characters that paths and terminals take
// otherwise.
func escape(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = bench.Escape(parts[i])
	}
	return strings.Join(parts, "/")
}

// Plan returns all cells, which every host can measure. Packing and fidelity are tags.
func (s *Suite) Plan() suite.Plan {
	p := suite.Plan{Metrics: s.metrics(), Repeats: s.body.Repeats, Tags: []string{tagPacking, tagFidelity},
		TagsOf: func(c bench.Cell) []string { return []string{s.byID[c.ID()].tag} }}
	for _, one := range s.points {
		p.Cells = append(p.Cells, one.cell)
	}
	if token := worker.Getenv(s.env.Environ, "HF_TOKEN"); s.fidelity != nil && token != "" {
		p.Secrets = []string{token} // the hub might echo it
	}
	return p
}

func (s *Suite) metrics() (metrics []bench.Metric) {
	if s.body.Packing != nil {
		metrics = append(metrics, packingMetrics...)
	}
	if s.body.Fidelity != nil {
		metrics = append(metrics, fidelityMetrics...)
	}
	return s.body.apply(metrics)
}

// Digest identifies what a cell computes from what.
func (s *Suite) Digest(c bench.Cell) (string, error) {
	p, ok := s.byID[c.ID()]
	if !ok {
		return "", fmt.Errorf("suite %s has no cell %s", s.name, c.ID())
	}
	return p.content()
}

// Measure computes one cell.
func (s *Suite) Measure(ctx context.Context, c bench.Cell, _ bench.Device) (bench.Result, error) {
	began := s.env.Now()
	result, err := s.byID[c.ID()].measure(ctx)
	result.Cell = c
	if result.Outcome == bench.Passed && s.body.Level == Fail {
		result.Checked = bench.CheckedAnalysis
	}
	result.WallMS = float64(s.env.Now().Sub(began).Microseconds()) / 1000
	return result, err
}

// Release does nothing: there are no processes.
func (s *Suite) Release(bench.Device) error { return nil }

// Close closes the checkpoint and removes the generated one.
func (s *Suite) Close() error {
	if s.fidelity == nil {
		return nil
	}
	return s.fidelity.close()
}
