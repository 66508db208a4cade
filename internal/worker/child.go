package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// leftoverWait is how long the output may stay open once the child has
	// exited: long enough for a helper process to flush and to clean up after
	// its parent, short against starting the next cell.
	leftoverWait = 250 * time.Millisecond
	// readWait is how long reading the rest may take once the tree is killed.
	// It is used up only where a process is out of reach and keeps the output.
	readWait = time.Second
)

// child is a started process, the leader of its group and root of its tree.
type child struct {
	tree
	step     *step // nil for other programs than srun
	cmd      *exec.Cmd
	process  *os.Process
	out      output
	pipes    [2]io.Closer
	started  time.Time
	exited   chan struct{}
	grace    time.Duration
	killWait time.Duration
	oomKills int64 // of the system, before the child or the request
}

// startChild starts cmd. We read the pipes ourselves, because os/exec waits for
// its copying only after it has reaped the leader, when the number of the
// group is no longer safe to signal.
func startChild(cmd *exec.Cmd, out output, grace, killWait time.Duration) (c *child, err error) {
	err = onCPUs(cmd.Env, func() error {
		c, err = startHere(cmd, out, grace, killWait)
		return err
	})
	return c, err
}

// startHere starts a child on the processors of this thread.
func startHere(cmd *exec.Cmd, out output, grace, killWait time.Duration) (*child, error) {
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
		step: stepOf(cmd.Args, cmd.Env), cmd: cmd, out: out, pipes: [2]io.Closer{stdout, stderr},
		started: time.Now(), exited: make(chan struct{}), grace: grace, killWait: killWait,
	}
	if err := c.start(cmd); err != nil { // has closed the pipes
		return nil, err
	}
	c.process = cmd.Process
	out.start(stdout, stderr)
	c.oomKills, _ = oomKills() // read while the child comes up, which costs no time then
	go func() {                // ends with the process, which conclude waits for
		awaitExit(c.process)
		close(c.exited)
	}()
	return c, nil
}

func (c *child) await(ctx context.Context, timeout time.Duration) End {
	return awaitEnd(ctx, c.exited, timeout)
}

// awaitEnd waits until exited is closed, the time is up (zero means no bound)
// or ctx is done.
func awaitEnd(ctx context.Context, exited <-chan struct{}, timeout time.Duration) End {
	var limit <-chan time.Time
	if timeout > 0 {
		limit = time.After(timeout)
	}
	select {
	case <-exited:
		return Exited
	case <-limit:
		return TimedOut
	case <-ctx.Done():
		return Cancelled
	}
}

// conclude ends the tree of a child that has exited, or that is to be stopped
// for the reason end. It returns an error if something cannot be killed.
func (c *child) conclude(end End) (resp Response, err error) {
	gone := end == Exited || c.stop()
	wall := time.Since(c.started)
	if gone {
		err = c.clean()
	} else {
		c.abandon()
		err = fmt.Errorf("%s (process %d) is still there %v after it was killed: "+
			"a driver may hang; look at dmesg, reset the device or restart the host", c.name(), c.process.Pid, c.killWait)
	}
	if resp = c.response(end, wall); resp.End != Exited {
		err = errors.Join(err, c.step.end(c.killWait))
	}
	for _, p := range c.pipes { // ends the readers, whoever still holds the other side
		_ = p.Close()
	}
	c.out.await(nil)
	return resp, err
}

func (c *child) name() string { return filepath.Base(c.cmd.Args[0]) }

func (c *child) stop() (gone bool) {
	interrupt(c.process)
	return c.exitsWithin(c.grace) || c.dies()
}

func (c *child) dies() (gone bool) {
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

// clean ends what the exited child left behind and reaps the child.
func (c *child) clean() error {
	ended := c.out.await(time.After(leftoverWait))
	sweep(c.process)
	if ended && c.waitAlone(c.cmd) {
		return nil
	}
	left := c.end(c.killWait)
	c.out.await(time.After(readWait))
	c.wait(c.cmd)
	if left != 0 {
		return fmt.Errorf("process %d, which %s left behind, is still there %v after it was killed: end it by hand "+
			"if it is another user's; else a driver may hang: look at dmesg, reset the device or restart the host", left, c.name(), c.killWait)
	}
	return nil
}

// response returns how the child ended, and nothing of its output.
func (c *child) response(end End, wall time.Duration) Response {
	resp := Response{End: end, ExitCode: -1, Wall: wall}
	if c.cmd.ProcessState == nil {
		return resp
	}
	resp.ExitCode, resp.Usage = c.cmd.ProcessState.ExitCode(), c.usage()
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		resp.Signal = status.Signal().String()
		if end == Exited {
			resp.End = Signalled
		}
	}
	if resp.End == Signalled && resp.Signal == killed || resp.End == Exited && signalName(resp.ExitCode-128) == killed {
		count, ok := oomKills()
		resp.OutOfMemory = ok && count > c.oomKills
	}
	return resp
}

// usage is that of the child, which was waited for.
func (c *child) usage() Usage {
	u := usageOf(c.cmd.ProcessState)
	u.add(c.orphans)
	u.Hidden = u.PeakRSS > 0 && hidden(u.PeakRSS)
	return u
}
