package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// NVIDIA is the vendor of CUDA's GPUs.
const NVIDIA = "nvidia"

var nvidia = vendor{
	name: NVIDIA, label: "cuda", hosts: []string{"linux", "windows"},
	systems: []string{"linux", "windows"}, tools: []tool{nvidiaSMI}, slices: nvidiaSlices, digests: nvidiaDigests,
	prefixes: []string{"GPU-", "MIG-"},
	// CUDA numbers devices from fast to slow unless CUDA_DEVICE_ORDER says
	// otherwise, and nvidia-smi by PCI bus:
	// https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
	pin: pinning{
		variable: cudaDevices, beside: []string{pciOrder}, id: nvidiaID, example: "nvidia:0", check: checkOrder,
	},
	gres: "gpu", resource: "nvidia.com/gpu", // https://github.com/NVIDIA/k8s-device-plugin
	physical: nvidiaNames, busy: nvidiaBusy, buses: busesOfNVIDIA, busTools: "nvidia-smi",
}

const (
	cudaDevices = "CUDA_VISIBLE_DEVICES"
	pciOrder    = "CUDA_DEVICE_ORDER=PCI_BUS_ID"
)

// nvidiaID is an index, or a UUID as "nvidia-smi -L" lists it, possibly
// abbreviated. MIG devices of drivers before 470 are named
// MIG-GPU-<UUID>/<GPU instance>/<compute instance>.
var nvidiaID = lazyregexp.New(`^(0|[1-9][0-9]{0,2}|(GPU|MIG)-[0-9A-Za-z][0-9A-Za-z/-]{0,95})$`)

var nvidiaSMI = tool{
	args:  []string{"nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"},
	parse: parseNVIDIA,
}

// parseNVIDIA reads lines like "NVIDIA H100 80GB HBM3, 81559, 550.54.15".
// Complaints stand between them, on the same stream. Devices that share the
// system's memory have "[N/A]" for their own.
func parseNVIDIA(out []byte) (inventory, error) {
	var found inventory
	for line := range strings.Lines(string(out)) {
		device, driver, ok := nvidiaRow(line)
		if ok {
			found.devices = append(found.devices, device)
			found.driver = driver
		} else if note := clean(line); note != "" {
			found.notes = append(found.notes, note)
		}
	}
	return found, nil
}

// nvidiaRow splits from the right, since only the name may hold a comma.
func nvidiaRow(line string) (device bench.Accelerator, driver string, ok bool) {
	rest, driver := cutLast(line)
	if driver == "" || driver[0] < '0' || driver[0] > '9' {
		return device, "", false
	}
	name, memory := cutLast(rest)
	if device.Model = clean(name); device.Model == "" {
		return device, "", false
	}
	if strings.HasPrefix(memory, "[") || memory == "N/A" {
		return device, driver, true
	}
	mib, err := strconv.ParseFloat(memory, 64)
	device.MemoryGiB = gibibytes(mib * (1 << 20))
	return device, driver, err == nil
}

// cutLast cuts at the last comma and returns what is behind it cleaned.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ',')
	if i < 0 {
		return "", clean(s)
	}
	return s[:i], clean(s[i+1:])
}

var nvidiaUUIDs = []string{"nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader,nounits"}

// nvidiaGPUs asks which UUID each index has. Without an answer the list is
// empty and trouble says why.
func nvidiaGPUs(ctx context.Context, w worker.Worker) (found []GPU, trouble string, err error) {
	resp, err := w.Do(ctx, worker.Request{Args: nvidiaUUIDs, Timeout: toolTimeout})
	if err != nil {
		return nil, "", err
	}
	if errors.Is(resp.StartErr, worker.ErrNotFound) {
		return nil, "it is not installed", nil
	}
	found = parseUUIDs(resp.Stdout[:min(len(resp.Stdout), maxOutput)])
	if len(found) == 0 {
		trouble = cmp.Or(strings.TrimPrefix(resp.Reason()+lastWords(resp.Log), ": "), "empty list")
	}
	return found, trouble, nil
}

// parseUUIDs reads lines like "0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6".
// Complaints about a lost device stand between them.
func parseUUIDs(out []byte) (found []GPU) {
	for line := range strings.Lines(string(out)) {
		number, uuid, _ := strings.Cut(line, ",")
		g := GPU{clean(number), clean(uuid)}
		if index.MatchString(g.Index) && IsUUID(g.UUID) && len(found) < maxDevices {
			found = append(found, g)
		}
	}
	return found
}

// nvidiaDigests returns a digest of each device's UUID, in the order of the devices.
func nvidiaDigests(ctx context.Context, w worker.Worker) (digests []string, err error) {
	known, _, err := nvidiaGPUs(ctx, w)
	for _, g := range known {
		digests = append(digests, bench.Identify(g.UUID))
	}
	return digests, err
}

// nvidiaNames puts UUIDs into the names of devices. A MIG device is one of its own.
func nvidiaNames(ctx context.Context, w worker.Worker, devices []bench.Device, names []string) (warnings []string, err error) {
	var known []GPU
	trouble := "it was not asked"
	if w != nil && slices.ContainsFunc(devices, hasUUID) {
		if known, trouble, err = nvidiaGPUs(ctx, w); err != nil {
			return nil, fmt.Errorf("ask nvidia-smi for UUIDs: %w", err)
		}
	}
	for i, d := range devices {
		if !hasUUID(d) {
			continue
		}
		uuid := uuidOf(known, d.ID)
		switch {
		case uuid != "":
			names[i] = NVIDIA + ":" + uuid
		case len(known) > 0:
			return nil, fmt.Errorf("device %s is none that nvidia-smi lists, or stands for several: "+
				"choose from what nvidia-smi -L lists", text.Quote(names[i], 80))
		default:
			warnings = append(warnings, fmt.Sprintf("nvidia-smi does not report the UUID of %s (%s), so only jobs that name it alike "+
				"are kept from it: repair nvidia-smi, or name the device alike in all jobs of this host", text.Quote(names[i], 80), trouble))
		}
	}
	return warnings, nil
}

// hasUUID reports whether a device has a UUID that nvidia-smi can tell.
func hasUUID(d bench.Device) bool { return d.Vendor == NVIDIA && !strings.HasPrefix(d.ID, "MIG-") }

// checkOrder refuses numbers in CUDA_VISIBLE_DEVICES that may not be those of nvidia-smi.
func checkOrder(value string, h bench.Host, environ []string) error {
	if pciOrdered(h, environ) {
		return nil
	}
	return fmt.Errorf("%s=%s counts from the fastest device to the slowest, and this host has different ones: "+
		"start accelgate with %s, or with UUIDs in the list (nvidia-smi -L)", cudaDevices, text.Quote(value, 80), pciOrder)
}

// pciOrdered reports whether the numbers in CUDA_VISIBLE_DEVICES are those of
// nvidia-smi: they are asked to be, or no device is faster than another.
func pciOrdered(h bench.Host, environ []string) bool {
	if order, _ := worker.LookupEnv(environ, "CUDA_DEVICE_ORDER"); "CUDA_DEVICE_ORDER="+order == pciOrder {
		return true
	}
	var models []string
	for _, a := range h.Accelerators {
		if a.Vendor == NVIDIA {
			models = append(models, a.Model)
		}
	}
	slices.Sort(models)
	return len(slices.Compact(models)) <= 1
}

var nvidiaProcesses = []string{"nvidia-smi", "--query-compute-apps=pid,used_memory,gpu_uuid", "--format=csv,noheader,nounits"}

// process is a process that computes on an NVIDIA device.
type process struct {
	pid  int
	mib  float64 // of device memory; 0 where it is not known
	uuid string
}

// nvidiaBusy leaves out MIG devices, and where nvidia-smi is not installed. In a
// container without the host's process ids nvidia-smi sees no processes.
func nvidiaBusy(ctx context.Context, w worker.Worker, ids []string) (warnings []string, err error) {
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

func busy(running []process, known []GPU, ids []string) []string {
	if len(ids) == 0 {
		for _, g := range known {
			ids = append(ids, g.Index)
		}
	}
	var warnings []string
	for _, id := range ids {
		uuid := uuidOf(known, id)
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
		if err != nil || pid == 0 || !IsUUID(uuid) {
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
