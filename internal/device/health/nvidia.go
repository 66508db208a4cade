package health

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/worker"
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

// sampleNVIDIA lets one nvidia-smi run until ctx is done: to start one takes
// more of a processor than a minute of samples. Which of two names drivers have
// for the same bits is known from what was asked before.
func sampleNVIDIA(ctx context.Context, t tools, first map[string]state) map[string][]state {
	names, uuids, spelling := map[string]string{}, []string{}, "clocks_event_reasons"
	for name, s := range first {
		if s.uuid == "" {
			continue
		}
		names[s.uuid] = name
		uuids = append(uuids, s.uuid)
		if s.throttleSpelling {
			spelling = "clocks_throttle_reasons"
		}
	}
	if len(uuids) == 0 {
		return nil
	}
	// The error is that of ctx, which ends every run, or leaves the samples good
	// that came before it.
	resp, _ := t.worker.Do(ctx, worker.Request{Args: []string{"nvidia-smi",
		"--query-gpu=uuid,clocks.sm,clocks.mem,temperature.gpu,power.draw,utilization.gpu,memory.used," + spelling + ".active",
		"--format=csv,noheader,nounits", "--id=" + strings.Join(uuids, ","), fmt.Sprintf("--loop-ms=%d", period.Milliseconds())}})
	samples := map[string][]state{}
	for _, s := range parseNVIDIASamples(resp.Stdout) {
		if name, ok := names[s.uuid]; ok {
			samples[name] = append(samples[name], s)
		}
	}
	return samples
}
