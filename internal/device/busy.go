package device

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

var nvidiaProcesses = []string{"nvidia-smi", "--query-compute-apps=pid,used_memory,gpu_uuid", "--format=csv,noheader,nounits"}

const maxShown = 3 // processes in one warning

// process is a process that computes on an NVIDIA device.
type process struct {
	pid  int
	mib  float64 // of device memory; 0 where it is not known
	uuid string
}

// Busy warns of processes that use the NVIDIA devices right now, once for
// each device; no devices means all of this host. It asks nvidia-smi, found in
// the PATH of the worker's children, twice, and says nothing of the devices of
// other vendors, of MIG devices, and where nvidia-smi is not installed. In a
// container without the host's process ids nvidia-smi sees no processes.
//
// An error means that the worker cannot go on.
func Busy(ctx context.Context, w worker.Worker, devices []bench.Device) (warnings []string, err error) {
	ids, asked := nvidiaIDs(devices)
	if !asked || w == nil {
		return nil, nil
	}
	resp, err := w.Do(ctx, worker.Request{Args: nvidiaProcesses, Timeout: toolTimeout})
	if err != nil {
		return nil, fmt.Errorf("ask nvidia-smi for processes: %w", err)
	}
	if errors.Is(resp.StartErr, worker.ErrNotFound) {
		return nil, nil
	}
	if !resp.OK() {
		return []string{unseen(resp.Reason() + lastWords(resp.Log))}, nil
	}
	running := parseProcesses(resp.Stdout[:min(len(resp.Stdout), maxOutput)])
	if len(running) == 0 {
		return nil, nil
	}
	known, trouble, err := nvidiaGPUs(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("ask nvidia-smi for UUIDs: %w", err)
	}
	if len(known) == 0 {
		return []string{unseen(trouble)}, nil
	}
	return busy(running, known, ids), nil
}

func unseen(trouble string) string {
	return fmt.Sprintf("nvidia-smi does not report whether other processes use the devices (%s): "+
		"run nvidia-smi and check before you use the numbers", trouble)
}

// nvidiaIDs returns the ids to look at; none means all.
func nvidiaIDs(devices []bench.Device) (ids []string, asked bool) {
	for _, d := range devices {
		if d.Vendor == NVIDIA {
			ids = append(ids, d.ID)
		}
	}
	return ids, len(ids) > 0 || len(devices) == 0
}

func busy(running []process, known gpus, ids []string) []string {
	if len(ids) == 0 {
		for _, g := range known {
			ids = append(ids, g.index)
		}
	}
	var warnings []string
	for _, id := range ids {
		uuid := known.uuid(id)
		var users []string
		for _, p := range running {
			if p.uuid == uuid {
				users = append(users, p.String())
			}
		}
		if len(users) > 0 {
			warnings = append(warnings, used(bench.Device{Vendor: NVIDIA, ID: id}, users))
		}
	}
	return warnings
}

func used(d bench.Device, users []string) string {
	who, advice := "another process uses", "stop it, or wait until it ends"
	if len(users) > 1 {
		who, advice = fmt.Sprintf("%d other processes use", len(users)), "stop them, or wait until they end"
	}
	shown := strings.Join(users[:min(len(users), maxShown)], "; ")
	if len(users) > maxShown {
		shown += "; ..."
	}
	return fmt.Sprintf("%s %s (%s): its numbers are doubtful: %s", who, clean(d.String()), shown, advice)
}

// String returns "pid 4242, 3 GiB".
func (p process) String() string {
	s := "pid " + strconv.Itoa(p.pid)
	switch {
	case p.mib >= 1024:
		return s + ", " + strconv.FormatFloat(p.mib/1024, 'f', 0, 64) + " GiB"
	case p.mib > 0:
		return s + ", " + strconv.FormatFloat(p.mib, 'f', 0, 64) + " MiB"
	}
	return s
}

// parseProcesses reads lines like "4242, 3072, GPU-8932f937-...", with the
// memory in MiB, which Windows and some containers do not report: "[N/A]". A
// line that is none is left out: this only ever warns.
func parseProcesses(out []byte) []process {
	var running []process
	for line := range strings.Lines(string(out)) {
		rest, uuid := cutLast(line)
		id, memory := cutLast(rest)
		pid, err := strconv.ParseUint(clean(id), 10, 31)
		if err != nil || pid == 0 || !gpuUUID.MatchString(uuid) {
			continue
		}
		mib, _ := strconv.ParseFloat(memory, 64)
		if !(mib > 0 && mib < 1<<30) {
			mib = 0
		}
		running = append(running, process{int(pid), mib, uuid})
	}
	return running
}
