package health

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/device/watch"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shown returns a reading of a state, NaN where there is none.
func (s *state) shown(name string) float64 {
	for _, r := range s.readings {
		if r.name == name {
			return r.value
		}
	}
	return math.NaN()
}

func TestNVIDIALog(t *testing.T) {
	gpus, err := parseNVIDIALog(recorded(t, "nvidia-560.xml"))
	if err != nil || len(gpus) != 2 {
		t.Fatalf("%d GPUs, %v", len(gpus), err)
	}
	busy, sick := gpus[0], gpus[1]
	for name, want := range map[string]float64{"sm clock": 1455, "memory clock": 2619, "temperature": 61, "power": 690.11, "busy": 98, "memory used": 61234} {
		if got := busy.shown(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if busy.nominal != 1980 || busy.bus != "0000:18:00" || busy.clock != 1455 || !busy.capped || len(busy.slow) != 0 || len(busy.faults) != 0 {
		t.Errorf("a busy GPU is %+v", busy)
	}
	if busy.errors != 3 || !busy.counted { // of this driver's life, not of the GPU's
		t.Errorf("counted %v uncorrected errors, %v", busy.errors, busy.counted)
	}
	if want := map[string]float64{softwareHeat: 1.5, hardwareHeat: 0, powerBrake: 0}; !reflect.DeepEqual(busy.held, want) {
		t.Errorf("held for %v, want %v", busy.held, want)
	}
	if want := []user{{pid: 4242, mib: 61000}}; !slices.Equal(busy.users, want) || !busy.listed {
		t.Errorf("users %v", busy.users)
	}
	if want := []string{hardwareSlowdown, hardwareHeat}; !slices.Equal(sick.slow, want) {
		t.Errorf("slow by %v", sick.slow)
	}
	if len(sick.faults) != 2 || !strings.Contains(sick.faults[1], "Drain and Reset") || sick.counted || sick.nominal != sustained*1980 {
		t.Errorf("a sick GPU is %+v", sick)
	}
}

func TestNVIDIALogOfOlderDrivers(t *testing.T) {
	gpus, err := parseNVIDIALog(recorded(t, "nvidia-515.xml"))
	if err != nil || len(gpus) != 1 {
		t.Fatal(err)
	}
	g := gpus[0]
	if !slices.Equal(g.slow, []string{softwareHeat}) || g.shown("power") != 66.78 || g.listed || g.nominal != 585 ||
		!g.counted || g.errors != 0 || len(g.faults) != 1 {
		t.Errorf("of 515: %+v", g)
	}
	gpus, err = parseNVIDIALog(recorded(t, "nvidia-440.xml"))
	if err != nil || len(gpus) != 1 {
		t.Fatal(err)
	}
	if g := gpus[0]; g.errors != 3 || !g.counted || !slices.Equal(g.slow, []string{hardwareSlowdown}) || !g.listed {
		t.Errorf("of 440: %+v", g)
	}
}

func TestNVIDIALogThatIsNone(t *testing.T) {
	for _, text := range []string{
		"", "No devices were found\n", "<nvidia_smi_log/>", "<nvidia_smi_log><gpu><uuid>GPU-1</uuid></gpu>",
		"<nvidia_smi_log><gpu></gpu></nvidia_smi_log>",
		"<nvidia_smi_log><gpu><uuid>GPU-11111,--loop</uuid></gpu></nvidia_smi_log>",
	} {
		if gpus, err := parseNVIDIALog([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, gpus)
		}
	}
}

// TestStateOf: a row of the host's watch is a state, by the device's own reasons.
func TestStateOf(t *testing.T) {
	of := func(clock, busy float64, reasons watch.Reasons) state {
		return stateOf(&watch.Row{Values: [...]float64{clock, 2619, 312.51, 61234, 46, busy}, Reasons: reasons})
	}
	if s := of(1980, 98, 0); s.clock != 1980 || s.busy != 0.98 || s.capped || len(s.slow) != 0 || s.shown("power") != 312.51 || s.shown("memory used") != 61234 {
		t.Errorf("a busy GPU is %+v", s)
	}
	if s := of(1455, 100, 0x64); !s.capped || !slices.Equal(s.slow, []string{softwareHeat, hardwareHeat}) {
		t.Errorf("a hot GPU is %+v", s)
	}
	if s := of(345, 0, 0x89); !slices.Equal(s.slow, []string{hardwareSlowdown, powerBrake}) || s.capped {
		t.Errorf("a GPU without power is %+v", s)
	}
	if s := of(math.NaN(), math.NaN(), -1); s.clock != 0 || s.busy != 0 || len(s.slow) != 0 || !math.IsNaN(s.shown("sm clock")) {
		t.Errorf("a GPU that reports little is %+v", s)
	}
}

func TestChooseNVIDIA(t *testing.T) {
	gpus := []state{{uuid: "GPU-aaaa1111"}, {uuid: "GPU-aaaa2222"}, {uuid: "GPU-bbbb0000"}}
	for id, want := range map[string]string{"1": "GPU-aaaa2222", "GPU-b": "GPU-bbbb0000", "GPU-aaaa1111": "GPU-aaaa1111", "GPU-aaaa": "", "3": "", "MIG-1": ""} {
		if s, _ := chooseNVIDIA(gpus, id, false); s.uuid != want {
			t.Errorf("%s is %q, want %q", id, s.uuid, want)
		}
	}
	if s, ok := chooseNVIDIA(gpus[2:], "5", true); !ok || s.uuid != "GPU-bbbb0000" {
		t.Error("the one that nvidia-smi was asked for was not taken")
	}
}

// sound checks what every reader promises whatever it reads.
func (s *state) sound(t *testing.T) {
	t.Helper()
	for _, r := range s.readings {
		if math.IsNaN(r.value) || math.Abs(r.value) > maxQuantity {
			t.Errorf("%s is %v", r.name, r.value)
		}
	}
	for _, v := range []float64{s.clock, s.nominal, s.busy, s.errors} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%+v", s)
		}
	}
	if len(s.users) > maxList || len(s.faults) > maxList {
		t.Errorf("%d users, %d faults", len(s.users), len(s.faults))
	}
	for _, fault := range s.faults {
		if strings.ContainsAny(fault, "\n\x1b") || len(fault) > 1000 {
			t.Errorf("fault %q", fault)
		}
	}
}

func FuzzNVIDIALog(f *testing.F) {
	for _, name := range []string{"nvidia-560.xml", "nvidia-515.xml", "nvidia-440.xml"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		gpus, err := parseNVIDIALog(out)
		if (err == nil) == (len(gpus) == 0) {
			t.Errorf("%d GPUs and %v", len(gpus), err)
		}
		for i := range gpus {
			gpus[i].sound(t)
		}
	})
}

func TestXIDs(t *testing.T) {
	const log = `4,1234,5678901,-;NVRM: Xid (PCI:0000:18:00): 79, pid=4242, name=python3, GPU has fallen off the bus.
4,1235,5678902,-;NVRM: Xid (PCI:0000:18:00): 79, pid=4242, name=python3, GPU has fallen off the bus.
4,1236,5678903,-;NVRM: Xid (PCI:0000:2A:00): 13, pid=4243, name=python3, Graphics Exception
4,1237,5678904,-;NVRM: Xid (PCI:0000:2a:00): 95, pid='<unknown>', name=<unknown>, Uncontained
4,1238,5678905,-;usb 1-1: new device
`
	got := parseXIDs([]byte(log))
	want := map[string][]string{"0000:18:00": {"the kernel's log reports its XID 79"}, "0000:2a:00": {"the kernel's log reports its XID 95"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	for place, want := range map[string]string{"00000000:2A:00.0": "0000:2a:00", "0000:2a:00": "0000:2a:00", "": "", "2a:00.0": "", "0000:2a:": ""} {
		if got := busOf(place); got != want {
			t.Errorf("%s is %q", place, got)
		}
	}
}

func FuzzXIDs(f *testing.F) {
	f.Add([]byte("4,1234,5678901,-;NVRM: Xid (PCI:0000:18:00): 79, pid=4242"), "00000000:18:00.0")
	f.Fuzz(func(t *testing.T, log []byte, place string) {
		for bus, words := range parseXIDs(log) {
			if busOf(bus) != bus || bus == "" || len(words) == 0 || len(words) > len(brokenXID) {
				t.Errorf("%q %q", bus, words)
			}
		}
		busOf(place)
	})
}
