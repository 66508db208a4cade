package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBindings(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for node, list := range map[string]string{"node0": "0-3,8-11\n", "node1": "4-7\n", "node2": "\n", "node3": "x\n"} {
		dir := filepath.Join(root, "sys/devices/system/node", node)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cpulist"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		environ     string
		cpus, nodes []int
		loose       bool
		err         string
	}{
		{environ: "A=1"},
		{environ: "ACCELGATE_NUMA=0", cpus: []int{0, 1, 2, 3, 8, 9, 10, 11}, nodes: []int{0}, loose: true},
		{environ: "ACCELGATE_NUMA=0,1", cpus: []int{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7}, nodes: []int{0, 1}, loose: true},
		{environ: "ACCELGATE_NUMA=2", nodes: []int{2}, loose: true}, // of memory alone
		{environ: "ACCELGATE_NUMA=1 ACCELGATE_CPUS=0", cpus: []int{0}, nodes: []int{1}},
		{environ: "ACCELGATE_CPUS=5", cpus: []int{5}},
		{environ: "ACCELGATE_NUMA=3", err: "the processors of NUMA node 3"},
		{environ: "ACCELGATE_NUMA=9", err: "this host has no NUMA node 9 that accelgate can see: correct numa"},
		{environ: "ACCELGATE_NUMA=auto", err: "is not a list of NUMA nodes: write numbers"},
		{environ: "ACCELGATE_NUMA=../0", err: "is not a list of NUMA nodes"},
	} {
		b, err := bindingOf(strings.Fields(c.environ), root)
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.environ, err, c.err)
			}
			continue
		}
		if !slices.Equal(b.cpus, c.cpus) || !slices.Equal(b.nodes, c.nodes) || b.loose != c.loose {
			t.Errorf("%s: %+v", c.environ, b)
		}
	}
}
