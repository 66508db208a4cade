package health

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/accelgate/accelgate/internal/bench"
)

// told demands readings of a state.
func (s *state) told(t *testing.T, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if got := s.shown(name); got != v {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
	}
}

func TestAMDMetric(t *testing.T) {
	gpus, err := parseAMDMetric(recorded(t, "amd-smi-6.json"))
	if err != nil || len(gpus) != 1 {
		t.Fatalf("%v %v", gpus, err)
	}
	old := gpus[0]
	old.told(t, map[string]float64{"gfx clock": 1502, "memory clock": 1600, "power": 211, "busy": 97, "hotspot temperature": 71, "memory used": 61200})
	if old.errors != 1 || !old.counted || !old.capped || len(old.slow) != 0 || old.nominal != 1700 || old.listed {
		t.Errorf("of ROCm 6: %+v", old)
	}
	if !slices.Equal(old.untold, []string{heldBack}) { // throttled, and not told by what
		t.Errorf("untold %q", old.untold)
	}
	gpus, err = parseAMDMetric(recorded(t, "amd-smi-7.json"))
	if err != nil || len(gpus) != 2 {
		t.Fatalf("%v %v", gpus, err)
	}
	if hot := gpus[0]; !slices.Equal(hot.slow, []string{"too hot"}) || !hot.capped || len(hot.untold) != 0 {
		t.Errorf("of ROCm 7: %+v", hot)
	}
	if mute := gpus[1]; len(mute.readings) != 0 || mute.counted || !slices.Equal(mute.untold, []string{heldBack}) {
		t.Errorf("of a mute device: %+v", mute)
	}
}

func TestAMDProcesses(t *testing.T) {
	gpus, err := parseAMDMetric(recorded(t, "amd-smi-7.json"))
	if err != nil {
		t.Fatal(err)
	}
	addAMDProcesses(gpus, recorded(t, "amd-smi-process.json"))
	if want := []user{{pid: 4242, mib: 61200}}; !slices.Equal(gpus[0].users, want) || !gpus[0].listed {
		t.Errorf("users %+v", gpus[0].users)
	}
	if len(gpus[1].users) != 0 || !gpus[1].listed {
		t.Errorf("users of an idle device: %+v", gpus[1])
	}
	addAMDProcesses(gpus, []byte(`[{"gpu": 1, "process_list": [{"process_info": "N/A"}]}]`))
	if gpus[1].listed {
		t.Error("processes that are not told pass for none")
	}
}

func TestROCm(t *testing.T) {
	gpus, err := parseROCm(recorded(t, "rocm-smi-6.json"))
	if err != nil || len(gpus) != 1 {
		t.Fatalf("%v %v", gpus, err)
	}
	g := gpus[0]
	g.told(t, map[string]float64{"gfx clock": 1502, "memory clock": 1200, "power": 236, "busy": 99, "hotspot temperature": 55, "memory used": 2048})
	if want := []user{{pid: 4242, mib: 2048}}; !slices.Equal(g.users, want) || !g.listed || len(g.untold) != 2 {
		t.Errorf("%+v", g)
	}
	gpus, err = parseROCm([]byte(`{"card0": {}, "card1": {}, "system": {"PID7": "x, 1, 0, 0, 0"}}`))
	if err != nil || gpus[0].listed || gpus[1].listed {
		t.Errorf("processes on one of two devices: %+v %v", gpus, err)
	}
}

func TestNPU(t *testing.T) {
	chips, err := parseNPU(recorded(t, "npu-smi-23.txt"))
	if err != nil || len(chips) != 2 {
		t.Fatalf("%v %v", chips, err)
	}
	busy, sick := chips[0], chips[1]
	busy.told(t, map[string]float64{"power": 291, "temperature": 58, "busy": 87, "memory used": 37709})
	if want := []user{{pid: 1333928, mib: 34309}}; !slices.Equal(busy.users, want) || !busy.listed || len(busy.faults)+len(busy.untold) != 0 {
		t.Errorf("a busy chip is %+v", busy)
	}
	sick.told(t, map[string]float64{"power": 95.4, "temperature": 97, "busy": 0, "memory used": 3400})
	if len(sick.users) != 0 || !sick.listed || !slices.Equal(sick.faults, []string{"its health is Alarm"}) {
		t.Errorf("a sick chip is %+v", sick)
	}
	unknown := strings.Replace(string(recorded(t, "npu-smi-23.txt")), "Alarm  ", "UNKNOWN", 1)
	if chips, _ := parseNPU([]byte(unknown)); len(chips[1].untold) != 1 || len(chips[1].faults) != 0 {
		t.Errorf("of unknown health: %+v", chips[1])
	}
}

func TestPowermetrics(t *testing.T) {
	samples := parsePowermetrics(recorded(t, "powermetrics-14.txt"))
	if len(samples) != 2 { // the third is cut
		t.Fatalf("%d samples", len(samples))
	}
	samples[0].told(t, map[string]float64{"gpu clock": 1338, "busy": 98.4, "power": 14.046})
	if len(samples[0].slow) != 0 || !slices.Equal(samples[1].slow, []string{`pressure of heat "Heavy"`}) {
		t.Errorf("%+v", samples)
	}
	s, err := parseProfiler(recorded(t, "system_profiler-14.json"))
	if err != nil || s.shown("gpu cores") != 18 {
		t.Errorf("%+v %v", s, err)
	}
}

// TestVendors watches a device of each, by the tools that are there.
func TestVendors(t *testing.T) {
	files := map[string]string{"amd-smi metric": "amd-smi-7.json", "amd-smi process": "amd-smi-process.json", "npu-smi info": "npu-smi-23.txt",
		"rocm-smi": "rocm-smi-6.json", "powermetrics": "powermetrics-14.txt", "system_profiler": "system_profiler-14.json"}
	outputs := map[string][]byte{}
	for tool, file := range files {
		outputs[tool] = recorded(t, file)
	}
	for name, test := range map[string]struct {
		device  bench.Device
		missing string // tool that is not installed
		status  bench.HealthStatus
		says    []string
	}{
		"amd":              {bench.Device{Vendor: "amd", ID: "0"}, "", bench.Unhealthy, []string{"amd:0 was held back (too hot)", "the owners of processes that use amd:0"}},
		"amd, mute":        {bench.Device{Vendor: "amd", ID: "1"}, "", bench.HealthUnknown, []string{"amd:1 does not report whether it is held back"}},
		"amd, older tools": {bench.Device{Vendor: "amd", ID: "0"}, "amd-smi", bench.HealthUnknown, []string{"held back", "memory errors"}},
		"amd, another":     {bench.Device{Vendor: "amd", ID: "7"}, "", bench.HealthUnknown, []string{"no device of this number"}},
		"amd, no tools":    {bench.Device{Vendor: "amd", ID: "0"}, "amd-smi rocm-smi", bench.HealthUnknown, []string{"amd-smi is not installed"}},
		"ascend":           {bench.Device{Vendor: "ascend", ID: "1"}, "", bench.Unhealthy, []string{"ascend:1 reports that its health is Alarm"}},
		"ascend, no tool":  {bench.Device{Vendor: "ascend", ID: "1"}, "npu-smi", bench.HealthUnknown, []string{"npu-smi is not installed"}},
		"apple":            {bench.Device{Vendor: "apple"}, "", bench.Unhealthy, []string{`apple was held back (pressure of heat "Heavy")`}},
		"apple, not root":  {bench.Device{Vendor: "apple"}, "powermetrics", bench.HealthUnknown, []string{"only root may"}},
		"apple, no tools":  {bench.Device{Vendor: "apple"}, "powermetrics system_profiler", bench.HealthUnknown, []string{"system_profiler is not installed"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := &vendorTools{print: func(args string) []byte {
				for tool, out := range outputs {
					program, _, _ := strings.Cut(tool, " ")
					if strings.HasPrefix(args, tool) && !slices.Contains(strings.Fields(test.missing), program) {
						return out
					}
				}
				return nil
			}}
			h := spanOf(t, v, test.device)
			reasons := strings.Join(h.Reasons, "\n")
			for _, words := range test.says {
				if !strings.Contains(reasons, words) {
					t.Errorf("%s does not state %q: %q", name, words, h.Reasons)
				}
			}
			if h.Status != test.status {
				t.Errorf("%s: %s %q", name, h.Status, h.Reasons)
			}
		})
	}
}

// TestWellVendors: a device that tells everything, and nothing bad, is well.
func TestWellVendors(t *testing.T) {
	well := map[string][]byte{
		"amd-smi metric":  []byte(strings.Replace(string(recorded(t, "amd-smi-7.json")), `"socket_thermal_violation_status": "ACTIVE"`, `"socket_thermal_violation_status": "NOT ACTIVE"`, 1)),
		"amd-smi process": []byte(`[{"gpu": 0, "process_list": [{"process_info": "No running processes detected"}]}]`),
		"npu-smi info":    []byte(strings.Replace(string(recorded(t, "npu-smi-23.txt")), "Alarm", "OK   ", 1)),
	}
	for _, d := range []bench.Device{{Vendor: "amd", ID: "0"}, {Vendor: "ascend", ID: "1"}} {
		synctest.Test(t, func(t *testing.T) {
			h := spanOf(t, &vendorTools{print: func(args string) []byte {
				for tool, out := range well {
					if strings.HasPrefix(args, tool) {
						return out
					}
				}
				return nil
			}}, d)
			if h.Status != bench.Healthy || len(h.Reasons) != 0 {
				t.Errorf("%s: %s %q", d, h.Status, h.Reasons)
			}
		})
	}
}

func fuzzStates(f *testing.F, parse func([]byte) (map[int]state, error), files ...string) {
	for _, name := range files {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		found, err := parse(out)
		if (err == nil) == (len(found) == 0) || len(found) > maxList {
			t.Errorf("%d devices and %v", len(found), err)
		}
		for _, s := range found {
			s.sound(t)
		}
	})
}

func FuzzAMDMetric(f *testing.F) { fuzzStates(f, parseAMDMetric, "amd-smi-6.json", "amd-smi-7.json") }
func FuzzROCm(f *testing.F)      { fuzzStates(f, parseROCm, "rocm-smi-6.json") }
func FuzzNPU(f *testing.F)       { fuzzStates(f, parseNPU, "npu-smi-23.txt") }

func FuzzAMDProcesses(f *testing.F) {
	f.Add(recorded(f, "amd-smi-process.json"))
	f.Fuzz(func(t *testing.T, out []byte) {
		gpus := map[int]state{0: {}, 1: {}}
		addAMDProcesses(gpus, out)
		if len(gpus) != 2 {
			t.Error("a device was made up")
		}
		for _, s := range gpus {
			s.sound(t)
			for _, u := range s.users {
				if u.pid < 1 || math.IsNaN(u.mib) || math.IsInf(u.mib, 0) {
					t.Errorf("%+v", u)
				}
			}
		}
	})
}

func FuzzApple(f *testing.F) {
	f.Add(recorded(f, "powermetrics-14.txt"))
	f.Add(recorded(f, "system_profiler-14.json"))
	f.Fuzz(func(t *testing.T, out []byte) {
		s, _ := parseProfiler(out)
		for _, s := range append(parsePowermetrics(out), s) {
			s.sound(t)
		}
	})
}
