package endpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// maxJob bounds the line of a job, which may hold a trace.
const maxJob = 256 << 20

// Client is one of several client processes: it reads its job and the time to
// start from in, sends its part of the load, and writes every sample and then what
// it did to out, a line each.
func Client(ctx context.Context, in io.Reader, out io.Writer, environ []string, now func() time.Time) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxJob)
	w := bufio.NewWriterSize(out, 1<<16)
	err := serveClient(ctx, lines, w, environ, now)
	if err != nil {
		_ = json.NewEncoder(w).Encode(message{Error: err.Error()})
	}
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	return err
}

func serveClient(ctx context.Context, lines *bufio.Scanner, w *bufio.Writer, environ []string, now func() time.Time) error {
	var j job
	if !lines.Scan() {
		return errNoStart
	}
	if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	m, schedule, err := j.measurement(environ, now)
	if err != nil {
		return err
	}
	defer m.client.Close()
	m.client.Warm(ctx, m.atOnce())
	if err := json.NewEncoder(w).Encode(message{Ready: true}); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var start message
	if !lines.Scan() {
		return errNoStart
	}
	if err := json.Unmarshal(lines.Bytes(), &start); err != nil {
		return fmt.Errorf("read the time to start: %w", err)
	}
	m.start = start.Start
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the end of the input is that of whoever reads the output
		lines.Scan()
		cancel()
	}()
	return m.serve(ctx, schedule, w)
}

// measurement makes what a job describes ready to be run.
func (j *job) measurement(environ []string, now func() time.Time) (*measurement, load.Schedule, error) {
	if j.Body.APIKeyEnv != "" {
		environ = append(environ, j.Body.APIKeyEnv+"="+j.Token)
	}
	s := &Suite{
		name:   j.Name,
		config: &config.Suite{Name: j.Name},
		body:   &j.Body,
		env:    suite.Env{Dir: j.Dir, Environ: environ, Now: now},
		share:  j.Share,
	}
	m := &measurement{
		Suite:  s,
		point:  point{concurrency: j.Concurrency, rate: j.Rate},
		epoch:  now(),
		url:    j.URL,
		model:  j.Model,
		nonces: j.Nonces,
	}
	schedule, err := j.Plan.Schedule()
	if err != nil {
		return nil, schedule, err
	}
	if s.dataset, err = s.body.openDataset(s.config, j.Dir); err != nil {
		return nil, schedule, err
	}
	if j.Fitted != nil {
		if s.dataset, err = s.dataset.Refit(j.Fitted); err != nil {
			return nil, schedule, err
		}
	}
	if s.schema, err = s.body.openSchema(s.config, j.Dir); err != nil {
		return nil, schedule, err
	}
	if s.files, err = s.body.openFiles(s.config, j.Dir); err != nil {
		return nil, schedule, err
	}
	if m.asked, err = s.dataset.Sequence(s.body.Dataset.Policy, j.Nonces); err != nil {
		return nil, schedule, err
	}
	m.client, err = m.newClient()
	return m, schedule, err
}

// serve sends the load and writes what became of it.
func (m *measurement) serve(ctx context.Context, s load.Schedule, w *bufio.Writer) error {
	m.seen = newRecord(m, s)
	stopWatching := load.Watch(ctx, m.now)
	_, _, err := m.run(ctx, s)
	health := stopWatching()
	if err != nil {
		return err
	}
	if math.IsNaN(health.CPUShare) {
		health.CPUShare = 0
	}
	m.own.Health = health
	if err := latency.WriteSamples(w, m.seen.observations); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(message{Part: &m.own})
}

// newClient makes the client of the server.
func (m *measurement) newClient() (*openai.Client, error) {
	t := m.body.Timeouts
	options := openai.Options{BaseURL: m.url, APIKey: m.apiKey(), Connections: m.connections(),
		KeepAlive: m.body.Request.KeepAlive, First: t.First, Idle: t.Idle, Total: t.Total, Now: m.now}
	if m.alive != nil {
		options.Heard = m.alive.heard
	}
	if err := m.body.Connection.apply(&options, m.env.Dir); err != nil {
		return nil, err
	}
	return openai.New(options)
}
