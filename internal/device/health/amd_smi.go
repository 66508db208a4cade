package health

import (
	"errors"
	"strings"
)

// amdHeat are the statuses, since ROCm 6.3, that tell that a device is held back
// by heat, with our words for them.
var amdHeat = []struct{ key, word string }{
	{"prochot_violation_status", hardwareHeat},
	{"socket_thermal_violation_status", "too hot"},
	{"vr_thermal_violation_status", "too hot, its voltage regulators"},
	{"hbm_thermal_violation_status", "too hot, its memory"},
}

// parseAMDMetric reads amd-smi metric --json: a list of devices which, since ROCm
// 7, stands in {"gpu_data": ...}. The states are by number.
func parseAMDMetric(out []byte) (map[int]state, error) {
	document, err := firstJSON(out)
	if err != nil {
		return nil, err
	}
	if wrapper := objectOf(document); wrapper != nil {
		document = wrapper["gpu_data"]
	}
	list, _ := document.([]any)
	gpus := map[int]state{}
	for _, entry := range list {
		gpu := objectOf(entry)
		if n, ok := gpu.quantity("gpu"); ok && n >= 0 && n < maxList && n == float64(int(n)) {
			gpus[int(n)] = stateOfAMD(gpu)
		}
	}
	if len(gpus) == 0 {
		return nil, errors.New("it lists no GPU")
	}
	return gpus, nil
}

func stateOfAMD(gpu object) (s state) {
	clocks, temperature := gpu.in("clock"), gpu.in("temperature")
	clock, known := clocks.in("gfx_0").quantity("clk")
	s.add("gfx clock", "MHz", clock, known)
	s.clock = clock
	s.nominal, _ = clocks.in("gfx_0").quantity("max_clk")
	memory, known := clocks.in("mem_0").quantity("clk")
	s.add("memory clock", "MHz", memory, known)
	for _, name := range []string{"hotspot", "edge", "mem"} {
		v, known := temperature.quantity(name)
		s.add(name+" temperature", "C", v, known)
	}
	power, known := gpu.in("power").quantity("socket_power")
	s.add("power", "W", power, known)
	busy, known := gpu.in("usage").quantity("gfx_activity")
	s.add("busy", "%", busy, known)
	s.busy = busy / 100
	used, known := gpu.in("mem_usage").quantity("used_vram")
	s.add("memory used", "MiB", used, known)
	s.errors, s.counted = gpu.in("ecc").quantity("total_uncorrectable_count")
	s.throttledAMD(gpu)
	return s
}

// throttledAMD reads why the clocks are held. The older throttle_status counts the
// power limit in, so alone it is no more than that.
func (s *state) throttledAMD(gpu object) {
	throttle := gpu.in("throttle")
	told := false
	for _, h := range amdHeat {
		status := strings.ToUpper(throttle.text(h.key))
		told = told || status == "ACTIVE" || status == "NOT ACTIVE"
		if status == "ACTIVE" {
			s.slow = append(s.slow, h.word)
		}
	}
	old := strings.ToUpper(gpu.in("power").text("throttle_status"))
	s.capped = old == "THROTTLED" || strings.EqualFold(throttle.text("ppt_violation_status"), "ACTIVE")
	if !told && old != "UNTHROTTLED" {
		s.untold = append(s.untold, heldBack)
	}
}

// addAMDProcesses reads amd-smi process --json: [{"gpu": 0, "process_list":
// [{"process_info": {"pid": 4242, ...}}]}], with a sentence in place of the
// object where there is none.
func addAMDProcesses(gpus map[int]state, out []byte) {
	document, err := firstJSON(out)
	if err != nil {
		return
	}
	if wrapper := objectOf(document); wrapper != nil {
		document = wrapper["gpu_data"]
	}
	list, _ := document.([]any)
	for _, entry := range list {
		gpu := objectOf(entry)
		n, ok := gpu.quantity("gpu")
		s, known := gpus[int(n)]
		processes, listed := gpu["process_list"].([]any)
		if !ok || !known || !listed {
			continue
		}
		s.listed, s.users = true, nil
		for _, p := range processes {
			s.addAMDProcess(objectOf(p)["process_info"])
		}
		gpus[int(n)] = s
	}
}

func (s *state) addAMDProcess(value any) {
	info := objectOf(value)
	if info == nil {
		words, _ := value.(string)
		s.listed = s.listed && strings.HasPrefix(words, "No running processes")
		return
	}
	pid, ok := info.quantity("pid")
	if !ok || pid < 1 || pid > 1<<31 || len(s.users) == maxList {
		s.listed = false
		return
	}
	v, _ := info.in("memory_usage").quantity("vram_mem")
	s.users = append(s.users, user{pid: int(pid), mib: max(v, 0) * unitMiB(info.in("memory_usage").in("vram_mem").text("unit"))})
}

// unitMiB is a unit in MiB; amd-smi calls it MB.
func unitMiB(unit string) float64 {
	switch strings.ToUpper(unit) {
	case "MB":
		return 1
	case "GB":
		return 1 << 10
	case "KB":
		return 1. / (1 << 10)
	}
	return 1. / (1 << 20)
}
