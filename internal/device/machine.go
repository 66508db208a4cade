package device

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/accelgate/accelgate/internal/bench"
)

// machine describes all but the accelerators.
func machine(ctx context.Context, opts Options) (bench.Fingerprint, []string) {
	var warnings []string
	f := bench.Fingerprint{
		OS:   opts.GOOS,
		Arch: opts.GOARCH,
		// The cores that this process may use, not those of the machine: in a
		// container that is pinned to some of them, they decide the speed.
		Cores: runtime.NumCPU(),
	}
	infos, err := cpu.InfoWithContext(ctx)
	if len(infos) > 0 {
		f.CPU = modelOf(infos[0])
	}
	if f.CPU == "" {
		warnings = append(warnings, unknown("CPU model", err))
	}
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err == nil {
		f.MemoryGiB = gibibytes(float64(memory.Total))
	}
	if f.MemoryGiB == 0 {
		warnings = append(warnings, unknown("size of the memory", err))
	}
	return f, warnings
}

func unknown(what string, err error) string {
	if err == nil {
		return fmt.Sprintf("the %s is unknown: give this host a label of its own with --host-label", what)
	}
	return fmt.Sprintf("the %s is unknown (%s): give this host a label of its own with --host-label", what, clean(err.Error()))
}

// modelOf names a CPU. Linux on Arm gives no name, only numbers, for which
// gopsutil has names in part.
func modelOf(info cpu.InfoStat) string {
	model := clean(info.ModelName)
	if model != "" && model != "Undefined" {
		return model
	}
	if info.Model == "" {
		return ""
	}
	if info.VendorID == "" {
		return clean("CPU part " + info.Model)
	}
	return clean(info.VendorID + " CPU part " + info.Model)
}

// gibibytes rounds to whole GiB, so that what the firmware keeps for itself
// does not matter. Nonsense is unknown, that is zero.
func gibibytes(bytes float64) float64 {
	gib := math.Round(bytes / (1 << 30))
	if !(gib > 0 && gib < 1<<20) {
		return 0
	}
	return gib
}
