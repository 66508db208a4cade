package device_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestNodesOfDevices(t *testing.T) {
	t.Parallel()
	host := detected(t, dividedGPUs, dividedList)
	root := sysfs(t, map[string]string{
		"bus/pci/devices/0000:3b:00.0/numa_node": "0\n", "bus/pci/devices/0001:af:00.0/numa_node": "1\n", "bus/pci/devices/10000:d8:00.0/numa_node": "-1\n",
		"devices/system/node/online": "0-1\n",
	})
	single := sysfs(t, map[string]string{"bus/pci/devices/0000:3b:00.0/numa_node": "-1\n", "devices/system/node/online": "0\n"})
	buses := lines("0, GPU-00aa0000-0000-0000-0000-000000000000, 00000000:3B:00.0", "1, "+wholeID+", 00000001:AF:00.0",
		"2, GPU-22cc0000-0000-0000-0000-000000000000, 00010000:D8:00.0", "nonsense", "3, GPU-33dd0000, ../../etc")
	for _, c := range []struct {
		vendor, id, root string
		want             int
		err              string
	}{
		{id: "0", root: root, want: 0},
		{id: wholeID, root: root, want: 1},
		{id: "GPU-11", root: root, want: 1},
		{id: sliceA2, root: root, want: 0}, // of its GPU
		{id: "0", root: single, want: 0},
		{id: "2", root: root, err: `"nvidia:2": the kernel does not tell its node: write the number of the node in place of auto`},
		{id: "3", root: root, err: "nvidia-smi lists no bus of it"},
		{id: "1", root: single, err: "the kernel does not list its bus 0001:af:00.0"},
		{vendor: "amd", id: "0", root: root, err: "amd:0"},
	} {
		w := install(t, map[string]fake{"nvidia-smi buses": {Stdout: buses}})
		d := bench.Device{Vendor: "nvidia", ID: c.id}
		if c.vendor != "" {
			d.Vendor = c.vendor
		}
		nodes, err := device.NUMA(t.Context(), w, c.root, []bench.Device{d}, host)
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", d, err, c.err)
			}
			continue
		}
		if nodes[d] != c.want {
			t.Errorf("%s is on node %d, want %d", d, nodes[d], c.want)
		}
	}
}
