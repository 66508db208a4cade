package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/flashinfer"
	"github.com/accelgate/accelgate/internal/kernel"
	"github.com/accelgate/accelgate/internal/kernel/gokernel"
	"github.com/accelgate/accelgate/internal/kernel/workers"
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
	sessions map[role]*kernel.Session
}

// role is a worker in a part: the reference's is another process than the
// solution's, and trusted.
type role struct {
	kind    kind
	trusted bool // it runs nothing but references
	side    side
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
		l = &lane{sessions: map[role]*kernel.Session{}}
		s.lanes[d] = l
	}
	return l
}

func (l *lane) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for r, session := range l.sessions {
		errs = append(errs, session.Close())
		delete(l.sessions, r)
	}
	return errors.Join(errs...)
}

// session returns a live worker, started if need be.
func (s *Suite) session(ctx context.Context, l *lane, r role, d bench.Device) (*kernel.Session, error) {
	if known := l.sessions[r]; known != nil && !known.Dead() && (!s.body.Isolated || r.side == referenceSide) {
		return known, nil
	} else if known != nil {
		delete(l.sessions, r)
		if err := known.Close(); err != nil {
			return nil, err
		}
	}
	args, err := s.command(ctx, r)
	if err != nil {
		return nil, err
	}
	req := worker.Request{Args: args, Dir: s.dir}
	device := s.body.Device
	if s.env.Pin != nil {
		req.Env = s.env.Pin(d)
	}
	opened, err := kernel.Open(ctx, &worker.Isolated{Environ: s.env.Environ}, req, device, s.body.limits(), s.env.Now)
	if err != nil {
		return nil, err
	}
	l.sessions[r] = opened
	return opened, nil
}

// solution returns the worker of a point's solution. Python without torch
// still has numpy, which is enough for some.
func (s *Suite) solution(ctx context.Context, l *lane, p *point, d bench.Device) (*kernel.Session, error) {
	r := role{p.worker, p.solution.Name == referenceSolution, solutionSide}
	session, err := s.session(ctx, l, r, d)
	if err == nil || p.worker != torchWorker || p.solution.Language != "python" || r.trusted || ctx.Err() != nil {
		return session, s.starting(err)
	}
	numpy, numpyErr := s.session(ctx, l, role{numpyWorker, false, solutionSide}, d)
	if numpyErr != nil {
		return nil, s.starting(err)
	}
	return numpy, nil
}

// unavailable says that a worker cannot be had on this host.
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

func (s *Suite) compile(ctx context.Context) (string, error) {
	args, program := workers.Compile(s.body.Compiler, s.dir)
	response, err := s.env.Worker.Do(ctx, worker.Request{Args: args, Dir: s.dir, Timeout: s.limit()})
	switch {
	case err != nil:
		return "", err
	case errors.Is(response.StartErr, worker.ErrNotFound):
		return "", unavailable{fmt.Errorf("no C compiler %q: install one, or set cc", s.body.Compiler)}
	case !response.OK():
		return "", unavailable{fmt.Errorf("the C worker cannot be compiled (%s): see the log of %s: %.500s", response.Reason(), s.body.Compiler, response.Log)}
	}
	return program, nil
}

// trusted returns the worker of the definition's reference: torch runs the text
// of the definition, and the Go worker the kernel that is the same.
func (s *Suite) trusted(ctx context.Context, l *lane, p *point, d bench.Device) (*kernel.Session, kernel.Build, error) {
	entry, known := gokernel.EntryPoint(p.definition.Name)
	if s.body.Reference != "go" {
		session, err := s.session(ctx, l, role{torchWorker, true, referenceSide}, d)
		if err == nil {
			build, err := s.build(asSolution(p.definition), referenceSide)
			return session, build, err
		}
		if s.body.Reference == "torch" || !known || ctx.Err() != nil {
			return nil, kernel.Build{}, unavailable{fmt.Errorf("the reference needs Python with torch (%w): install it, or set python", err)}
		}
	}
	if !known {
		return nil, kernel.Build{}, unavailable{fmt.Errorf("the Go worker has no kernel for %s: set reference: torch", p.definition.Name)}
	}
	session, err := s.session(ctx, l, role{goWorker, true, referenceSide}, d)
	return session, kernel.Build{ID: p.definition.Hash(), Definition: p.definition.Name, Language: "go", EntryPoint: entry, DPS: true}, err
}

// build writes a solution's sources into a folder of their own, once for each
// content and side: what a solution writes there no reference reads. Its id is
// that of its content, because a worker keeps what it built.
func (s *Suite) build(sol *flashinfer.Solution, of side) (kernel.Build, error) {
	b := kernel.Build{ID: sol.Hash(), Definition: sol.Definition, Language: sol.Language, Binding: sol.Binding, EntryPoint: sol.EntryPoint,
		DPS: sol.DestinationPassing}
	if len(sol.Sources) == 0 || sol.Language == "go" {
		return b, nil
	}
	b.Dir = filepath.Join(s.dir, fmt.Sprintf("%s-%.32s", of, b.ID))
	if _, err := os.Stat(b.Dir); err == nil {
		return b, nil
	}
	for _, source := range sol.Sources {
		path := filepath.Join(b.Dir, filepath.FromSlash(source.Path)) // checked when it was read: relative, without ".."
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return b, fmt.Errorf("write the sources of %s: %w", sol.Name, err)
		}
		if err := os.WriteFile(path, []byte(source.Content), 0o600); err != nil {
			return b, fmt.Errorf("write the sources of %s: %w", sol.Name, err)
		}
	}
	return b, nil
}
