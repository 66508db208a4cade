package energy

import (
	"context"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/watch"
)

// Options say what to measure. The zero Devices measure nothing.
type Options struct {
	// Now is the time since Epoch, by a monotonic clock. Spans are measured by it.
	Now   func() time.Duration
	Epoch time.Time
	// Watch reads the power of GPUs.
	Watch *watch.Host
	// Devices are those that do the work, as they were declared: what else is
	// in the machine is not measured. "cpu" means all packages of the machine.
	Devices []bench.Device
	// CPU adds the packages of the machine to the declared devices.
	CPU bool
	// Root is where the folder sys is; empty means "/".
	Root string
}

// Absence is a declared device, or a part of one, whose energy cannot be
// measured here.
type Absence struct {
	Scope  string // "nvidia:0", "cpu", "dram-0"
	Reason string // with what to do about it
}

// Detect returns the meters for the declared devices that this machine can
// have, at most one of each method, and why the others are absent. A device
// counts as absent if its power cannot be read now. Meters must be started and stopped.
func Detect(ctx context.Context, opts Options) (meters []*Meter, absent []Absence) {
	var gpus []bench.Device
	cpu := opts.CPU
	for _, d := range opts.Devices {
		switch {
		case d.Vendor == "cpu":
			cpu = true
		case d.Vendor == "nvidia" && strings.HasPrefix(d.ID, "MIG-"):
			absent = append(absent,
				Absence{d.String(), "the driver reports the power of whole GPUs only: measure energy on one without MIG"})
		case d.Vendor == "nvidia":
			gpus = append(gpus, d)
		default:
			absent = append(absent,
				Absence{d.String(), "this build cannot read the power of " + d.Vendor + " devices: use the vendor's own tool"})
		}
	}
	if len(gpus) > 0 {
		m, missing := detectNVIDIA(ctx, opts, gpus)
		absent = append(absent, missing...)
		if m != nil {
			meters = append(meters, m)
		}
	}
	if cpu {
		m, missing := detectRAPL(opts.Now, opts.Root)
		absent = append(absent, missing...)
		if m != nil {
			meters = append(meters, m)
		}
	}
	return meters, absent
}
