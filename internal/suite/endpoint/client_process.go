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
	c, schedule, err := j.sender(environ, now)
	if err != nil {
		return err
	}
	defer c.client.Close()
	c.client.Warm(ctx, c.atOnce())
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the end of the input is that of whoever reads the output
		lines.Scan()
		cancel()
	}()
	defer alone()()
	if err := waitUntil(ctx, start.Start.Sub(now())); err != nil {
		return err
	}
	return c.serve(ctx, schedule, w)
}

// sender makes what a job describes ready to be run.
func (j *job) sender(environ []string, now func() time.Time) (*sender, load.Schedule, error) {
	if j.Body.APIKeyEnv != "" {
		environ = append(environ, j.Body.APIKeyEnv+"="+j.Token)
	}
	s := &sender{
		inputs: &inputs{name: j.Name, config: &config.Suite{Name: j.Name}, body: &j.Body, share: j.Share,
			env: suite.Env{Dir: j.Dir, Environ: environ, Now: now}},
		point: point{concurrency: j.Concurrency, rate: j.Rate},
		epoch: now(),
		url:   j.URL,
		model: j.Model,
	}
	schedule, err := j.Plan.Schedule()
	if err != nil {
		return nil, schedule, err
	}
	if err := s.open(); err != nil {
		return nil, schedule, err
	}
	if j.Fitted != nil {
		if s.dataset, err = s.dataset.Refit(j.Fitted); err != nil {
			return nil, schedule, err
		}
	}
	if s.asked, err = s.dataset.Sequence(s.body.Dataset.Policy, j.Nonces); err != nil {
		return nil, schedule, err
	}
	s.client, err = s.newClient()
	return s, schedule, err
}

// serve sends the load and writes what became of it.
func (c *sender) serve(ctx context.Context, s load.Schedule, w *bufio.Writer) error {
	c.seen = newRecord(c, s)
	stopWatching := load.Watch(ctx, c.now)
	_, _, err := c.run(ctx, s)
	health := stopWatching()
	if err != nil {
		return err
	}
	if math.IsNaN(health.CPUShare) {
		health.CPUShare = 0
	}
	c.own.Health = health
	if err := latency.WriteSamples(w, c.seen.observations); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(message{Part: &c.own})
}
