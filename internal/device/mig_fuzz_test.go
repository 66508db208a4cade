package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// Whatever nvidia-smi lists and a configuration names, a child gets one word, and a device of the host.
func FuzzSlices(f *testing.F) {
	f.Add("GPU 0: x (UUID: GPU-0000)\n  MIG 1g.10gb     Device  0: (UUID: MIG-11110000)\n", "mig:1g.10gb", "CUDA_VISIBLE_DEVICES=MIG-1111")
	f.Add("GPU 0: x (UUID: GPU-0000)\n MIG 1g.5gb+me Device 0: (UUID: MIG-GPU-0000/1/0)\nGPU 1: y (UUID: GPU-1111)\n", "1", "")
	f.Add("GPU 0: x (UUID: GPU-0000)\n MIG 9g.5gb Device 0: (UUID: MIG-0000)\n MIG 9g.5gb Device 0: (UUID: MIG-0000)\n", "MIG-0", "X=1")
	f.Fuzz(func(t *testing.T, list, id, entry string) {
		gpus := parseList([]byte(list))
		h := bench.Host{Fingerprint: bench.Fingerprint{Accelerators: divide(gpus, slices.Repeat([]bench.Accelerator{{Vendor: NVIDIA, Model: "X"}}, len(gpus)))}}
		ids, err := Expand([]string{id}, h, []string{entry})
		if err != nil {
			return
		}
		devices, err := Devices(ids, h, []string{entry})
		if err != nil {
			return
		}
		for _, d := range devices {
			if strings.ContainsAny(strings.Join(Pin(d), ""), "\x00\n ,") {
				t.Errorf("%q pins by %q", id, Pin(d))
			}
			if divided(h, NVIDIA) && d.Vendor == NVIDIA && !slices.ContainsFunc(h.Accelerators, func(a bench.Accelerator) bool { return a.Slot.UUID == d.ID }) {
				t.Errorf("%q of %q is %v, which the host has not", id, list, d)
			}
		}
	})
}
