package energy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	probeTimeout = 20 * time.Second // loading a driver with many GPUs takes long
	maxProbe     = 1 << 20
	// maxSamples bounds what is kept of nvidia-smi's output, in bytes: about 12
	// hours of one GPU, or an hour and a half of eight. What comes later is not
	// measured.
	maxSamples = 32 << 20
	maxGPUs    = 256
	maxGPUW    = 1e5 // more than a GPU can draw
)

// power fields of nvidia-smi --query-gpu with the method that each is, the
// preferred one first.
var powerFields = []struct{ field, method string }{
	{"power.draw.instant", "nvidia-smi-power-draw-instant-100ms"}, // since driver 530
	{"power.draw", "nvidia-smi-power-draw-100ms"},
}

// detectNVIDIA asks all GPUs for their power once, and keeps the declared ones.
func detectNVIDIA(ctx context.Context, opts Options, declared []bench.Device) (*Meter, []Absence, error) {
	w := &worker.Isolated{Environ: opts.Environ, MaxStdout: maxProbe}
	var absent []Absence
	for _, f := range powerFields {
		resp, err := w.Do(ctx, worker.Request{Timeout: probeTimeout,
			Args: []string{"nvidia-smi", "--query-gpu=index,uuid," + f.field, "--format=csv,noheader,nounits"}})
		if err != nil {
			return nil, nil, fmt.Errorf("ask nvidia-smi for power: %w", err)
		}
		found, powered := parseProbe(resp.Stdout)
		uuids, missing := choose(found, powered, declared, probeTrouble(resp, found))
		if len(missing) == 0 {
			return newSMI(opts, f.field, f.method, uuids), nil, nil
		}
		absent = missing
	}
	return nil, absent, nil
}

// probeTrouble returns why nvidia-smi listed no GPU.
func probeTrouble(resp worker.Response, found []device.GPU) string {
	switch {
	case errors.Is(resp.StartErr, worker.ErrNotFound):
		return "nvidia-smi is not installed: install the driver's tools"
	case len(found) == 0:
		return fmt.Sprintf("nvidia-smi lists no GPU (%s): run nvidia-smi and repair the driver",
			cmp.Or(strings.TrimPrefix(resp.Reason()+lastWords(resp.Log), ": "), "empty list"))
	}
	return ""
}

// parseProbe reads lines like "0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, 71.35".
// Complaints stand between them. Powered are those of the GPUs, by UUID, whose power is reported.
func parseProbe(out []byte) (found []device.GPU, powered map[string]bool) {
	powered = map[string]bool{}
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(line, ",")
		if len(cells) != 3 || len(found) >= maxGPUs {
			continue
		}
		g := device.GPU{Index: strings.TrimSpace(cells[0]), UUID: strings.TrimSpace(cells[1])}
		if _, err := strconv.ParseUint(g.Index, 10, 16); err == nil && device.IsUUID(g.UUID) {
			found = append(found, g)
			_, powered[g.UUID] = parseWatts(cells[2])
		}
	}
	return found, powered
}

// choose returns the UUIDs of the declared devices, sorted and each once. If
// one is absent, all are: the energy of a part is not what was asked for.
func choose(found []device.GPU, powered map[string]bool, declared []bench.Device, trouble string) (uuids []string, absent []Absence) {
	for _, d := range declared {
		i := device.FindGPU(found, d.ID)
		switch {
		case trouble != "":
			absent = append(absent, Absence{d.String(), trouble})
		case i < 0:
			absent = append(absent, Absence{d.String(), "nvidia-smi lists no such GPU, or several: choose from what nvidia-smi -L lists"})
		case !powered[found[i].UUID]:
			absent = append(absent, Absence{d.String(), "nvidia-smi reports no power for it: run nvidia-smi -q -d POWER " +
				"to see whether the driver or the device is at fault"})
		default:
			uuids = append(uuids, found[i].UUID)
		}
	}
	for _, d := range declared {
		isIt := func(a Absence) bool { return a.Scope == d.String() }
		if len(absent) > 0 && !slices.ContainsFunc(absent, isIt) {
			absent = append(absent, Absence{d.String(), fmt.Sprintf("%s cannot be measured, and the energy of a part is left out: "+
				"repair it, or declare what works alone", absent[0].Scope)})
		}
	}
	slices.Sort(uuids)
	return slices.Compact(uuids), absent
}

// parseWatts reads a power; it refuses "[N/A]", "[Not Supported]", "[Unknown
// Error]" and what no device draws.
func parseWatts(s string) (float64, bool) {
	w, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return w, err == nil && !math.IsNaN(w) && w >= 0 && w <= maxGPUW
}

// lastWords returns the last line of a log, as the end of a sentence.
func lastWords(log string) string {
	if words := text.Line(text.LastLine(log), 120); words != "" {
		return ": " + words
	}
	return ""
}
