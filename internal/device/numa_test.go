package device_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
)

// sysfs writes files below the folder sys of a root.
func sysfs(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "sys", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// twoNodes is a host whose kernel reports the nodes of three buses, and of a fourth one that it does not know.
func twoNodes(t *testing.T) (root string) {
	return sysfs(t, map[string]string{
		"bus/pci/devices/0000:3b:00.0/numa_node": "0\n", "bus/pci/devices/0001:af:00.0/numa_node": "1\n", "bus/pci/devices/10000:d8:00.0/numa_node": "-1\n",
		"bus/pci/devices/0000:3c:00.0/numa_node": "1\n", "bus/pci/devices/0000:3d:00.0/numa_node": "4096\n", "devices/system/node/online": "0-1\n",
	})
}

func TestNodesOfDevices(t *testing.T) {
	t.Parallel()
	host := detected(t, dividedGPUs, dividedList)
	root := twoNodes(t)
	buses := lines("0, GPU-00aa0000-0000-0000-0000-000000000000, 00000000:3B:00.0", "1, "+wholeID+", 00000001:AF:00.0",
		"2, GPU-22cc0000-0000-0000-0000-000000000000, 00010000:D8:00.0", "nonsense", "3, GPU-33dd0000, ../../etc", "4, GPU-44ee0000-0000, 00000000:77:00.0")
	for _, c := range []struct {
		vendor, id string
		want       int
		err        string
	}{
		{id: "0", want: 0},
		{id: wholeID, want: 1},
		{id: "GPU-11", want: 1},
		{id: sliceA2, want: 0}, // of its GPU
		{id: "2", err: `"nvidia:2": its node is not known, because the kernel does not report the node of its bus 10000:d8:00.0: write the number of the node in place of auto`},
		{id: "3", err: "its PCI bus is not in the list of nvidia-smi"},
		{id: "4", err: "the kernel does not list its bus 0000:77:00.0"},
		{vendor: "amd", id: "0", err: "its PCI bus is not in the list of amd-smi or rocm-smi"},
		{vendor: "intel", id: "0", err: `"intel:0": its node is not known, because no tool reports its PCI bus`},
		{vendor: "apple", err: "no tool reports its PCI bus"},
	} {
		w := install(t, map[string]fake{"nvidia-smi buses": {Stdout: buses}})
		d := bench.Device{Vendor: "nvidia", ID: c.id}
		if c.vendor != "" {
			d.Vendor = c.vendor
		}
		nodes, err := device.NUMA(t.Context(), w, root, []bench.Device{d}, host)
		if err != nil {
			t.Fatal(err)
		}
		if err := nodes.Check([]bench.Device{d}); c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", d, err, c.err)
			}
			continue
		}
		if node, known := nodes.Of[d]; !known || node != c.want {
			t.Errorf("%s is on node %d (known: %v), want %d", d, node, known, c.want)
		}
	}
}

// TestNodesOfEveryVendor holds that the tools of the vendors are asked for buses, the older ones where the newer do not answer.
func TestNodesOfEveryVendor(t *testing.T) {
	t.Parallel()
	const npus = `
| npu-smi 23.0.2                   Version: 23.0.2                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 2     910B3               | OK            | 291.0       58                0    / 0             |
| 0                         | 0000:3B:00.0  | 87          0    / 0          37709/ 65536         |
| 5     910B3               | Alarm         | 95.4        97                0    / 0             |
| 0                         | NA            | 0           0    / 0          3400 / 65536         |
| 6     910B3               | OK            | 95.4        97                0    / 0             |
| 1     2                   | 0000:3C:00.0  | 0           0    / 0          3400 / 65536         |
| 2       0                 | 1333928       |                          | 34309                   |
`
	chips := []bench.Accelerator{{Vendor: "ascend", Model: "910B3"}, {Vendor: "ascend", Model: "910B3"}, {Vendor: "ascend", Model: "910B3"}}
	for name, c := range map[string]struct {
		vendor string
		tools  map[string]fake
		chips  []bench.Accelerator
		want   map[string]int // by number
	}{
		"amd-smi": {vendor: "amd", want: map[string]int{"0": 1, "2": 0}, tools: map[string]fake{"amd-smi buses": {Stdout: `WARNING: some words
[{"gpu": 0, "bdf": "0000:3C:00.0"}, {"gpu": 2, "bdf": "0000:3b:00.0"}, {"gpu": 1, "bdf": "N/A"}, {"gpu": -3, "bdf": "0000:3b:00.0"}, {"gpu": 1.5, "bdf": "0000:3b:00.0"}, 7]`}}},
		"amd-smi of ROCm 7": {vendor: "amd", want: map[string]int{"0": 1}, tools: map[string]fake{"amd-smi buses": {Stdout: `{"gpu_data": [{"gpu": 0, "bdf": "0000:3c:00.0"}]}`}}},
		"rocm-smi alone": {vendor: "amd", want: map[string]int{"0": 0, "1": 1},
			tools: map[string]fake{"rocm-smi buses": {Stdout: `{"card0": {"PCI Bus": "0000:3B:00.0"}, "card1": {"PCI BUS": "0000:3C:00.0"}, "card2": 3, "system": {}}`}}},
		"rocm-smi where amd-smi fails": {vendor: "amd", want: map[string]int{"1": 1},
			tools: map[string]fake{"amd-smi buses": {Stdout: "AMDSMI_STATUS_NOT_INIT", Exit: 1}, "rocm-smi buses": {Stdout: `{"card1": {"PCI Bus": "0000:3C:00.0"}}`}}},
		"npu-smi":                    {vendor: "ascend", want: map[string]int{"0": 0, "2": 1}, chips: chips, tools: map[string]fake{"npu-smi info": {Stdout: npus}}},
		"npu-smi of other chips":     {vendor: "ascend", want: map[string]int{}, chips: chips[1:], tools: map[string]fake{"npu-smi info": {Stdout: npus}}},
		"no tool":                    {vendor: "amd", want: map[string]int{}, tools: map[string]fake{}},
		"a node beyond any that are": {vendor: "amd", want: map[string]int{}, tools: map[string]fake{"amd-smi buses": {Stdout: `[{"gpu": 0, "bdf": "0000:3d:00.0"}]`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var devices []bench.Device
			for _, id := range []string{"0", "1", "2", "300", ""} {
				devices = append(devices, bench.Device{Vendor: c.vendor, ID: id})
			}
			nodes, err := device.NUMA(t.Context(), install(t, c.tools), twoNodes(t), devices, bench.Host{Fingerprint: bench.Fingerprint{Accelerators: c.chips}})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for d, node := range nodes.Of {
				got[d.ID] = node
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(nodes.Unknown)+len(got) != len(devices) {
				t.Errorf("nodes (-want +got):\n%sunknown: %v", diff, nodes.Unknown)
			}
		})
	}
}

// TestOneNode: where a host has one node, all devices are on it, also those whose bus no tool reports.
func TestOneNode(t *testing.T) {
	t.Parallel()
	devices := []bench.Device{{Vendor: "nvidia", ID: "0"}, {Vendor: "intel", ID: "1"}, {Vendor: "apple"}}
	for online, want := range map[string]int{"0\n": 3, "2\n": 3, "0-1\n": 0, "0,2\n": 0, "\n": 0, "-1\n": 0, "4096\n": 0, "many\n": 0} {
		root := sysfs(t, map[string]string{"devices/system/node/online": online})
		nodes, err := device.NUMA(t.Context(), install(t, nil), root, devices, bench.Host{})
		if err != nil || len(nodes.Of) != want || want == 3 && (nodes.Check(devices) != nil || nodes.Of[devices[1]] != int(online[0]-'0')) {
			t.Errorf("online %q: %v, %v, want %d known", online, nodes, err, want)
		}
	}
}
