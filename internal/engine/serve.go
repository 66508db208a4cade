package engine

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

const serveUsage = `Serves the embedded engine over HTTP, as OpenAI's API does.

Usage:
  accelgate engine serve [flags]

Examples:
  accelgate engine serve
  accelgate engine serve --listen 127.0.0.1:0 --slots 16 --context 2048
  ENGINE_KEY=... accelgate engine serve --api-key-env ENGINE_KEY

Flags:
  --listen HOST:PORT       where to listen; port 0 is any that is free (default %s)
  --model NAME             %s (default %s)
  --seed N                 seed of the weights (default 1)
  --backend NAME           %s (default %s); answers are the same
  --threads N              goroutines of cpu_parallel; 0 is all processors (default 0)
  --slots N                sequences that are computed together (default %d)
  --context N              tokens of a prompt and its answer together (default %d)
  --inject-slowdown LIST   demonstration: make phases slower, as in decode=30%%,prefill=10%%
  --api-key-env NAME       environment variable with a key that paths below /v1/ then need

Environment:
  KV_CACHE_DTYPE           %s (default %s)

Paths:
  POST /v1/chat/completions, POST /v1/completions, GET /v1/models, GET /health, GET /metrics

A token is a byte. Answers are greedy whatever temperature and seed a request gives, and as long as max_tokens says (default %d)
unless a stop string comes: there is no token that ends them. A chat becomes a prompt of one line "role: content" for each message
and "assistant: " after them. What does not fit the context is refused, never cut.
A request has its slot until its whole response is written; the others wait in the order in which they came.
`

// The defaults and limits of [Command.Serve].
const (
	defaultListen  = "127.0.0.1:8080"
	defaultSlots   = 8
	defaultContext = 4096
	maxSlots       = 256
	maxWaiting     = 1024 // requests beside those that have slots

	idleTimeout = 2 * time.Minute

	grace    = time.Second // for what is under way when the server stops
	farewell = grace / 2   // then, for saying that it broke off
)

// Serve answers HTTP requests, given the arguments after `engine serve`, until
// the context ends, and returns the exit code. It prints where it listens once
// it does, and nothing of single requests. Answers that are under way when the
// context ends have a second to complete and then break off.
func (c Command) Serve(ctx context.Context, args []string) int {
	s, err := c.server(args)
	if err != nil {
		return c.Usage("serve", err, serveUsageText())
	}
	if err := s.start(ctx); err != nil {
		return c.Fail("serve", ExitFailure, err)
	}
	return ExitOK
}

func serveUsageText() string {
	list := func(names []string) string { return strings.Join(names, ", ") }
	return fmt.Sprintf(serveUsage, defaultListen, list(models()), models()[0], list(backends()), backendParallel,
		defaultSlots, defaultContext, list(kvCacheDTypes()), kvCacheDTypes()[0], defaultAnswer)
}

// server is what `engine serve` was asked to be.
type server struct {
	Command
	options        options
	listen, key    string
	slots, context int
	slow           Slowdown
}

// start loads the model, listens and serves.
func (s *server) start(ctx context.Context) error {
	model, err := New(s.options)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("%w: choose another address with --listen", err)
	}
	if address, ok := listener.Addr().(*net.TCPAddr); ok && !address.IP.IsLoopback() && s.key == "" {
		fmt.Fprintf(s.Stderr, "warning: whoever reaches %s can use the engine: set a key with --api-key-env\n", address)
	}
	if _, err := fmt.Fprintf(s.Stdout, "listening on http://%s\n", listener.Addr()); err != nil {
		return errors.Join(fmt.Errorf("write the address: %w: check where standard output goes", err), listener.Close())
	}
	return s.serve(ctx, model, listener)
}

// serve answers until the context ends. It closes the listener.
func (s *server) serve(ctx context.Context, model *model, listener net.Listener) error {
	a := newAPI(newScheduler(model, s.slots, s.context, s.slow), s.context, maxWaiting, s.key, s.Now)
	web := &http.Server{Handler: a.web, ReadHeaderTimeout: openai.HeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(s.Stderr, "accelgate engine serve: ", 0)}
	computing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var group sync.WaitGroup
	defer group.Wait()
	defer stop() // before the wait
	group.Go(func() { a.run(computing) })
	return openai.Serve(ctx, web, listener, openai.Ending{Grace: grace, Farewell: farewell, BreakOff: stop})
}
