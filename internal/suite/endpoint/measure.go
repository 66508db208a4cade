package endpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// measurement is one load under way.
type measurement struct {
	sender
	suite    *Suite
	device   bench.Device
	said     openai.Server
	schedule load.Schedule
	texts    *dataset.Dataset // with prompts of as many tokens as they should have
	nonces   uint64           // seed of the texts that make prompts unique
	asks     uint64           // seed of those of the load under way
	clock    clock            // the server's, where it was measured
	// incorrect means that more answers were wrong than may be, which no end of the server excuses.
	incorrect bool
}

// Measure sends one load and computes what it amounts to. A server that is not
// there is an error: no further load can be measured either. One that was
// started here and fails, fails its cell.
func (s *Suite) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	return s.bounded(ctx, cell, func(ctx context.Context) (bench.Result, error) { return s.once(ctx, cell, d) })
}

// once is Measure without a bound of its own.
func (s *Suite) once(ctx context.Context, cell bench.Cell, d bench.Device) (result bench.Result, err error) {
	m := &measurement{suite: s, device: d,
		sender: sender{inputs: s.inputs, cell: cell, point: s.points[cell.ID()], epoch: s.env.Now(), url: s.body.BaseURL}}
	result = bench.Result{Cell: cell, Outcome: bench.Passed}
	if m.url == "" {
		if suite.WatchdogOf(ctx).NoOutput > 0 {
			m.alive = &alive{now: s.env.Now}
		}
		if m.server, err = s.start(ctx, d, m.alive); err != nil {
			return result, err
		}
		m.url = m.server.url
		result.Command = m.server.args
		defer func() {
			m.server.died = m.server.died || err != nil && m.server.HasEnded()
			if endErr := m.server.End(); endErr != nil && err == nil {
				err = endErr
				return
			}
			err = m.ended(ctx, &result, err)
		}()
	}
	if err := m.checkKey(); err != nil {
		return result, err
	}
	if err := m.connect(ctx); err != nil {
		if m.server != nil {
			m.server.died = m.server.HasEnded()
		}
		if m.server == nil || ctx.Err() != nil {
			return result, err
		}
		suite.Fail(&result, bench.CauseStart, err.Error())
		return result, nil
	}
	defer m.client.Close()
	if s.body.searches() {
		err = m.search(ctx, &result)
	} else {
		err = m.measure(ctx, &result)
	}
	return result, err
}

// connect waits for the server that was started, and asks any what it is.
func (m *measurement) connect(ctx context.Context) (err error) {
	if m.client, err = m.newClient(); err != nil {
		return err
	}
	if m.server != nil {
		if err := m.await(ctx); err != nil {
			return err
		}
		if m.alive != nil {
			m.alive.loaded.Store(true)
		}
	}
	if m.said, err = m.client.Probe(ctx); err != nil {
		return err
	}
	m.model = m.body.Model
	if m.model == "" && len(m.said.Models) > 0 {
		m.model = m.said.Models[0]
	}
	if m.model == "" {
		return fmt.Errorf("%s lists no model: name one with model, or --model", m.url)
	}
	return m.readClock(ctx)
}

// await waits until the started server answers, or has ended.
func (m *measurement) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, m.body.Server.StartTimeout,
		fmt.Errorf("not ready within %v: raise server.start_timeout, or see its log", m.body.Server.StartTimeout))
	defer cancel()
	go func() {
		select {
		case <-m.server.Ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	const every = 50 * time.Millisecond
	err := m.client.WaitReady(ctx, every)
	if err != nil && m.server.HasEnded() {
		return errors.New("the server ended before it answered: see its log")
	}
	return err
}

// measure sends the load and fills in the result.
func (m *measurement) measure(ctx context.Context, result *bench.Result) error {
	schedule, err := m.plan(m.point).Schedule()
	if err != nil {
		return err
	}
	if err := m.choosePrompts(ctx); err != nil {
		return err
	}
	meters := m.meters(ctx) // before gauges, which read at longer periods
	gauges := m.gauges(ctx)
	defer stopGauges(gauges)
	if err := m.waitForStart(ctx, beforeStart); err != nil {
		return err
	}
	m.schedule, m.seen = schedule, newRecord(&m.sender, schedule)
	m.client.Warm(ctx, m.atOnce())
	began := m.now()
	stopWatching, stopReading := load.Watch(ctx, m.now), m.watchServer(ctx)
	log, gone, runErr := m.run(ctx, schedule)
	reported := stopReading()
	wall := m.now() - began
	health := stopWatching()
	if m.seen.parts != nil {
		health = m.own.Health
	}
	m.own.Health = health
	meters.stop()
	if m.server != nil {
		m.server.died = m.server.HasEnded()
		gone = gone || m.server.died
	}
	result.WallMS = float64(wall.Microseconds()) / 1000
	in := latency.Input{Observations: m.seen.observations, Window: log.Window, Open: m.body.Load.Mode != load.Closed,
		SLO:    latency.SLO{TTFT: m.suite.slo.ttft, TPOT: m.suite.slo.tpot, E2E: m.suite.slo.e2e},
		Energy: meters.read(log.Window), USDPerHour: m.body.PriceHour}
	out := latency.Compute(in)
	result.Samples, result.Counts, result.Warnings = out.Samples, out.Counts, append(out.Warnings, meters.warnings...)
	result.Samples = append(result.Samples, m.body.Mix.samples(in)...)
	result.SetFacts(m.context(schedule, out, meters), conditions)
	result.Samples = append(result.Samples, clientSamples(health)...)
	addTelemetry(result, reported)
	result.Samples = append(result.Samples, deviceSamples(gauges, log.Window)...)
	m.answers().caveat(result, out, health)
	m.warnRepeats(result)
	addTogether(result, m.seen.parts)
	if err := m.keepSamples(result); err != nil {
		return err
	}
	if runErr != nil {
		return runErr
	}
	m.incorrect = m.answers().judge(result, gone)
	m.handOver(result)
	return nil
}

// run sends the load, alone or by several clients. That the server went away
// ends it, and is no error.
func (m *measurement) run(ctx context.Context, s load.Schedule) (load.Log, bool, error) {
	defer alone()()
	if m.clients() > 1 {
		return m.runClients(ctx, s)
	}
	if err := m.waitForStart(ctx, 0); err != nil {
		return load.Log{}, false, err
	}
	return m.sender.run(ctx, s)
}

// choosePrompts draws new nonces for a server that may still hold the prompts
// of an earlier measurement.
func (m *measurement) choosePrompts(ctx context.Context) (err error) {
	m.asked, m.nonces = m.suite.prompts, uint64(m.body.Dataset.Seed)
	if m.server == nil && m.body.Dataset.Policy != dataset.AsIs {
		m.nonces = rand.Uint64() >> 1
		if m.suite.shard != nil {
			m.nonces = m.suite.shard.nonces()
		}
	}
	m.asks = m.nonces
	if err := m.fit(ctx); err != nil {
		return err
	}
	m.asked, err = m.texts.Sequence(m.body.Dataset.Policy, m.nonces)
	return err
}

// fit gives prompts their number of tokens, once for all loads of a measurement.
func (m *measurement) fit(ctx context.Context) (err error) {
	if m.texts != nil {
		return nil
	}
	if m.texts = m.dataset; !m.dataset.CountsTokens() {
		return nil
	}
	m.texts, err = m.dataset.Fit(m.body.Dataset.Policy, m.nonces,
		func(text string) (int, error) { return m.client.CountTokens(ctx, m.model, text) })
	if err != nil {
		return fmt.Errorf("dataset.length_unit is tokens: %w, or set it to words", err)
	}
	return nil
}

// warnRepeats warns of prompts that a prefix cache answers.
func (m *measurement) warnRepeats(result *bench.Result) {
	sent := m.answers()
	n, each := sent.count(load.Measure), m.body.Request.texts()
	if !m.body.converses() && each > 0 && m.asked.Repeats(each*sent.count(load.Warmup), each*n) {
		result.Warnings = append(result.Warnings,
			fmt.Sprintf("%d requests repeat prompts of a dataset of %d, which a prefix cache answers: "+
				"set dataset.cache_policy: unique, or take a larger dataset", n, m.dataset.Len()))
	}
}

// checkKey refuses to measure without the key that was asked for.
func (s *inputs) checkKey() error {
	if s.body.APIKeyEnv != "" && s.apiKey() == "" {
		return s.config.Errorf("api_key_env", "the variable %s is not set: set it to the server's key, or leave this out", s.body.APIKeyEnv)
	}
	return nil
}
