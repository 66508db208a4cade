package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/worker"
)

// maxClients bounds the processes of one load.
const maxClients = 256

// share is the part of a load that a client sends: number Index, from 0, of Of. The zero
// value is the whole.
type share struct {
	Index, Of int
}

// job is what a client process gets on its standard input, as one line. The key is
// in it because no variable and no argument may hold it.
type job struct {
	Name, Dir         string
	Body              body
	Plan              load.Plan
	Concurrency       int
	Rate              float64
	Share             share
	Nonces            uint64
	Fitted            []int // words of each prompt, if its length is in tokens
	URL, Model, Token string
}

// message is a line between a client process and this one. A line of the client
// that is none of these is a sample.
type message struct {
	Ready bool      `json:"ready,omitempty"`
	Start time.Time `json:"start,omitzero"` // to the client: when to begin
	Error string    `json:"error,omitempty"`
	Part  *part     `json:"part,omitempty"` // the last line
}

// severalMetrics describe how well several clients were one.
var severalMetrics = []bench.Metric{
	{Name: "client_start_skew_ms", Unit: "ms", Better: bench.Lower, Informational: true,
		Definition: "time between the starts of the first and the last of several clients"},
	{Name: "client_together_rate", Better: bench.Higher, Informational: true,
		Definition: "share of the time that any of several clients measured in which all did"},
}

// clients is how many processes send the load.
func (s *inputs) clients() int { return max(1, s.body.Load.Clients) }

// runClients has processes of this program send the load, and merges what they did.
func (m *measurement) runClients(ctx context.Context, s load.Schedule) (load.Log, bool, error) {
	n := m.clients()
	processes := make([]*client, n)
	defer func() {
		for _, c := range processes {
			if c != nil {
				_, _ = c.process.Stop(worker.Cancelled)
			}
		}
	}()
	for k := range n {
		c, err := m.startClient(s, k)
		if err != nil {
			return load.Log{}, false, err
		}
		processes[k] = c
	}
	if err := each(processes, func(c *client) error { return c.await(ctx) }); err != nil {
		return load.Log{}, false, err
	}
	const soon = 30 * time.Millisecond
	start := m.env.Now().Add(soon)
	if m.suite.shard != nil {
		if late := start.Sub(m.localStart()); late > 0 {
			return load.Log{}, false, m.late(late)
		}
		start = m.localStart()
	}
	if err := each(processes, func(c *client) error { return c.measure(ctx, start) }); err != nil {
		return load.Log{}, false, err
	}
	parts := make([]part, n)
	for k, c := range processes {
		parts[k] = c.part
	}
	t := merge(parts, m.epoch, s.Plan())
	m.seen.parts, m.seen.observations = &t, t.observations
	gone := false
	for _, one := range parts {
		gone = gone || one.Gone
	}
	m.own = part{Epoch: m.epoch, Began: t.began, Gone: gone, Window: t.window, Health: healthOf(parts)}
	return load.Log{Window: t.window}, gone, nil
}

// each applies f to all clients at once and returns the first error.
func each(clients []*client, f func(*client) error) error {
	failures := make([]error, len(clients))
	var all sync.WaitGroup
	for k, c := range clients {
		all.Go(func() { failures[k] = f(c) })
	}
	all.Wait()
	return cmp.Or(failures...)
}

// client is a process that sends a part of a load.
type client struct {
	process *worker.Process
	name    string
	part    part
}

func (m *measurement) startClient(s load.Schedule, k int) (*client, error) {
	n := m.clients()
	of := share{Index: m.share.Index*n + k, Of: max(m.share.Of, 1) * n}
	if _, err := s.Share(of.Index, of.Of); err != nil {
		return nil, m.config.Errorf("load.clients", "%v", err)
	}
	b := *m.body
	b.Load.Clients = 1
	var fitted []int
	if m.dataset.CountsTokens() {
		fitted = m.texts.Fitted()
	}
	line, err := json.Marshal(
		job{Fitted: fitted, Name: m.name, Dir: m.env.Dir, Body: b, Plan: s.Plan(), Concurrency: m.point.concurrency, Rate: m.point.rate,
			Share: of, Nonces: m.asks, URL: m.url, Model: m.model, Token: m.apiKey()},
	)
	if err != nil {
		return nil, err
	}
	w := &worker.Isolated{Environ: m.env.Environ, MaxStdout: latency.MaxSampleLine}
	p, err := w.Start(worker.Request{Args: []string{m.env.Executable, "bench", "client"}, Dir: m.env.Dir, Unset: m.ownKey()})
	if err != nil {
		return nil, fmt.Errorf("start client %d of %d: %w: set load.clients to 1", k+1, n, err)
	}
	p.Send(append(line, '\n')) // what went wrong shows as the end of the process
	return &client{process: p, name: "client " + strconv.Itoa(k+1)}, nil
}

// readyWithin bounds the time in which a client reads its prompts and connects.
const readyWithin = 5 * time.Minute

// await waits until the client has prompts and connections.
func (c *client) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin,
		fmt.Errorf("%s was not ready within %v: set fewer load.clients", c.name, readyWithin))
	defer cancel()
	said, _, err := c.next(ctx)
	if err == nil && !said.Ready {
		err = c.broken("it is not ready")
	}
	return err
}

// measure starts the client's load and reads what became of it.
func (c *client) measure(ctx context.Context, start time.Time) error {
	line, err := json.Marshal(message{Start: start})
	if err != nil {
		return err
	}
	c.process.Send(append(line, '\n'))
	var all []latency.Observation
	for {
		said, o, err := c.next(ctx)
		if err != nil {
			return err
		}
		if o != nil {
			all = append(all, *o)
			continue
		}
		if said.Part == nil {
			return c.broken("the last line holds none")
		}
		c.part = *said.Part
		c.part.observations = all
		return nil
	}
}

// next reads a line: a message, or a sample.
func (c *client) next(ctx context.Context) (said message, o *latency.Observation, err error) {
	select {
	case <-ctx.Done():
		return said, nil, context.Cause(ctx)
	case line, more := <-c.process.Lines():
		if !more {
			return said, nil, c.broken("it ended")
		}
		if sample, err := latency.ParseSample(line.Text); err == nil {
			return said, &sample, nil
		}
		if err := json.Unmarshal(line.Text, &said); err != nil {
			return said, nil, c.broken(err.Error())
		}
		if said.Error != "" {
			return said, nil, fmt.Errorf("%s: %s", c.name, said.Error)
		}
		return said, nil, nil
	}
}

func (c *client) broken(why string) error {
	return fmt.Errorf("%s sent no result: %s; its log: %s: measure again, or set load.clients to 1", c.name, why,
		cmp.Or(c.process.Log(), "empty"))
}

// addTogether adds how well several clients were one. Clients that hardly were together are
// no measurement of the load.
func addTogether(result *bench.Result, t *together) {
	if t == nil {
		return
	}
	for i, v := range []float64{float64(t.skew) / float64(time.Millisecond), t.share} {
		result.Samples = append(result.Samples, bench.Sample{Metric: severalMetrics[i].Name, Values: []float64{v}})
	}
	result.Caveat = cmp.Or(result.Caveat, t.caveat())
	if t.share == 0 && !t.counted {
		suite.Fail(result, bench.CauseOutput, t.caveat())
	}
}

var errNoStart = errors.New("no start was sent: start this by 'accelgate bench run'")
