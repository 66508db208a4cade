// Package endpoint is the suite kind for servers of language models: one cell
// per load, sent to an OpenAI-compatible endpoint that is there or that is
// started for it. What is asked and how often is data, see preset; what comes
// back is package openai's, when it is sent package load's, and what it amounts
// to package latency's.
package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// Suite is an opened endpoint suite.
type Suite struct {
	*inputs
	cells    []bench.Cell
	points   map[string]point // by cell id
	prompts  *dataset.Sequence
	slo      objective
	contents suite.Contents
	warnings []string
	shard    *Shard // nil unless other hosts send the rest
}

var (
	_ suite.Suite = (*Suite)(nil)
	_ suite.Open  = open
)

// open decodes and checks the suite's part of the configuration and reads its
// dataset. A dataset that is not there is an error, and nothing is put in its
// place.
func open(c *config.Suite, env suite.Env) (suite.Suite, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	s := &Suite{inputs: &inputs{name: c.Name, config: c, body: b, env: env}, contents: suite.Contents{Dir: env.Dir, Environ: env.Environ}}
	if err := s.checkServer(c); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	if s.prompts, err = s.sequence(c); err != nil {
		return nil, err
	}
	if err := s.tryAsking(); err != nil {
		return nil, c.Errorf("request", "%v", err)
	}
	if s.slo, err = b.SLO.objective(env.Host); err != nil {
		return nil, err
	}
	if n := s.dataset.Skipped; n > 0 {
		rows := "conversations have no question or no answer"
		if b.Dataset.Kind == dataset.Trace {
			rows = "requests have no tokens"
		}
		s.warnings = append(s.warnings, fmt.Sprintf("%s: %d %s and were passed over: see what the file holds", s.dataset.ID, n, rows))
	}
	s.expand()
	if err := s.checkPlans(c); err != nil {
		return nil, err
	}
	s.warn()
	return s, nil
}

// tryAsking writes the first request.
func (s *Suite) tryAsking() error {
	if !s.body.Request.generates() {
		_, err := s.wholeRequest("model", 0, func(i int) dataset.Prompt { return s.prompts.Prompt(i, false) })
		return err
	}
	p := s.prompts.Prompt(0, false)
	if s.body.converses() {
		p.Messages = p.Chat()
	}
	_, err := s.generatedRequest("model", p, 0)
	return err
}

// checkServer fills the server's command in once, so that a misspelt
// placeholder is found before anything is measured.
func (s *Suite) checkServer(c *config.Suite) error {
	if len(s.env.EngineArgs) > 0 && !s.embedded() {
		return c.Errorf("server",
			"suite %s does not run the embedded engine, so %s has no effect: leave it out, or select another suite with --suite", c.Name,
			strings.Join(s.env.EngineArgs, " "))
	}
	if _, err := s.serverCommand("0"); err != nil {
		return c.Errorf("server.command", "%v", err)
	}
	return nil
}

func (s *Suite) warn() {
	if s.body.SLO.Template != "" && s.slo.hardware == "" {
		s.warnings = append(s.warnings, "no class of hardware is known for "+s.env.Host.Device()+", so the limits of "+s.slo.template+
			" are those of an H100: set slo.hardware, or slo.ttft, slo.tpot and slo.e2e")
	}
}

// Plan returns one cell per load. Every host can send requests; loads are few and have ids,
// so they have no tags.
func (s *Suite) Plan() suite.Plan {
	return suite.Plan{Metrics: s.metrics(), Cells: s.cells, Repeats: s.body.Repeats, Warnings: s.warnings,
		Programs: s.programs, Secrets: []string{s.apiKey()}, Address: s.body.BaseURL, Outside: s.body.BaseURL != ""}
}

func (s *Suite) metrics() []bench.Metric {
	if s.body.searches() {
		return s.searchMetrics()
	}
	metrics, _ := latency.Metrics(s.body.Gate...) // checked by Open
	if s.clients() > 1 {
		metrics = append(metrics, severalMetrics...)
	}
	return slices.Concat(metrics, s.body.Mix.metrics(), clientMetrics, serverMetrics, deviceMetrics)
}

// Release does nothing: a server lives as long as its measurement.
func (s *Suite) Release(bench.Device) error { return nil }

// Close does nothing: a server lives as long as its measurement.
func (s *Suite) Close() error { return nil }

// Digest identifies the server's command and what is sent. What answers behind
// an address cannot be known, so such a measurement never stands in for another.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	return s.digest(cell)
}
