package endpoint

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/suite/endpoint/structured"
	"github.com/accelgate/accelgate/internal/worker"
)

// inputs are what requests are made of, here and in client processes.
type inputs struct {
	name    string
	config  *config.Suite
	body    *body
	env     suite.Env
	dataset *dataset.Dataset
	files   []file
	schema  *structured.Schema // nil without request.json_schema
	share   share              // of the load, that this process sends
}

// open reads the files that the body names.
func (s *inputs) open() (err error) {
	if s.dataset, err = s.body.openDataset(s.config, s.env.Dir); err != nil {
		return err
	}
	if s.schema, err = s.body.openSchema(s.config, s.env.Dir); err != nil {
		return err
	}
	s.files, err = s.body.openFiles(s.config, s.env.Dir)
	return err
}

// apiKey returns the server's key, which a server may print.
func (s *inputs) apiKey() string {
	if s.body.APIKeyEnv == "" {
		return ""
	}
	return worker.Getenv(s.env.Environ, s.body.APIKeyEnv)
}

// sender sends a load, or a share of it.
type sender struct {
	*inputs
	cell   bench.Cell
	point  point
	epoch  time.Time
	server *running // nil for one that was there
	client *openai.Client
	url    string
	model  string
	asked  *dataset.Sequence
	seen   *record
	own    part   // what this client did of the load
	alive  *alive // nil where nothing watches the server
}

// now is the time since the measurement began.
func (c *sender) now() time.Duration { return c.env.Now().Sub(c.epoch) }

// newClient makes the client of the server.
func (c *sender) newClient() (*openai.Client, error) {
	t := c.body.Timeouts
	options := openai.Options{BaseURL: c.url, APIKey: c.apiKey(), Connections: c.connections(),
		KeepAlive: c.body.Request.KeepAlive, First: t.First, Idle: t.Idle, Total: t.Total, Now: c.now}
	if c.alive != nil {
		options.Heard = c.alive.heard
	}
	if err := c.body.Connection.apply(&options, c.env.Dir); err != nil {
		return nil, err
	}
	return openai.New(options)
}

// connections is how many are kept open.
func (c *sender) connections() int {
	n := max(c.point.concurrency, c.body.Load.MaxInFlight, defaultConnections)
	if c.body.Search.Metric == searchConcurrency {
		n = max(n, int(c.body.Search.Max))
	}
	return n
}

// atOnce is how many connections the load is expected to need.
func (c *sender) atOnce() int {
	if c.clients() > 1 {
		return 0 // these processes open their own
	}
	return (c.allAtOnce() + max(c.share.Of, 1) - 1) / max(c.share.Of, 1)
}

func (c *sender) allAtOnce() int {
	switch n := max(c.point.concurrency, c.body.Load.MaxInFlight); {
	case n > 0:
		return min(n, maxWarm)
	case c.point.rate > 0:
		return min(int(max(c.point.rate, c.point.rateEnd))+1, maxWarm) // requests of one second
	}
	return 0
}

// maxWarm bounds the connections that are opened before a load.
const maxWarm = 256

// defaultConnections are kept open where it is not configured how many requests are
// under way at once.
const defaultConnections = 256

// oneLoad lets one load at a time go out of this process: two would be each
// other's noise. It also guards the collector's setting.
var oneLoad sync.Mutex

// alone waits until no other load goes out of this process, and returns what lets the next one out.
func alone() (release func()) {
	oneLoad.Lock()
	// Memory is cheaper here than a collection in the middle of 256 streams.
	before := debug.SetGCPercent(collectLess)
	return func() {
		debug.SetGCPercent(before)
		oneLoad.Unlock()
	}
}

// run sends this process's share of a load. That the server went away ends it, and is no error.
func (c *sender) run(ctx context.Context, s load.Schedule) (log load.Log, gone bool, err error) {
	if c.share.Of > 1 {
		if s, err = s.Share(c.share.Index, c.share.Of); err != nil {
			return log, false, err
		}
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.seen.begin(stop)
	if c.seen.talks != nil {
		s = s.Resting(c.seen.think)
	}
	log, err = load.Run(inner, s, c.now, c.seen.send)
	c.seen.end()
	gone = errors.Is(context.Cause(inner), errGone)
	if ctx.Err() == nil && gone {
		err = nil
	}
	c.seen.unsent(log)
	c.own = part{Epoch: c.epoch, Began: c.seen.began, Window: log.Window, Gone: gone}
	return log, gone, err
}

// collectLess is the growth of the heap, in percent, between two collections
// while a load is on.
const collectLess = 400
