package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Container is a Worker that runs each request in a container of its own,
// next to this process, through the Docker Engine API: Docker's or podman's.
//
// The container sees one folder of this machine, [Container.Root], at the same
// path and writable, and starts in Request.Dir. Request.Args is its command;
// the image's entrypoint and command are not used. It inherits the image's
// environment and nothing of this process's but what Inherit names. It has no
// network unless Network says so, can gain no privileges, and is never given
// the engine's socket. It is removed before Do returns, and with it whatever
// it started.
//
// The command is process 1 of its container. Linux delivers SIGTERM to such a
// process only if it handles it, so at a time limit any other program uses up
// Grace and is killed. A program that a signal ended has the exit code 128+n;
// the engine does not say more, so Response.Crashed is set for signals by which
// programs crash.
//
// Request.Dump looks at the processes whose control group is the container's, where
// /proc shows them. Elsewhere only the command itself gets SIGQUIT, by the engine.
//
// When this process runs in a container itself, with the engine's socket
// mounted, its own mounts say what the engine calls a path; a path that is on
// none of them is an error.
//
// Containers are labelled with the process that they belong to. The first Do
// removes those whose process is gone, as after kill -9.
//
// The fields must not change after the first Do.
type Container struct {
	// Image names the image. It must be there: Do pulls nothing, because what
	// a tag names may change between two runs.
	Image string
	// Pull makes Do pull an absent image, without credentials. Name the image
	// by its digest then (name@sha256:...).
	Pull bool

	// GPUs are NVIDIA's: "all", a count, or "device=0,1". For other vendors
	// name the devices.
	GPUs string
	// Devices are HOST[:CONTAINER[:rwm]], or names of the Container Device
	// Interface such as "vendor.com/class=name".
	Devices []string
	// Mounts are HOST:CONTAINER[:ro]. HOST is a path of this process.
	Mounts []string
	// Root is the folder that the container sees at the same path; empty
	// means Request.Dir, which must not be outside of it.
	Root string
	// Env holds NAME=VALUE entries. Request.Env goes on top of it and
	// Request.Unset takes from it. What [Scrub] withholds is dropped.
	Env []string
	// Inherit names variables of Environ that go below Env.
	Inherit []string
	// User is a name or number as the engine takes it, with an optional group
	// after a colon; empty means the image's.
	User string
	// Network is the engine's name of a network; empty means "none".
	Network string
	// Memory and ShmSize bound the memory and /dev/shm, in bytes; zero means
	// the engine's default.
	Memory, ShmSize int64

	// Socket is the engine's address, unix://PATH or tcp://HOST:PORT; empty
	// means DOCKER_HOST of Environ, and the usual sockets without it.
	Socket string
	// Environ is the environment of this process, NAME=VALUE.
	Environ []string
	// SamePaths means that the engine calls all paths what this process calls
	// them, whatever container this process may be in.
	SamePaths bool

	// MaxStdout, MaxStderr and Grace are as in [Isolated].
	MaxStdout, MaxStderr int
	Grace                time.Duration

	mu     sync.Mutex // guards the first use
	engine *engine
}

var _ Worker = (*Container)(nil)

// Close implements [Worker].
func (w *Container) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.engine == nil {
		return nil
	}
	return w.engine.Close()
}

// Do implements [Worker]. What is wrong with the image, the mounts or the
// devices is in the Response; an error other than that of ctx means that the
// fields are malformed, that the engine cannot be reached, or that something
// of the container may be left.
func (w *Container) Do(ctx context.Context, req Request) (Response, error) {
	switch {
	case len(req.Args) == 0:
		return notStarted(errNoProgram)
	case len(req.Params) > 0:
		return notStarted(errors.New("params are for a persistent child, and containers do not keep one: remove them"))
	case ctx.Err() != nil:
		return Response{End: Cancelled, ExitCode: -1}, stopped(ctx, req)
	}
	e, err := w.connected(ctx)
	if err != nil {
		return unserved(err)
	}
	spec, err := w.spec(e, req)
	if err != nil {
		return notStarted(err)
	}
	cell := &cell{
		engine:   e,
		spec:     spec,
		environ:  Scrub(w.Environ),
		grace:    cmp.Or(w.Grace, defaultGrace),
		killWait: defaultKillWait,
		out:      newCapture(cmp.Or(w.MaxStdout, DefaultMaxStdout), cmp.Or(w.MaxStderr, defaultMaxStderr)),
	}
	resp, err := cell.do(ctx, w.Pull, &req)
	if err == nil && resp.End == Cancelled {
		err = stopped(ctx, req)
	}
	return resp, err
}

// connected returns the engine, which the first call looks for and rids of
// the leftovers of earlier processes.
func (w *Container) connected(ctx context.Context) (*engine, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.engine != nil {
		return w.engine, nil
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	e, err := w.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.supported(e), e.sweep(ctx)); err != nil {
		_ = e.Close()
		return nil, err
	}
	w.engine = e
	return e, nil
}

// supported refuses what the engine would leave out without saying so.
func (w *Container) supported(e *engine) error {
	if _, cdi, _ := parseDevices(w.Devices); (w.GPUs != "" || len(cdi) > 0) && e.ignoresDeviceRequests() {
		return fmt.Errorf("podman %s ignores requests for GPUs that come through its Docker API: "+
			"update it to 5.4, use Docker, or name the device files in devices", e.version)
	}
	return nil
}

func unserved(err error) (Response, error) {
	resp, _ := notStarted(err)
	return resp, err
}
