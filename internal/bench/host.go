package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Host names the machine a run was measured on.
type Host struct {
	// Label selects the baseline file: baseline-<label>.json.
	Label string `json:"label"`
	Fingerprint
}

// Fingerprint is what decides whether speeds of two runs may be compared.
// Unknown facts are zero.
type Fingerprint struct {
	OS           string        `json:"os,omitempty"`   // "linux"
	Arch         string        `json:"arch,omitempty"` // "amd64"
	CPU          string        `json:"cpu,omitempty"`  // model name
	Cores        int           `json:"cores,omitempty"`
	MemoryGiB    float64       `json:"memory_gib,omitempty"` // rounded to whole GiB
	Accelerators []Accelerator `json:"accelerators,omitempty"`
	Driver       string        `json:"driver,omitempty"`
	// Machine differs between machines of one kind: see [Identify].
	Machine string `json:"machine,omitempty"`
}

// Accelerator is one device, by its market name.
type Accelerator struct {
	Vendor    string  `json:"vendor"` // "nvidia"
	Model     string  `json:"model"`  // "NVIDIA H100 80GB HBM3"
	MemoryGiB float64 `json:"memory_gib,omitempty"`
	// ID differs between devices of one model: see [Identify].
	ID string `json:"id,omitempty"`
	// Slot is how the device is named on this machine, where that is not its number among the devices
	// of its vendor. Documents do not hold it.
	Slot Slot `json:"-"`
}

// Slot names a device of a host on which a device is divided into slices, as MIG does it.
type Slot struct {
	Index   string // of the whole device, as the vendor's tool counts
	UUID    string // of the device or slice
	Parent  string // UUID of the device that a slice is a part of; "" for a whole device
	Profile string // of a slice, such as "1g.10gb"; "" for a whole device
}

// Own returns a label of this host alone, made of its label.
func (h Host) Own() string {
	suffix := "-" + h.suffix()
	return h.Label[:min(len(h.Label), 63-len(suffix))] + suffix
}

// Unknown reports whether the host is not described: TensorSharp's
// baselines do not.
func (f Fingerprint) Unknown() bool { return f.CPU == "" && f.Cores == 0 && len(f.Accelerators) == 0 }

// Device describes what does the work: the accelerators, or the CPU of a host
// without any.
func (f Fingerprint) Device() string {
	if f.Unknown() {
		return "unknown"
	}
	if len(f.Accelerators) == 0 && f.Cores == 0 { // an envelope may not say
		return f.CPU
	}
	if len(f.Accelerators) == 0 {
		return f.CPU + ", " + text.Plural(f.Cores, "core")
	}
	first := f.Accelerators[0].Model
	alike := 0
	for _, a := range f.Accelerators {
		if a.Model == first {
			alike++
		}
	}
	what := first
	if alike > 1 {
		what = fmt.Sprintf("%d x %s", alike, first)
	}
	if others := len(f.Accelerators) - alike; others > 0 {
		what += " + " + text.Plural(others, "other")
	}
	return what
}

// Comparable reports whether speeds measured on f may be judged against
// speeds measured on ref. It is false when the accelerators' models, or the
// CPU's model or core count, differ; reason then describes the difference. Driver, memory and
// system versions are facts to show and do not forbid comparing. A reference
// without a CPU model (a file of another tool) cannot be vouched for.
func (f Fingerprint) Comparable(ref Fingerprint) (ok bool, reason string) {
	switch {
	case ref.CPU == "" && len(ref.Accelerators) == 0:
		return false, "the baseline does not state which host it was measured on"
	case !slices.Equal(f.models(), ref.models()):
		return false, fmt.Sprintf("accelerator is %s, the baseline's is %s", join(f.models()), join(ref.models()))
	case f.CPU != ref.CPU || f.Cores != ref.Cores:
		return false, fmt.Sprintf("CPU is %q with %s, the baseline's is %q with %d", f.CPU, text.Plural(f.Cores, "core"), ref.CPU, ref.Cores)
	}
	return true, ""
}

func (f Fingerprint) models() []string {
	models := make([]string, 0, len(f.Accelerators))
	for _, a := range f.Accelerators {
		models = append(models, a.Model)
	}
	slices.Sort(models)
	return models
}

func join(models []string) string {
	if len(models) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.200q", strings.Join(models, " + "))
}
