package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/workers"
	"github.com/accelgate/accelgate/internal/worker"
)

// kind is a worker that ships with accelgate.
type kind string

const (
	goWorker    kind = "go"
	torchWorker kind = "torch"
	numpyWorker kind = "numpy"
	cWorker     kind = "c"
)

// tools are what was made for workers, once for the suite.
type tools struct {
	once  sync.Once
	err   error // of writing the workers' sources
	built sync.Once
	c     string // the C worker
	cErr  error
}

// lane is one device with the workers that are kept for it. Its mutex is held
// while a case is measured there.
type lane struct {
	mu       sync.Mutex
	number   int // from 0
	sessions map[role]*harness.Session
	absent   map[role]error // why a worker cannot be had, found out once
	early    *early         // nil if none is being started
}

// early is a worker that is being started while another one is.
type early struct {
	role   role
	opened func() (*harness.Session, error) // waits for it
	cancel context.CancelFunc               // of the start alone
}

// role is a worker in a part: the reference's is another process than the
// solution's, and trusted.
type role struct {
	kind    kind
	trusted bool // it runs nothing but references
	side    side
	// solution is the content of a foreign solution: none runs in a process that
	// another one could have changed.
	solution string
}

// side is the part of a process in a measurement.
type side string

const (
	referenceSide side = "reference"
	solutionSide  side = "solution"
)

func (s *Suite) lane(d bench.Device) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[d]
	if l == nil {
		l = &lane{number: s.opened, sessions: map[role]*harness.Session{}, absent: map[role]error{}}
		s.lanes[d], s.opened = l, s.opened+1
	}
	return l
}

func (l *lane) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ends errgroup.Group // a program with a device's context takes a while to exit
	for _, session := range l.sessions {
		ends.Go(session.Close)
	}
	clear(l.sessions)
	return ends.Wait()
}

// session returns a live worker, started if need be. fresh ends one that is
// there first.
func (s *Suite) session(ctx context.Context, l *lane, r role, d bench.Device, fresh bool) (*harness.Session, error) {
	if known := l.sessions[r]; known != nil && !known.Dead() && !fresh {
		return known, nil
	}
	if err := l.absent[r]; err != nil {
		return nil, err
	}
	opened, err := s.startOrAwait(ctx, l, r, d)
	if err != nil {
		if absent := (unavailable{}); ctx.Err() == nil && errors.As(err, &absent) {
			l.absent[r] = err
		}
		return nil, err
	}
	l.sessions[r] = opened
	return opened, nil
}

// startEarly begins to start the worker of a point's solution, if none is there: Python takes seconds to load torch,
// and meanwhile that of the reference starts. What is not awaited is ended by [lane.dropEarly].
func (s *Suite) startEarly(ctx context.Context, l *lane, p *point, d bench.Device) error {
	r := s.roleOf(p)
	if known := l.sessions[r]; known != nil && !known.Dead() && !s.isolated(p) || l.absent[r] != nil {
		return nil
	}
	if err := l.end(r.side); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var opened *harness.Session
	var err error
	go func() {
		defer close(done)
		opened, err = s.start(ctx, r, d)
	}()
	l.early = &early{r, func() (*harness.Session, error) { <-done; return opened, err }, cancel}
	return nil
}

// dropEarly ends what was started early and not used.
func (l *lane) dropEarly() error {
	e := l.early
	if e == nil {
		return nil
	}
	l.early = nil
	e.cancel()
	opened, err := e.opened()
	if err != nil { // it was not needed
		return nil
	}
	return opened.Close()
}

func (s *Suite) startOrAwait(ctx context.Context, l *lane, r role, d bench.Device) (*harness.Session, error) {
	if e := l.early; e != nil && e.role == r {
		l.early = nil
		return e.opened()
	}
	if err := l.end(r.side); err != nil {
		return nil, err
	}
	return s.start(ctx, r, d)
}

// end ends all workers of a side: of each there is one at a time, so that what
// one left behind cannot disturb the next.
func (l *lane) end(of side) error {
	for r, session := range l.sessions {
		if r.side == of {
			delete(l.sessions, r)
			if err := session.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts a worker. One that this host does not have is unavailable.
func (s *Suite) start(ctx context.Context, r role, d bench.Device) (*harness.Session, error) {
	req, hello, err := s.request(ctx, r, d)
	if err != nil {
		return nil, err
	}
	limits, a := s.body.limits(), suite.WatchdogOf(ctx)
	limits.Silence, limits.Dump = a.NoOutput, a.Dump
	opened, err := harness.Open(ctx, &worker.Isolated{Environ: s.env.Environ}, req, hello, limits, s.env.Now)
	return opened, starting(ctx, err)
}

// request is what starts a worker, and what it is asked first.
func (s *Suite) request(ctx context.Context, r role, d bench.Device) (worker.Request, harness.Hello, error) {
	args, err := s.command(ctx, r)
	req := worker.Request{Args: args, Dir: s.dir}
	if s.env.Pin != nil {
		req.Env = s.env.Pin(d)
	}
	if r.kind == cWorker {
		req.Env = append(req.Env, "CC="+s.body.Compiler)
	}
	return req, harness.Hello{Device: s.body.Device, Private: r.side != solutionSide}, err
}

// roleOf is that of a point's solution.
func (s *Suite) roleOf(p *point) role {
	r := role{kind: p.worker, trusted: p.virtual, side: solutionSide}
	if !p.virtual && p.worker != goWorker {
		r.solution = p.solution.Hash()
	}
	return r
}

// isolated reports whether each case of a point has a worker of its own.
func (s *Suite) isolated(p *point) bool { return s.body.Isolated || p.settings.UseIsolatedRunner.V }

// solution returns the worker of a point's solution. Python without torch
// still has numpy, which is enough for some.
func (s *Suite) solution(ctx context.Context, l *lane, p *point, d bench.Device) (*harness.Session, error) {
	r := s.roleOf(p)
	fresh := s.isolated(p)
	session, err := s.session(ctx, l, r, d, fresh)
	if absent := (unavailable{}); !errors.As(err, &absent) || p.worker != torchWorker || p.solution.Language != "python" || p.virtual {
		return session, err
	}
	r.kind = numpyWorker
	numpy, numpyErr := s.session(ctx, l, r, d, fresh)
	if numpyErr != nil {
		return nil, err
	}
	return numpy, nil
}

// unavailable means that a worker cannot be had on this host.
type unavailable struct{ error }

// command returns what starts a worker.
func (s *Suite) command(ctx context.Context, r role) ([]string, error) {
	if r.kind == goWorker {
		return []string{s.env.Executable, "kernels", "worker"}, nil
	}
	s.tools.once.Do(func() { s.tools.err = workers.Write(s.dir) })
	if s.tools.err != nil {
		return nil, s.tools.err
	}
	if r.kind == cWorker {
		s.tools.built.Do(func() { s.tools.c, s.tools.cErr = s.compile(ctx) })
		return []string{s.tools.c}, s.tools.cErr
	}
	program := workers.Torch
	if r.kind == numpyWorker {
		program = workers.Numpy
	}
	args := workers.Python(s.body.Python, s.dir, program)
	if r.trusted {
		args = append(args, workers.Trusted)
	}
	return args, nil
}

// programs implements Programs of [suite.Plan]: what runs or compiles the solutions that this host measures.
func (s *Suite) programs() (all []suite.Program) {
	of := map[kind]string{torchWorker: s.body.Python, numpyWorker: s.body.Python, cWorker: s.body.Compiler}
	for _, p := range s.points {
		name := of[p.worker]
		if p.skip == "" && name != "" && !slices.ContainsFunc(all, func(p suite.Program) bool { return p.Name == name }) {
			all = append(all, suite.Program{Name: name})
		}
	}
	return all
}

func (s *Suite) compile(ctx context.Context) (string, error) {
	args, program := workers.Compile(s.body.Compiler, s.dir)
	response, err := s.env.Worker.Do(ctx, worker.Request{Args: args, Dir: s.dir, Timeout: s.limit()})
	switch {
	case err != nil:
		return "", err
	case errors.Is(response.StartErr, worker.ErrNotFound):
		return "", unavailable{fmt.Errorf("no C compiler %q: install one, or set cc", s.body.Compiler)}
	case !response.OK():
		return "", unavailable{
			fmt.Errorf("the C worker cannot be compiled (%s): see the log of %s: %.500s", response.Reason(), s.body.Compiler, response.Log),
		}
	}
	return program, nil
}

// trusted returns the worker of the definition's reference: torch runs the text
// of the definition, and the Go worker the kernel that is the same.
func (s *Suite) trusted(ctx context.Context, l *lane, p *point, d bench.Device) (*harness.Session, harness.Build, error) {
	entry, known := gokernel.EntryPoint(p.definition.Name)
	if s.body.Reference != "go" {
		session, err := s.session(ctx, l, role{kind: torchWorker, trusted: true, side: referenceSide}, d, false)
		absent := unavailable{}
		switch {
		case err == nil:
			build, err := s.build(l, asSolution(p.definition), referenceSide)
			return session, build, err
		case !errors.As(err, &absent):
			return nil, harness.Build{}, err
		case s.body.Reference == "torch" || !known:
			return nil, harness.Build{}, unavailable{
				fmt.Errorf("the reference needs Python with torch (%w): install it, or set python", err),
			}
		}
	}
	if !known {
		return nil, harness.Build{}, unavailable{fmt.Errorf("the Go worker has no kernel for %s: set reference: torch", p.definition.Name)}
	}
	session, err := s.session(ctx, l, role{kind: goWorker, trusted: true, side: referenceSide}, d, false)
	return session, harness.Build{ID: p.definition.Hash(), Definition: p.definition.Name, Language: "go", EntryPoint: entry, DPS: true}, err
}

// buildOf is the build of a point's solution. One of a dataset may have a setup.
func (s *Suite) buildOf(l *lane, p *point) (harness.Build, error) {
	b, err := s.build(l, p.solution, solutionSide)
	b.Setup = !p.virtual
	return b, err
}

// build writes a solution's sources into a folder of their own, once for each
// content, side and lane: what a solution writes there no reference reads, and
// what a worker builds there no other one writes at the same time. Its id is that
// of its content, because a worker keeps what it built.
func (s *Suite) build(l *lane, sol *flashinfer.Solution, of side) (harness.Build, error) {
	b := harness.Build{
		ID:           sol.Hash(),
		Definition:   sol.Definition,
		Language:     sol.Language,
		Binding:      bindingOf(sol),
		EntryPoint:   sol.EntryPoint,
		DPS:          sol.DestinationPassing,
		Dependencies: linked(sol),
		Cache:        s.builds,
	}
	if len(sol.Sources) == 0 || sol.Language == "go" {
		return b, nil
	}
	b.Dir = filepath.Join(s.dir, fmt.Sprintf("%s-%d-%.32s", of, l.number, b.ID))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written[b.Dir] {
		return b, nil
	}
	for _, source := range sol.Sources {
		path := filepath.Join(b.Dir, filepath.FromSlash(source.Path)) // checked when it was read: relative, without ".."
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return b, inputProblem{fmt.Errorf("write the sources of %s: %w: rename what is in its way", sol.Name, err)}
		}
		if err := os.WriteFile(path, []byte(source.Content), 0o600); err != nil {
			return b, inputProblem{fmt.Errorf("write the sources of %s: %w: rename what is in its way", sol.Name, err)}
		}
	}
	s.written[b.Dir] = true
	return b, nil
}
