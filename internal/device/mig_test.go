package device_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
)

// What nvidia-smi prints on a host of three GPUs, of which two are divided, in the form of
// https://docs.nvidia.com/datacenter/tesla/mig-user-guide/getting-started-with-mig.html.
const (
	dividedGPUs = "NVIDIA H100 80GB HBM3, 81559, 570.86.15\nNVIDIA H100 80GB HBM3, 81559, 570.86.15\nNVIDIA H100 80GB HBM3, 81559, 570.86.15\n"
	dividedList = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00aa0000-0000-0000-0000-000000000000)
  MIG 1g.10gb     Device  0: (UUID: MIG-a1000000-0000-5000-8000-000000000000)
  MIG 1g.10gb     Device  1: (UUID: MIG-a2000000-0000-5000-8000-000000000000)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-11bb0000-0000-0000-0000-000000000000)
GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-22cc0000-0000-0000-0000-000000000000)
  MIG 2g.20gb     Device  0: (UUID: MIG-c1000000-0000-5000-8000-000000000000)
  MIG 1c.3g.40gb  Device  1: (UUID: MIG-c2000000-0000-5000-8000-000000000000)
`
	wholeID  = "GPU-11bb0000-0000-0000-0000-000000000000"
	sliceA1  = "MIG-a1000000-0000-5000-8000-000000000000"
	sliceA2  = "MIG-a2000000-0000-5000-8000-000000000000"
	sliceC1  = "MIG-c1000000-0000-5000-8000-000000000000"
	sliceC2  = "MIG-c2000000-0000-5000-8000-000000000000"
	parentID = "GPU-00aa0000-0000-0000-0000-000000000000"
)

func detected(t *testing.T, gpus, list string) bench.Host {
	t.Helper()
	w := install(t, map[string]fake{"nvidia-smi": {Stdout: gpus}, "nvidia-smi list": {Stdout: list}, "nvidia-smi uuids": {Exit: 9}})
	host, _, err := device.Detect(t.Context(), device.Options{GOOS: "linux", Worker: w})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func TestSlicesStandInForTheirGPU(t *testing.T) {
	t.Parallel()
	host := detected(t, dividedGPUs, dividedList)
	if host.Label != "linux-cuda" {
		t.Errorf("label %s", host.Label)
	}
	var got []string
	for _, a := range host.Accelerators {
		got = append(got, strings.Join([]string{a.Slot.UUID, a.Model, a.Slot.Profile}, "|"))
		if a.ID != bench.Identify(a.Slot.UUID) {
			t.Errorf("%s has the id %q", a.Slot.UUID, a.ID)
		}
	}
	const h100 = "NVIDIA H100 80GB HBM3"
	want := []string{sliceA1 + "|" + h100 + " MIG 1g.10gb|1g.10gb", sliceA2 + "|" + h100 + " MIG 1g.10gb|1g.10gb", wholeID + "|" + h100 + "|",
		sliceC1 + "|" + h100 + " MIG 2g.20gb|2g.20gb", sliceC2 + "|" + h100 + " MIG 1c.3g.40gb|1c.3g.40gb"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("accelerators (-want +got):\n%s", diff)
	}
	if a := host.Accelerators; a[0].MemoryGiB != 10 || a[2].MemoryGiB != 80 || a[4].MemoryGiB != 40 {
		t.Errorf("memory %v, %v and %v GiB", a[0].MemoryGiB, a[2].MemoryGiB, a[4].MemoryGiB)
	}
	same := detected(t, dividedGPUs, dividedList)
	if ok, why := host.Comparable(same.Fingerprint); !ok {
		t.Errorf("a host is not comparable with itself: %s", why)
	}
	other := detected(t, dividedGPUs, strings.Replace(dividedList, "MIG 2g.20gb", "MIG 1g.20gb", 1))
	if ok, _ := host.Comparable(other.Fingerprint); ok {
		t.Error("slices of two profiles are comparable")
	}
	if doc, err := json.Marshal(host); err != nil || strings.Contains(string(doc), sliceA1) {
		t.Errorf("a document holds the UUID of a slice: %s, %v", doc, err)
	}
}

// TestListsThatSayNothing leave the GPUs that the other question found.
func TestListsThatSayNothing(t *testing.T) {
	t.Parallel()
	one := "NVIDIA H100 80GB HBM3, 81559, 570.86.15\n"
	for name, list := range map[string]string{
		"undivided":         "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00aa0000-0000)\n",
		"nothing":           "",
		"another count":     dividedList,
		"slices before any": "  MIG 1g.10gb     Device  0: (UUID: MIG-a1000000-0000)\nGPU 0: X (UUID: GPU-00aa0000-0000)\n",
		"no profile":        "GPU 0: X (UUID: GPU-00aa0000-0000)\n  MIG ../x     Device  0: (UUID: MIG-a1000000-0000)\n",
		"no UUID":           "GPU 0: X (UUID: GPU-00aa0000-0000)\n  MIG 1g.10gb     Device  0: (UUID: N/A)\n",
	} {
		host := detected(t, one, list)
		if len(host.Accelerators) != 1 || host.Accelerators[0].Model != "NVIDIA H100 80GB HBM3" || host.Accelerators[0].Slot != (bench.Slot{}) {
			t.Errorf("%s: %+v", name, host.Accelerators)
		}
	}
}

func TestDevicesOfAHostWithSlices(t *testing.T) {
	t.Parallel()
	host := detected(t, dividedGPUs, dividedList)
	for _, c := range []struct{ ids, environ, want, err string }{
		{ids: "1", want: wholeID},
		{ids: "nvidia:1 mig:2g.20gb", want: wholeID + " " + sliceC1},
		{ids: "GPU-11", want: wholeID},
		{ids: "mig", want: sliceA1 + " " + sliceA2 + " " + sliceC1 + " " + sliceC2},
		{ids: "mig:1g.10gb", want: sliceA1 + " " + sliceA2},
		{ids: "MIG-a2", want: sliceA2},
		{ids: "nvidia:" + sliceC2, want: sliceC2},
		{ids: "0", err: "it is divided into 2 MIG slices, and is no device itself: write mig for all of them"},
		{ids: "GPU-22cc", err: "it is divided into 2 MIG slices"},
		{ids: "3", err: "it stands for 0 devices"},
		{ids: "MIG-", err: "names no nvidia device"},
		{ids: "MIG-f", err: "it stands for 0 devices"},
		{ids: "mig:7g.80gb", err: "the host has slices of 1c.3g.40gb, 1g.10gb, 2g.20gb"},
		{ids: "mig mig:1g.10gb", err: "is listed twice"},
		{ids: "0", environ: "CUDA_VISIBLE_DEVICES=" + sliceC1, want: sliceC1},
		{ids: "mig", environ: "CUDA_VISIBLE_DEVICES=" + sliceC1 + "," + sliceA2, want: sliceA2 + " " + sliceC1},
		{ids: "mig:2g.20gb", environ: "CUDA_VISIBLE_DEVICES=" + sliceA2, err: "no slice that this process may use"},
		{ids: sliceC1, environ: "CUDA_VISIBLE_DEVICES=" + sliceA2, err: "it is not in the list"},
	} {
		var environ []string
		if c.environ != "" {
			environ = []string{c.environ}
		}
		ids, err := device.Expand(strings.Fields(c.ids), host, environ)
		var devices []bench.Device
		if err == nil {
			devices, err = device.Devices(ids, host, environ)
		}
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s with %q: %v, want %q", c.ids, c.environ, err, c.err)
			}
			continue
		}
		var got []string
		for _, d := range devices {
			got = append(got, d.ID)
			if pin := device.Pin(d); !slices.Contains(pin, "CUDA_VISIBLE_DEVICES="+d.ID) {
				t.Errorf("%v pins by %q", d, pin)
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s with %q (-want +got):\n%s", c.ids, c.environ, diff)
		}
	}
	if all := device.All(host); len(all) != 5 || all[0].ID != sliceA1 || all[2].ID != wholeID {
		t.Errorf("all devices are %v", all)
	}
	undivided := bench.Host{Fingerprint: bench.Fingerprint{Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "X"}}}}
	if _, err := device.Expand([]string{"mig"}, undivided, nil); err == nil || !strings.Contains(err.Error(), "has no MIG slices") {
		t.Errorf("slices of a host without any: %v", err)
	}
}

// TestSlicesAndTheirGPUExcludeEachOther: slices of one GPU are used at once, and never beside the
// whole GPU.
func TestSlicesAndTheirGPUExcludeEachOther(t *testing.T) {
	t.Parallel()
	host, dir := detected(t, dividedGPUs, dividedList), t.TempDir()
	acquire := func(ids ...string) (*device.Lease, error) {
		var devices []bench.Device
		for _, id := range ids {
			devices = append(devices, bench.Device{Vendor: "nvidia", ID: id})
		}
		return device.Acquire(context.Background(), device.LeaseOptions{Dir: dir, Devices: devices, Shared: device.Parents(devices, host), Now: noon, Job: strings.Join(ids, "+")})
	}
	busy := func(ids ...string) {
		t.Helper()
		lease, err := acquire(ids...)
		if _, ok := errors.AsType[*device.BusyError](err); !ok {
			t.Errorf("%v is leased beside another job: %v", ids, err)
		}
		lease.Release()
	}
	must := func(ids ...string) *device.Lease {
		t.Helper()
		lease, err := acquire(ids...)
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	first, second, third := must(sliceA1), must(sliceA2), must(sliceC1, sliceC2)
	busy(sliceA1)
	busy(parentID)
	first.Release()
	busy(parentID)
	second.Release()
	whole := must(parentID)
	busy(sliceA1)
	must(wholeID).Release()
	whole.Release()
	must(sliceA1, sliceA2).Release()
	third.Release()
}
