package worker

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// leftoverWait is how long the output may stay open once the child has
	// exited: long enough for a helper process to flush and to clean up after
	// its parent, short against starting the next cell.
	leftoverWait = 250 * time.Millisecond
	// readWait is how long reading the rest may take once the group is killed.
	// It is used up only where a process left the group and keeps the output.
	readWait = time.Second
)

// child is a started process, the leader of its group.
type child struct {
	cmd      *exec.Cmd
	process  *os.Process
	out      *capture
	pipes    [2]io.Closer
	started  time.Time
	exited   chan struct{}
	grace    time.Duration
	killWait time.Duration
}

// startChild starts cmd. We read the pipes ourselves, because os/exec waits for
// its copying only after it has reaped the leader, when the number of the
// group is no longer safe to signal.
func startChild(cmd *exec.Cmd, out *capture) (*child, error) {
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		_ = stdout.Close()
		return nil, err
	}
	c := &child{
		cmd:     cmd,
		out:     out,
		pipes:   [2]io.Closer{stdout, stderr},
		started: time.Now(),
		exited:  make(chan struct{}),
	}
	if err := cmd.Start(); err != nil { // has closed the pipes
		return nil, err
	}
	c.process = cmd.Process
	out.start(stdout, stderr)
	go func() { // ends with the process, which finish waits for
		awaitExit(c.process)
		close(c.exited)
	}()
	return c, nil
}

// finish waits for the end of the child, or brings it about, and ends what is
// left of its group. It reports gone == false if the child cannot be killed.
func (c *child) finish(ctx context.Context, timeout time.Duration) (resp Response, gone bool) {
	end := c.wait(ctx, timeout)
	gone = end == Exited || c.stop()
	wall := time.Since(c.started)
	if gone {
		c.out.await(time.After(leftoverWait))
		sweep(c.process)
		c.out.await(time.After(readWait))
		_ = c.cmd.Wait() // an exit code is no error; from here on the group's number may be given away
		reap(c.process, leftoverWait)
	}
	for _, p := range c.pipes { // ends the readers, whoever still holds the other side
		_ = p.Close()
	}
	c.out.await(nil)
	return c.response(end, wall), gone
}

func (c *child) wait(ctx context.Context, timeout time.Duration) End {
	var limit <-chan time.Time
	if timeout > 0 {
		limit = time.After(timeout)
	}
	select {
	case <-c.exited:
		return Exited
	case <-limit:
		return TimedOut
	case <-ctx.Done():
		return Cancelled
	}
}

func (c *child) stop() (gone bool) {
	interrupt(c.process)
	if c.exitsWithin(c.grace) {
		return true
	}
	kill(c.process)
	return c.exitsWithin(c.killWait)
}

func (c *child) exitsWithin(limit time.Duration) bool {
	select {
	case <-c.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

func (c *child) response(end End, wall time.Duration) Response {
	resp := Response{
		End:             end,
		ExitCode:        -1,
		Stdout:          c.out.stdout.buf,
		StdoutTruncated: c.out.stdout.truncated,
		Stderr:          c.out.stderr.bytes(),
		Log:             c.out.log.String(),
		Wall:            wall,
	}
	if c.cmd.ProcessState == nil {
		return resp
	}
	resp.ExitCode = c.cmd.ProcessState.ExitCode()
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		resp.Signal = status.Signal().String()
		if end == Exited {
			resp.End = Signalled
		}
	}
	return resp
}
