package health

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
)

// askNVIDIA asks nvidia-smi for all it reports, as XML.
func askNVIDIA(ctx context.Context, t tools, devices []bench.Device) (map[string]state, string) {
	args := []string{"nvidia-smi", "-q", "-x"}
	one := len(devices) == 1 && exactNVIDIA(devices[0].ID)
	if one {
		args = append(args, "-i", devices[0].ID)
	}
	out, trouble := t.run(ctx, args...)
	if trouble != "" {
		return nil, trouble
	}
	gpus, err := parseNVIDIALog(out)
	if err != nil {
		return nil, unread("nvidia-smi -q -x", err)
	}
	found := map[string]state{}
	for _, d := range devices {
		s, ok := chooseNVIDIA(gpus, d.ID, one)
		if ok {
			s.at = t.now()
			found[d.String()] = s
		} else if strings.HasPrefix(d.ID, "MIG-") {
			trouble = "the driver reports the state of whole GPUs only: measure on one without MIG"
		} else {
			trouble = "nvidia-smi lists no such GPU, or several: choose from what nvidia-smi -L lists"
		}
	}
	return found, trouble
}

// exactNVIDIA reports whether nvidia-smi -i takes an id: an index or a whole
// UUID, not the beginning of one.
func exactNVIDIA(id string) bool {
	_, index := number(id)
	return index || strings.HasPrefix(id, "GPU-") && len(id) == len("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6")
}

// chooseNVIDIA finds the GPU that an index, a UUID or the beginning of one means.
// One means that nvidia-smi was asked for this GPU alone.
func chooseNVIDIA(gpus []state, id string, one bool) (s state, ok bool) {
	if one && len(gpus) == 1 {
		return gpus[0], true
	}
	names := make([]device.GPU, len(gpus))
	for i, g := range gpus {
		names[i] = device.GPU{Index: strconv.Itoa(i), UUID: g.uuid}
	}
	if i := device.FindGPU(names, id); i >= 0 {
		return gpus[i], true
	}
	return state{}, false
}

// sampleNVIDIA reads the host's watch until ctx is done.
func sampleNVIDIA(ctx context.Context, t tools, first map[string]state) map[string][]state {
	if t.watch == nil {
		return nil
	}
	reader := t.watch.Join(period)
	<-ctx.Done()
	reader.Leave()
	samples, names, last := map[string][]state{}, map[string]string{}, map[string]time.Time{}
	for name, s := range first {
		names[s.uuid] = name
	}
	for _, row := range reader.Rows() {
		// A GPU may report a slowdown while it changes its clock, so another reader's shorter period does not count.
		name, ok := names[row.GPU.UUID]
		if s := stateOf(&row); ok && len(s.readings) > 0 && row.At.Sub(last[name]) > period*9/10 {
			samples[name], last[name] = append(samples[name], s), row.At
		}
	}
	return samples
}

// slowNVIDIA are the reasons by which a device is held back, with our words for them.
var slowNVIDIA = []struct {
	reason watch.Reasons
	word   string
}{
	{watch.HardwareSlowdown, hardwareSlowdown}, {watch.SoftwareHeat, softwareHeat},
	{watch.HardwareHeat, hardwareHeat}, {watch.PowerBrake, powerBrake},
}

// Words for what holds a device back.
const (
	softwareHeat = "too hot, by software"
	hardwareHeat = "too hot, by hardware"
	powerBrake   = "brake of the power supply"
)

// heldBack is what a device may not tell.
const heldBack = "whether it is held back"

// maxSamples is what a day yields of one device.
const maxSamples = 100_000

func stateOf(r *watch.Row) state {
	s := state{uuid: r.GPU.UUID, capped: r.Reasons.Has(watch.PowerCap)}
	for i, q := range watch.Quantities {
		s.add(q.Name, q.Unit, r.Values[i], r.Values[i] >= 0)
	}
	if mhz := r.Value(watch.SMClock); mhz >= 0 {
		s.clock = mhz
	}
	if busy := r.Value(watch.Busy); busy >= 0 {
		s.busy = busy / 100
	}
	for _, slow := range slowNVIDIA {
		if r.Reasons.Has(slow.reason) {
			s.slow = append(s.slow, slow.word)
		}
	}
	return s
}
