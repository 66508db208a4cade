package device

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/text"
)

// pinning is how a vendor's runtime gets the devices that a process may see.
type pinning struct {
	variable string   // takes a list of ids
	beside   []string // NAME=VALUE entries that give the ids their meaning
	// clashing variables select devices as well, in a numbering that shifts
	// the one of variable.
	clashing []string
	id       *lazyregexp.Regexp
	example  string
}

var (
	index = lazyregexp.New(`^(0|[1-9][0-9]{0,2})$`)

	// nvidiaID is an index, or a UUID as "nvidia-smi -L" lists it, possibly
	// abbreviated. MIG devices of drivers before 470 are named
	// MIG-GPU-<UUID>/<GPU instance>/<compute instance>.
	nvidiaID = lazyregexp.New(`^(0|[1-9][0-9]{0,2}|(GPU|MIG)-[0-9A-Za-z][0-9A-Za-z/-]{0,95})$`)

	// intelID is a device or one of its tiles.
	intelID = lazyregexp.New(`^(0|[1-9][0-9]{0,2})(\.[0-9]{1,2})?$`)
)

var pinnings = map[string]pinning{
	// CUDA numbers devices from fast to slow unless CUDA_DEVICE_ORDER says
	// otherwise, and nvidia-smi by PCI bus:
	// https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
	NVIDIA: {
		variable: "CUDA_VISIBLE_DEVICES", beside: []string{pciOrder}, id: nvidiaID, example: "nvidia:0",
	},
	// Each of these variables filters what the layer below it has left, and
	// numbers that anew, so exactly one may be set. AMD recommends
	// ROCR_VISIBLE_DEVICES on Linux; HIP_VISIBLE_DEVICES exists on Windows,
	// too, and is the one that Ray and vLLM accept.
	// https://rocm.docs.amd.com/projects/HIP/en/latest/reference/env_variables.html
	// https://github.com/ROCm/ROCR-Runtime/issues/155
	AMD: {
		variable: "HIP_VISIBLE_DEVICES",
		clashing: []string{"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"},
		id:       index, example: "amd:0",
	},
	// CANN's counterpart of CUDA_VISIBLE_DEVICES; it takes the logic IDs that
	// "npu-smi info -m" lists.
	Ascend: {variable: "ASCEND_RT_VISIBLE_DEVICES", id: index, example: "ascend:0"},
	// https://oneapi-src.github.io/level-zero-spec/level-zero/latest/core/PROG.html#affinity-mask
	Intel: {variable: "ZE_AFFINITY_MASK", id: intelID, example: "intel:0"},
}

const pciOrder = "CUDA_DEVICE_ORDER=PCI_BUS_ID"

// Pin returns the NAME=VALUE entries that make a child see this device and no
// other of its vendor. A CPU and an Apple GPU need none. The device must be
// one that [Devices] returned.
func Pin(d bench.Device) []string {
	p, ok := pinnings[d.Vendor]
	if !ok || d.ID == "" {
		return nil
	}
	return append(slices.Clone(p.beside), p.variable+"="+d.ID)
}

// resolve applies the restriction under which this process itself runs. The
// variables of a child replace those of its parent, so a child that is pinned
// by a number of the whole host could leave the devices that a scheduler
// meant for this process.
func (p pinning) resolve(d bench.Device, h bench.Host, environ []string) (bench.Device, error) {
	for _, name := range p.clashing {
		if value, ok := lookup(environ, name); ok {
			return d, fmt.Errorf("%s=%s selects %s devices beside %s, and each renumbers what the other leaves: "+
				"start accelgate without it, or with %s in its place", name, text.Quote(value, 80), d.Vendor, p.variable, p.variable)
		}
	}
	value, ok := lookup(environ, p.variable)
	if !ok {
		return d, nil
	}
	visible := p.visible(value)
	if !index.MatchString(d.ID) {
		return d, p.checkListed(d, visible, value)
	}
	i, _ := strconv.Atoi(d.ID)
	if i >= len(visible) {
		return d, fmt.Errorf("%s=%s leaves %s to this process: count within that list from 0, or start accelgate without the variable",
			p.variable, text.Quote(value, 80), text.Plural(len(visible), "device"))
	}
	d.ID = visible[i]
	if d.Vendor == NVIDIA && index.MatchString(d.ID) && !pciOrdered(h, environ) {
		return d, fmt.Errorf("%s=%s counts from the fastest device to the slowest, and this host has different ones: "+
			"start accelgate with %s, or with UUIDs in the list (nvidia-smi -L)", p.variable, text.Quote(value, 80), pciOrder)
	}
	return d, nil
}

// visible returns the ids of a variable's value up to the first that is none:
// CUDA ignores all that follows, and "" and "-1" are the usual ways to hide
// every device.
func (p pinning) visible(value string) []string {
	var ids []string
	for id := range strings.SplitSeq(value, ",") {
		id = strings.TrimSpace(id)
		if !p.id.MatchString(id) || len(ids) == maxDevices {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

// checkListed refuses a UUID that is not in the list, or may be there as a
// number.
func (p pinning) checkListed(d bench.Device, visible []string, value string) error {
	for _, id := range visible {
		if !index.MatchString(id) && (strings.HasPrefix(id, d.ID) || strings.HasPrefix(d.ID, id)) {
			return nil
		}
	}
	return fmt.Errorf("it is not in the list of %s=%s: count within that list from 0, or start accelgate without the variable",
		p.variable, text.Quote(value, 80))
}

// pciOrdered reports whether the numbers in CUDA_VISIBLE_DEVICES are those of
// nvidia-smi: they are asked to be, or no device is faster than another.
func pciOrdered(h bench.Host, environ []string) bool {
	if order, _ := lookup(environ, "CUDA_DEVICE_ORDER"); "CUDA_DEVICE_ORDER="+order == pciOrder {
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

// lookup returns the value that a process with this environment sees: the
// last entry wins.
func lookup(environ []string, name string) (value string, ok bool) {
	for _, entry := range slices.Backward(environ) {
		n, value, ok := strings.Cut(entry, "=")
		if ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			return value, true
		}
	}
	return "", false
}
