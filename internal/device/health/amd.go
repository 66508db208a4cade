package health

import (
	"context"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
)

// askAMD asks amd-smi or, where that is not installed, rocm-smi, which it
// replaced. Devices are counted as these tools do.
func askAMD(ctx context.Context, t tools, devices []bench.Device) (map[string]state, string) {
	out, trouble := t.run(ctx, "amd-smi", "metric", "--json")
	var gpus map[int]state
	var err error
	tool := "amd-smi metric"
	if out != nil {
		if gpus, err = parseAMDMetric(out); err == nil {
			if out, trouble = t.run(ctx, "amd-smi", "process", "--json"); trouble == "" {
				addAMDProcesses(gpus, out)
			}
		}
	} else if out, _ = t.run(ctx, "rocm-smi", "--showtemp", "--showclocks", "--showpower", "--showuse", "--showmeminfo", "vram", "--showpids", "--json"); out != nil {
		tool = "rocm-smi"
		gpus, err = parseROCm(out)
	} else {
		return nil, trouble
	}
	if err != nil {
		return nil, unread(tool, err)
	}
	return numbered(t, gpus, devices, "amd-smi list")
}

// numbered chooses the states of devices by their numbers.
func numbered(t tools, found map[int]state, devices []bench.Device, list string) (states map[string]state, trouble string) {
	states = map[string]state{}
	for _, d := range devices {
		n, err := strconv.Atoi(d.ID)
		s, ok := found[n]
		if err != nil || !ok {
			trouble = "there is no device of this number: choose from what " + list + " lists"
			continue
		}
		s.at = t.now()
		states[d.String()] = s
	}
	return states, trouble
}
