package energy

import (
	"context"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// Options say what to measure. The zero Devices measure nothing.
type Options struct {
	Clock Clock
	// Devices are those that do the work, as they were declared: what else is
	// in the machine is not measured. "cpu" means all packages of the machine.
	Devices []bench.Device
	// CPU adds the packages of the machine to the declared devices.
	CPU bool
	// Environ is the environment of this process, in which nvidia-smi is looked for.
	Environ []string
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
// counts as absent if its power cannot be read now. The error is that of ctx,
// or that nvidia-smi cannot be got rid of.
func Detect(ctx context.Context, opts Options) (meters []*Meter, absent []Absence, err error) {
	var gpus []bench.Device
	cpu := opts.CPU
	for _, d := range opts.Devices {
		switch {
		case d.Vendor == "cpu":
			cpu = true
		case d.Vendor == "nvidia" && strings.HasPrefix(d.ID, "MIG-"):
			absent = append(
				absent,
				Absence{d.String(), "the driver reports the power of whole GPUs only: measure energy on one without MIG"},
			)
		case d.Vendor == "nvidia":
			gpus = append(gpus, d)
		default:
			absent = append(
				absent,
				Absence{d.String(), "this build cannot read the power of " + d.Vendor + " devices: use the vendor's own tool"},
			)
		}
	}
	if len(gpus) > 0 {
		m, missing, err := detectNVIDIA(ctx, opts, gpus)
		if err != nil {
			return nil, nil, err
		}
		absent = append(absent, missing...)
		if m != nil {
			meters = append(meters, m)
		}
	}
	if cpu {
		m, missing := detectRAPL(opts.Clock, opts.Root)
		absent = append(absent, missing...)
		if m != nil {
			meters = append(meters, m)
		}
	}
	return meters, absent, nil
}
