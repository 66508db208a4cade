package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// The labels of a container.
const (
	labelOwner     = "accelgate.owner"     // the process that it belongs to, see [owner]
	labelContainer = "accelgate.container" // the container that this process is in, if any
)

// owner names a process for as long as the machine runs: numbers of processes
// are given again, and every container counts its own. The zero owner, that of
// a system without /proc, owns nothing that could be recognised as left over.
type owner struct {
	boot      string // of the machine, /proc/sys/kernel/random/boot_id
	namespace string // of process numbers
	pid       int
	started   uint64 // in ticks after the boot
}

// thisProcess returns the owner of all that this process creates.
func thisProcess() owner {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	stat, ok := parseStat(readStart("/proc/self/stat"))
	boot := strings.TrimSpace(string(readStart("/proc/sys/kernel/random/boot_id")))
	if err != nil || !ok || boot == "" {
		return owner{}
	}
	return owner{boot: boot, namespace: namespace, pid: os.Getpid(), started: stat.started}
}

func (o owner) String() string {
	return fmt.Sprintf("%s/%s/%d/%d", o.boot, o.namespace, o.pid, o.started)
}

func parseOwner(label string) (o owner, ok bool) {
	fields := strings.Split(label, "/")
	if len(fields) != 4 || fields[0] == "" || fields[1] == "" {
		return owner{}, false
	}
	pid, err := strconv.ParseUint(fields[2], 10, 31)
	started, err2 := strconv.ParseUint(fields[3], 10, 64)
	o = owner{boot: fields[0], namespace: fields[1], pid: int(pid), started: started}
	return o, err == nil && err2 == nil && pid > 0 && o.String() == label
}

// processStat is what counts of /proc/PID/stat, see proc_pid_stat(5).
type processStat struct {
	state   string
	started uint64
}

func parseStat(data []byte) (processStat, bool) {
	fields := statFields(string(data))
	if len(fields) < 20 {
		return processStat{}, false
	}
	started, err := strconv.ParseUint(fields[19], 10, 64)
	return processStat{fields[0], started}, err == nil
}

// statFields are the fields behind the name, which may hold anything: the 3rd of
// proc_pid_stat(5) comes first.
func statFields(stat string) []string {
	return strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
}

// lives reports whether the process is there; it must be one of this machine
// and of this namespace.
func (o owner) lives() bool {
	p, err := os.FindProcess(o.pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return false
	}
	stat, ok := parseStat(readStart(fmt.Sprintf("/proc/%d/stat", o.pid)))
	return !ok || stat.started == o.started && stat.state != "Z" && stat.state != "X" // of others' processes we may know no more
}

func (e *engine) labels() map[string]string {
	labels := map[string]string{}
	if e.owner != (owner{}) {
		labels[labelOwner] = e.owner.String()
	}
	if e.self != nil && e.self.id != "" {
		labels[labelContainer] = e.self.id
	}
	return labels
}

// sweep removes the containers of processes that are gone.
func (e *engine) sweep(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	all, err := e.ContainerList(call, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelOwner)})
	if err != nil {
		return e.unreachable(err)
	}
	for _, c := range all.Items {
		if !e.abandoned(ctx, c) {
			continue
		}
		if err := e.removeContainer(c.ID); err != nil && c.State == container.StateRunning {
			return fmt.Errorf("a run that was killed left a container, which would disturb this one: %w", err)
		}
	}
	return nil
}

// abandoned reports whether no process waits for a container. In doubt one
// does: another machine may use the engine, too.
func (e *engine) abandoned(ctx context.Context, c container.Summary) bool {
	o, ok := parseOwner(c.Labels[labelOwner])
	if !ok || e.owner == (owner{}) {
		return false
	}
	here := o.boot == e.owner.boot
	if here && o.namespace == e.owner.namespace {
		return !o.lives()
	}
	if id := c.Labels[labelContainer]; id != "" {
		return e.stopped(ctx, id)
	}
	// Before the machine was started anew; a running one is another machine's.
	return !here && strings.HasPrefix(e.host, "unix://") && (c.State == container.StateExited || c.State == container.StateDead)
}

// stopped reports whether a container does not run any more.
func (e *engine) stopped(ctx context.Context, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	r, err := e.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return errdefs.IsNotFound(err)
	}
	return r.Container.State != nil && !r.Container.State.Running
}
