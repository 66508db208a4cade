package device_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
)

// machines are the hosts of the tests, by a short name.
var machines = map[string]bench.Host{
	"cpu":    {},
	"h100x2": machineWith(gpu("nvidia", "H100", 80), gpu("nvidia", "H100", 80)),
	"mixed":  machineWith(gpu("nvidia", "H100", 80), gpu("nvidia", "L4", 22)),
	"mi300":  machineWith(gpu("amd", "MI300X", 192), gpu("amd", "MI300X", 192)),
	"ascend": machineWith(gpu("ascend", "910B3", 64), gpu("ascend", "910B3", 64)),
	"both":   machineWith(gpu("nvidia", "H100", 80), gpu("amd", "MI300X", 192)),
	"mac":    machineWith(gpu("apple", "M3", 0)),
	"plan":   machineWith(bench.Accelerator{Vendor: "nvidia"}),
}

func machineWith(devices ...bench.Accelerator) bench.Host {
	return bench.Host{Fingerprint: bench.Fingerprint{Accelerators: devices}}
}

func TestDevices(t *testing.T) {
	const uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
	pci := "CUDA_DEVICE_ORDER=PCI_BUS_ID"
	tests := []struct {
		machine string
		ids     string // split at spaces
		environ []string
		want    string   // Device.String of each
		wantErr []string // parts of it
	}{
		{machine: "h100x2"},
		{machine: "h100x2", ids: "0 1", want: "nvidia:0 nvidia:1"},
		{machine: "h100x2", ids: "1 nvidia:0", want: "nvidia:1 nvidia:0"},
		{machine: "h100x2", ids: uuid + " GPU-11 nvidia:MIG-22", want: "nvidia:" + uuid + " nvidia:GPU-11 nvidia:MIG-22"},
		{machine: "h100x2", ids: "MIG-GPU-11/7/0", want: "nvidia:MIG-GPU-11/7/0"},
		{machine: "h100x2", ids: "cpu", want: "cpu"},
		{machine: "mi300", ids: "1", want: "amd:1"},
		{machine: "ascend", ids: "1", want: "ascend:1"},
		{machine: "mac", ids: "apple", want: "apple"},
		{machine: "both", ids: "amd:0 nvidia:0", want: "amd:0 nvidia:0"},
		{machine: "cpu", ids: "intel:0 intel:1.1 nvidia:7", want: "intel:0 intel:1.1 nvidia:7"},
		{machine: "plan", ids: "0 7", want: "nvidia:0 nvidia:7"},

		{machine: "h100x2", ids: "2", wantErr: []string{`device "2": this host has 2 devices of nvidia`, "write a number below 2"}},
		{machine: "h100x2", ids: "0 nvidia:0", wantErr: []string{`nvidia:0 is listed twice, here as "nvidia:0": remove one`}},
		{machine: "h100x2", ids: "tpu:0", wantErr: []string{`the vendor "tpu" is unknown: write nvidia, amd`}},
		{machine: "h100x2", ids: "nvidia", wantErr: []string{"does not state which one: write nvidia:0"}},
		{machine: "h100x2", ids: "nvidia:", wantErr: []string{"it names no nvidia device: write a number, as in nvidia:0"}},
		{machine: "h100x2", ids: "00", wantErr: []string{"write a number"}},
		{machine: "h100x2", ids: "-1", wantErr: []string{"write a number"}},
		{machine: "h100x2", ids: "1000", wantErr: []string{"write a number"}},
		{machine: "h100x2", ids: "0,1", wantErr: []string{"write a number"}},
		{machine: "h100x2", ids: "0.1", wantErr: []string{"it names no nvidia device"}},
		{machine: "h100x2", ids: "GPU-", wantErr: []string{"it names no nvidia device"}},
		{machine: "mi300", ids: "amd:GPU-11", wantErr: []string{"it names no amd device: write a number, as in amd:0"}},
		{machine: "h100x2", ids: "cpu:0", wantErr: []string{"there is one cpu device, without a number: write cpu"}},
		{machine: "mac", ids: "0", wantErr: []string{"there is one apple device, without a number: write apple"}},
		{machine: "mac", ids: "apple:0", wantErr: []string{"write apple"}},
		{machine: "h100x2", ids: "apple", wantErr: []string{"this host has no Apple GPU: write"}},
		{machine: "both", ids: "0", wantErr: []string{"this host has devices of nvidia and amd: write which is meant, as in nvidia:0"}},
		{machine: "cpu", ids: "0", wantErr: []string{"no accelerator was detected on this host: write its vendor, as in nvidia:0, or write cpu"}},
		{machine: "h100x2", ids: "##[error]\x1b\u202e", wantErr: []string{`device "##\x5berror]\x1b\u202e"`}},

		// Under a restriction numbers count within the list.
		{machine: "h100x2", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=1"}, want: "nvidia:1"},
		{machine: "h100x2", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES= 1 ,0"}, want: "nvidia:1"},
		{machine: "h100x2", ids: "1 0", environ: []string{"CUDA_VISIBLE_DEVICES=1," + uuid}, want: "nvidia:" + uuid + " nvidia:1"},
		{machine: "h100x2", ids: "GPU-8932", environ: []string{"CUDA_VISIBLE_DEVICES=" + uuid}, want: "nvidia:GPU-8932"},
		{machine: "h100x2", ids: uuid, environ: []string{"CUDA_VISIBLE_DEVICES=GPU-8932"}, want: "nvidia:" + uuid},
		{machine: "mixed", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=1", pci}, want: "nvidia:1"},
		{machine: "mixed", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=" + uuid}, want: "nvidia:" + uuid},
		{machine: "mixed", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=1"}, wantErr: []string{
			`CUDA_VISIBLE_DEVICES="1" counts from the fastest device`, "start accelgate with CUDA_DEVICE_ORDER=PCI_BUS_ID"}},
		{machine: "h100x2", ids: "1", environ: []string{"CUDA_VISIBLE_DEVICES=1"}, wantErr: []string{
			`CUDA_VISIBLE_DEVICES="1" leaves 1 device to this process: count within that list from 0, or start`}},
		{machine: "h100x2", ids: "1", environ: []string{"CUDA_VISIBLE_DEVICES=0,-1,1"}, wantErr: []string{"leaves 1 device "}},
		{machine: "h100x2", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES="}, wantErr: []string{"leaves 0 devices "}},
		{machine: "h100x2", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=9"}, wantErr: []string{"this host has 2 devices"}},
		{machine: "h100x2", ids: "0 1", environ: []string{"CUDA_VISIBLE_DEVICES=1,1"}, wantErr: []string{"nvidia:1 is listed twice"}},
		{machine: "h100x2", ids: "GPU-77", environ: []string{"CUDA_VISIBLE_DEVICES=0," + uuid}, wantErr: []string{"it is not in the list of CUDA_VIS"}},
		{machine: "h100x2", ids: "cpu", environ: []string{"CUDA_VISIBLE_DEVICES="}, want: "cpu"},
		{machine: "mi300", ids: "0", environ: []string{"HIP_VISIBLE_DEVICES=1"}, want: "amd:1"},
		{machine: "mi300", ids: "0", environ: []string{"ROCR_VISIBLE_DEVICES=1"}, wantErr: []string{
			`ROCR_VISIBLE_DEVICES="1" selects amd devices beside HIP_VISIBLE_DEVICES`, "start accelgate without it"}},
		{machine: "mi300", ids: "0", environ: []string{"CUDA_VISIBLE_DEVICES=1"}, wantErr: []string{"CUDA_VISIBLE_DEVICES"}},
		{machine: "ascend", ids: "0", environ: []string{"ASCEND_RT_VISIBLE_DEVICES=1", "CUDA_VISIBLE_DEVICES="}, want: "ascend:1"},
		{machine: "cpu", ids: "intel:0", environ: []string{"ZE_AFFINITY_MASK=2.1"}, want: "intel:2.1"},
		{machine: "cpu", ids: "intel:0.1", environ: []string{"ZE_AFFINITY_MASK=0.0"}, wantErr: []string{"it is not in the list of ZE_AFFINITY_MASK"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(append([]string{test.machine, test.ids}, test.environ...), " "), func(t *testing.T) {
			devices, err := device.Devices(strings.Fields(test.ids), machines[test.machine], test.environ)
			var got []string
			for _, d := range devices {
				got = append(got, d.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
			if (err != nil) != (test.wantErr != nil) {
				t.Errorf("error %v", err)
			}
			for _, part := range test.wantErr {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("error %q, want it to contain %q", err, part)
				}
			}
		})
	}
}

func TestDevicesAreBounded(t *testing.T) {
	if _, err := device.Devices(make([]string, 257), bench.Host{}, nil); err == nil || !strings.Contains(err.Error(), "name at most 256") {
		t.Errorf("error %v, want a bound", err)
	}
}

func TestPin(t *testing.T) {
	tests := []struct {
		device bench.Device
		want   []string
	}{
		{bench.Device{Vendor: "nvidia", ID: "1"}, []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=1"}},
		{bench.Device{Vendor: "nvidia", ID: "GPU-11"}, []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=GPU-11"}},
		{bench.Device{Vendor: "amd", ID: "1"}, []string{"HIP_VISIBLE_DEVICES=1"}},
		{bench.Device{Vendor: "ascend", ID: "1"}, []string{"ASCEND_RT_VISIBLE_DEVICES=1"}},
		{bench.Device{Vendor: "intel", ID: "0.1"}, []string{"ZE_AFFINITY_MASK=0.1"}},
		{bench.Device{Vendor: "cpu"}, nil},
		{bench.Device{Vendor: "apple"}, nil},
		{bench.Device{}, nil},
	}
	for _, test := range tests {
		got := device.Pin(test.device)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.device, diff)
		}
		got = append(got, "X=") // must not reach the next caller
		if again := device.Pin(test.device); slices.Contains(again, "X=") {
			t.Errorf("%s: callers share what they get: %q", test.device, got)
		}
	}
}

// Whatever is configured and inherited, a child is pinned to one device of a
// known vendor, or the error can be shown.
func FuzzDevices(f *testing.F) {
	f.Add("0", "cpu", "mixed", "CUDA_VISIBLE_DEVICES=1,0")
	f.Add("nvidia:GPU-11", "MIG-GPU-2/1/0", "h100x2", "CUDA_VISIBLE_DEVICES=GPU-1,MIG-GPU-2/1/0")
	f.Add("amd:1", "##[error]\x00", "both", "ROCR_VISIBLE_DEVICES=\n")
	f.Add("intel:0.1", "tpu:0", "cpu", "ZE_AFFINITY_MASK=0.1")
	f.Fuzz(func(t *testing.T, a, b, machine, entry string) {
		devices, err := device.Devices([]string{a, b}, machines[machine], []string{entry})
		if err != nil {
			checkMessage(t, err.Error())
			return
		}
		for _, d := range devices {
			pins := device.Pin(d)
			if len(pins) == 0 && d.Vendor != "cpu" && d.Vendor != "apple" {
				t.Errorf("%+v is not pinned", d)
			}
			for _, pin := range pins {
				name, value, _ := strings.Cut(pin, "=")
				if value == "" || strings.ContainsAny(value, ", \x00\n=") {
					t.Errorf("%+v is pinned by %s=%q", d, name, value)
				}
			}
		}
	})
}

// checkMessage expects one printable line with a next step.
func checkMessage(t *testing.T, s string) {
	t.Helper()
	if len(s) > 2000 || !strings.Contains(s, ": ") || strings.Contains(s, "##[") || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("message %s", fmt.Sprintf("%q", s))
	}
}
