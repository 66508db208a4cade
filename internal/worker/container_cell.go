package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// cell is one container.
type cell struct {
	engine   *engine
	spec     client.ContainerCreateOptions
	grace    time.Duration
	killWait time.Duration

	id       string   // its name
	full     string   // the engine's id of it
	environ  []string // in which programs that look at it are looked up
	out      *capture
	stream   client.HijackedResponse
	drained  chan struct{} // closed when the output has ended
	cut      bool          // the output ended otherwise than by its end; valid once drained
	started  time.Time
	oomKills int64         // of the system, before the container
	exited   chan struct{} // closed when the container has ended, or the engine is lost
	lost     error         // why the engine is lost; valid once exited
	code     int           // exit code as the engine's wait tells it; valid once exited
}

// do runs the container from its creation to its removal. No call is cut short
// by ctx, lest a container be left without a record; waiting is.
func (c *cell) do(ctx context.Context, pull bool, req *Request) (resp Response, err error) {
	err = c.create(ctx)
	if errors.Is(err, errNoImage) && pull {
		if err = c.pull(ctx); err == nil {
			err = c.create(ctx)
		}
	}
	if err != nil {
		return noContainer(ctx, err)
	}
	defer func() { err = cmp.Or(err, c.remove()) }()
	if err := c.start(ctx); err != nil {
		return noContainer(ctx, err)
	}
	return c.finish(ctx, req)
}

// noContainer distinguishes an outcome from the loss of the engine.
func noContainer(ctx context.Context, err error) (Response, error) {
	if u := (*unreachable)(nil); errors.As(err, &u) {
		return unserved(err)
	}
	if ctx.Err() != nil { // while pulling
		return Response{End: Cancelled, ExitCode: -1}, nil
	}
	return notStarted(err)
}

var errNoImage = errors.New("no such image")

func (c *cell) create(ctx context.Context) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), workLimit)
	defer cancel()
	// A name of our own lets the container be removed even if the engine's
	// answer is lost.
	c.spec.Name = "accelgate-" + strings.ToLower(rand.Text())
	c.id = c.spec.Name
	created, err := c.engine.ContainerCreate(call, c.spec)
	c.full = created.ID
	if errdefs.IsNotFound(err) && c.imageMissing(call) {
		image := c.spec.Config.Image
		return fmt.Errorf("%w as %s on the engine at %s, and nothing is pulled unasked: run '%s pull %s'",
			errNoImage, image, c.engine.host, c.engine.command(), image)
	}
	if err != nil && !answered(err) {
		_ = c.remove()
	}
	return c.engine.call(err)
}

func (c *cell) imageMissing(call context.Context) bool {
	_, err := c.engine.ImageInspect(call, c.spec.Config.Image)
	return errdefs.IsNotFound(err)
}

// pull takes as long as it takes, until ctx is done.
func (c *cell) pull(ctx context.Context) error {
	image := c.spec.Config.Image
	progress, err := c.engine.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = progress.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("pull image %s: %w: see what '%s pull %s' prints", image, err, c.engine.command(), image)
	}
	return nil
}

// start attaches to the output first, so that none of it is missed.
func (c *cell) start(ctx context.Context) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), workLimit)
	defer cancel()
	attached, attachErr := c.engine.ContainerAttach(call, c.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if attachErr == nil {
		c.stream = attached.HijackedResponse
		c.drained = make(chan struct{})
		go c.drain() // ends with the container's output, or when finish closes the stream
	}
	c.oomKills, _ = oomKills()
	c.started = time.Now()
	_, err := c.engine.ContainerStart(call, c.id, client.ContainerStartOptions{})
	switch {
	case err != nil: // says why attaching failed, too: podman prepares the container for it
		if attachErr == nil {
			c.stream.Close()
			<-c.drained
		}
		return startError(c.engine.call(err))
	case attachErr != nil:
		return c.engine.unreachable(attachErr)
	}
	return nil
}

// startError distinguishes a missing program from everything else that may be wrong.
func startError(err error) error {
	if err != nil && absentProgram.MatchString(err.Error()) {
		return fmt.Errorf("%w in the image: %w", ErrNotFound, err)
	}
	return err
}

// absentProgram matches the words of runc and of crun.
var absentProgram = lazyregexp.New(`exec: "[^"]*": (executable file not found|stat .*: no such file)|executable file .* not found`)

// drain reads the output to its end.
func (c *cell) drain() {
	defer close(c.drained)
	stdout := writer{&logged{c.out.copied(c.out.stdout.write), splitter{log: &c.out.log}}, &c.out.last}
	stderr := writer{&logged{c.out.copied(c.out.stderr.write), splitter{log: &c.out.log}}, &c.out.last}
	_, err := stdcopy.StdCopy(stdout, stderr, c.stream.Reader)
	c.cut = err != nil
	stdout.flush()
	stderr.flush()
}

// writer is a sink that another package writes to.
type writer struct {
	sink
	last *atomic.Int64 // as in streams
}

func (w writer) Write(p []byte) (int, error) {
	w.last.Store(time.Now().UnixNano())
	w.write(p)
	return len(p), nil
}

// finish waits for the end of the container, or brings it about.
func (c *cell) finish(ctx context.Context, req *Request) (Response, error) {
	watch, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.exited = make(chan struct{})
	go c.watch(watch) // ends by cancel at the latest
	end := awaitAlive(ctx, c.exited, req.Timeout, req.NoOutput, c.started, req.heard(&c.out.last))
	if req.dumps(end) {
		c.dump(watch)
	}
	var gone, forced = true, false
	if end != Exited {
		gone, forced = c.stop(watch)
	}
	wall := time.Since(c.started)
	if gone && c.lost == nil {
		awaitClosed(c.drained, drainWait)
	}
	c.stream.Close()
	<-c.drained
	cancel()
	<-c.exited
	resp := Response{End: end, ExitCode: -1, Wall: wall, Quiet: req.quiet(end)}
	c.out.report(&resp)
	resp.StdoutTruncated = resp.StdoutTruncated || c.cut
	switch {
	case !gone:
		return resp, fmt.Errorf("container %s is still there %v after it was killed: a driver may hang; look at dmesg, "+
			"reset the device or restart the host", c.id, c.killWait)
	case c.lost != nil:
		return resp, c.engine.unreachable(fmt.Errorf("lost container %s, which the next run removes: %w", c.id, c.lost))
	}
	err := c.inspect(&resp, forced)
	return resp, err
}

// The exit codes that engines give to a command that SIGKILL or SIGTERM ended.
const afterKill, afterTerm = 128 + 9, 128 + 15

// drainWait is how long the engine may take to hand over what is left of the
// output of a container that has ended.
const drainWait = 10 * time.Second

func awaitClosed(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// watch waits for the end of the container. The engine's own wait is the sure
// way; podman looks only four times a second, so the end of the output, which
// mostly is the end of the container, makes us look ourselves.
func (c *cell) watch(ctx context.Context) {
	defer close(c.exited)
	waiting, cancel := context.WithCancel(ctx)
	wait := c.engine.ContainerWait(waiting, c.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	drained := c.drained
	var look <-chan time.Time
	pause := 5 * time.Millisecond
	for {
		select {
		case r := <-wait.Result:
			cancel()
			c.code = int(r.StatusCode)
			return
		case err := <-wait.Error:
			cancel()
			c.code = afterKill
			if !errdefs.IsNotFound(err) { // else it was removed
				c.lost = err
			}
			return
		case <-drained:
			drained, look = nil, time.After(0)
		case <-look:
			if state, err := c.state(ctx); err == nil && hasEnded(state) {
				c.code = state.ExitCode
				cancel()
				select { // the client sends one of them, and hangs without a receiver
				case <-wait.Result:
				case <-wait.Error:
				}
				return
			}
			if look = nil; pause < 100*time.Millisecond {
				pause *= 2
				look = time.After(pause)
			}
		}
	}
}

// hasEnded takes podman's word, too, for a container that it has yet to clean
// up after.
func hasEnded(state *container.State) bool {
	return !state.Running &&
		slices.Contains([]container.ContainerState{container.StateExited, container.StateDead, "stopped"}, state.Status)
}

func (c *cell) state(ctx context.Context) (*container.State, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	r, err := c.engine.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if err == nil && r.Container.State == nil {
		err = errors.New("the engine does not state how the container ended")
	}
	return r.Container.State, err
}

// stop asks the command to end and kills the container if it does not.
func (c *cell) stop(ctx context.Context) (gone, forced bool) {
	c.signal(ctx, "SIGTERM", c.grace)
	if awaitClosed(c.exited, c.grace) {
		return true, false
	}
	c.signal(ctx, "SIGKILL", c.killWait)
	return awaitClosed(c.exited, c.killWait), true
}

// signal sends a signal. It fails where the container has ended, which watch
// finds out, and where it cannot be killed, which stop does.
func (c *cell) signal(ctx context.Context, name string, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, max(limit, time.Second))
	defer cancel()
	_, _ = c.engine.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: name})
}

// inspect fills in how the container ended.
func (c *cell) inspect(resp *Response, forced bool) error {
	state, err := c.state(context.Background())
	if errdefs.IsNotFound(err) { // it was removed
		state, err = &container.State{ExitCode: c.code}, nil
	}
	if err != nil {
		return c.engine.unreachable(err)
	}
	resp.ExitCode, resp.OutOfMemory = state.ExitCode, state.OOMKilled || c.ranOut(resp.End, state)
	resp.Wall = cmp.Or(lasted(state), resp.Wall)
	switch { // the cases in which a code is known to stand for a signal
	case resp.End == Exited && resp.OutOfMemory && state.ExitCode == afterKill:
		resp.End, resp.Signal, resp.ExitCode = Signalled, killed, -1
	case resp.End != Exited && (forced && state.ExitCode == afterKill || state.ExitCode == afterTerm):
		resp.Signal, resp.ExitCode = signalName(state.ExitCode-128), -1
	case resp.End == Exited:
		resp.Crashed = slices.Contains(crashes, state.ExitCode-128)
	}
	return nil
}

// crashes are the numbers on Linux, whose programs containers run, of the signals by which
// programs crash: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV and SIGSYS of
// signal(7).
var crashes = []int{4, 5, 6, 7, 8, 9, 11, 31}

// dump asks the processes of the container for their stacks, and waits until they have printed
// them.
func (c *cell) dump(ctx context.Context) {
	to, began := &c.out.stacks, time.Now()
	to.begin(c.out.log.String())
	all, signalled := requestContainerStacks(to, c.full, c.environ)
	if !all {
		to.note("not all processes of the container can be asked from here, so the engine sends its command SIGQUIT:")
		c.signal(ctx, "SIGQUIT", c.grace)
		signalled = true
	}
	if signalled {
		awaitStacks(began, &c.out.last, func(limit time.Duration) bool { return awaitClosed(c.exited, limit) })
	}
}

// ranOut completes what podman leaves out where control groups are of version 1.
func (c *cell) ranOut(end End, state *container.State) bool {
	count, ok := oomKills()
	return ok && end == Exited && state.ExitCode == afterKill && count > c.oomKills && strings.HasPrefix(c.engine.host, "unix://")
}

// lasted returns how long the container ran by the engine's clock, which does
// not count what the engine takes to start it and to notice its end; zero
// where the engine's clock is too coarse to tell.
func lasted(state *container.State) time.Duration {
	from, err := time.Parse(time.RFC3339Nano, state.StartedAt)
	if err != nil {
		return 0
	}
	to, err := time.Parse(time.RFC3339Nano, state.FinishedAt)
	if err != nil {
		return 0
	}
	return max(0, to.Sub(from))
}

func (c *cell) remove() error { return c.engine.removeContainer(c.id) }

// removeContainer removes a container, running or not, and the volumes that
// were made for it.
func (e *engine) removeContainer(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), workLimit)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		_, err := e.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil || errdefs.IsNotFound(err):
			return nil
		case !answered(err):
			return e.unreachable(fmt.Errorf("container %s may be left: %w", id, err))
		case pause > time.Second:
			return fmt.Errorf("remove container %s: %w: remove it by '%s rm -f %s'", id, err, e.command(), id)
		}
		time.Sleep(pause) // another program removes it, or a mount is still busy
	}
}
