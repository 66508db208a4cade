package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// What the zero Isolated allows.
const (
	DefaultMaxStdout = 8 << 20
	defaultMaxStderr = 64 << 10
	defaultGrace     = 2 * time.Second
	// defaultKillWait is long because a process that maps a large device or
	// much pinned memory is killed in seconds, not in milliseconds.
	defaultKillWait = 30 * time.Second
)

// Isolated is a Worker that starts one process per request, as the leader of
// a process group of its own. When the child ends, or is stopped, so does all
// that it left behind; the package comment says how far that reaches.
//
// The fields must not change after the first Do.
type Isolated struct {
	// Environ is the environment of this process, NAME=VALUE; children get
	// what [Scrub] leaves of it. Nil means an empty environment.
	Environ []string
	// MaxStdout and MaxStderr bound the bytes kept of each stream.
	MaxStdout, MaxStderr int
	// Grace is the time between asking a group to end and killing it.
	Grace time.Duration
	// KillWait is the time that a killed child may take to be gone. After it
	// Do gives up with an error: the child hangs in the kernel, most likely
	// in a driver, and whatever is measured next is not worth having.
	KillWait time.Duration

	once     sync.Once
	scrubbed []string
}

var _ Worker = (*Isolated)(nil)

// Close implements [Worker]. There is nothing to release.
func (*Isolated) Close() error { return nil }

// Do implements [Worker].
func (w *Isolated) Do(ctx context.Context, req Request) (Response, error) {
	switch {
	case len(req.Args) == 0:
		return notStarted(errNoProgram)
	case len(req.Params) > 0:
		return notStarted(errors.New("params are for a persistent child: choose the persistent worker, or remove them"))
	case ctx.Err() != nil:
		return Response{End: Cancelled, ExitCode: -1}, stopped(ctx, req)
	}
	out := newCapture(cmp.Or(w.MaxStdout, DefaultMaxStdout), cmp.Or(w.MaxStderr, defaultMaxStderr))
	out.transcript.max = req.Transcript
	var c *child
	instructions, err := countInstructions(func() (err error) {
		c, err = w.start(req, out)
		return err
	})
	if err != nil {
		instructions()
		return notStarted(err)
	}
	seen := lookAt(c.process.Pid, c.exited)
	end := awaitAlive(ctx, c.exited, req.Timeout, req.NoOutput, c.started, req.heard(&out.last))
	if req.dumps(end) {
		c.dump(&out.stacks, &out.last, out.log.String(), w.scrubbed)
	}
	resp, err := c.conclude(end)
	counted := instructions()
	if err == nil {
		seen(resp.Wall, &resp.Usage)
		resp.Usage.Instructions = counted
	}
	out.report(&resp)
	resp.Quiet = req.quiet(end)
	if err == nil && resp.End == Cancelled {
		err = stopped(ctx, req)
	}
	return resp, err
}

// quiet is Response.Quiet of a child that came to this end.
func (r *Request) quiet(end End) time.Duration {
	if end != Silent {
		return 0
	}
	return r.NoOutput
}

func (w *Isolated) start(req Request, out output) (*child, error) {
	w.once.Do(func() { w.scrubbed = Scrub(w.Environ) })
	cmd, err := command(req, w.scrubbed)
	if err != nil {
		return nil, err
	}
	c, err := startChild(cmd, out, cmp.Or(w.Grace, defaultGrace), cmp.Or(w.KillWait, defaultKillWait))
	if err != nil {
		return nil, explain(err, req)
	}
	return c, nil
}

// startWithInput starts a child that is talked with, and returns the end of its
// standard input that is written to.
func startWithInput(req Request, environ []string, out output, grace, killWait time.Duration) (*child, *os.File, error) {
	cmd, err := command(req, environ)
	if err != nil {
		return nil, nil, err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close()
	cmd.Stdin = theirs
	c, err := startChild(cmd, out, grace, killWait)
	if err != nil {
		_ = ours.Close()
		return nil, nil, explain(err, req)
	}
	return c, ours, nil
}

var errNoProgram = errors.New("no program was named")

func notStarted(err error) (Response, error) {
	return Response{End: NotStarted, ExitCode: -1, StartErr: err}, nil
}

func stopped(ctx context.Context, req Request) error {
	return fmt.Errorf("run %s: %w", program(req), context.Cause(ctx))
}

func program(req Request) string { return filepath.Base(req.Args[0]) }

// command prepares a child; env is what every request inherits.
func command(req Request, env []string) (*exec.Cmd, error) {
	if len(req.Unset) > 0 {
		env = without(env, req.Unset)
	}
	if len(req.Env) > 0 {
		env = append(slices.Clip(env), Scrub(req.Env)...)
	}
	path, err := Find(req.Args[0], env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: asStep(req.Args), Dir: req.Dir, Env: env}
	setGroup(cmd)
	return cmd, nil
}

// Find looks a program up in the absolute folders of the PATH of environ, as a
// child with this environment is started; a name with a path separator is
// returned as it is. exec.LookPath would look in the PATH of this process. The
// error wraps [ErrNotFound].
func Find(name string, environ []string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	for _, dir := range filepath.SplitList(Getenv(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%q: %w in PATH", name, ErrNotFound)
}

// explain distinguishes a missing program from a missing working directory, which the
// system reports alike.
func explain(err error, req Request) error {
	if req.Dir != "" {
		if _, dirErr := os.Stat(req.Dir); dirErr != nil {
			return fmt.Errorf("working directory: %w", dirErr)
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}
