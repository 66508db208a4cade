package worker

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestBindings(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("NUMA nodes are read on Linux")
	}
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

// TestContainersOfANode: the engine binds memory and processors, unless processors are chosen.
func TestContainersOfANode(t *testing.T) {
	t.Parallel()
	cpus, err := processorsOf("/", 0)
	if err != nil {
		t.Skip(err)
	}
	w := &Container{Image: "x"}
	for env, want := range map[string][2]string{
		Nodes + "=0":                  {numberList(cpus), "0"},
		Nodes + "=0 " + CPUs + "=0":   {"0", "0"},
		CPUs + "=0":                   {"0", ""},
		Nodes + "=1023":               {"no NUMA node 1023", "error"},
		Nodes + "=0,x":                {"not a list of NUMA nodes", "error"},
		"HOME=/ " + CPUs + "=0-1,3-2": {"not a list of processors", "error"},
	} {
		created, err := w.spec(&engine{}, Request{Args: []string{"x"}, Dir: t.TempDir(), Env: strings.Fields(env)})
		if want[1] == "error" {
			if err == nil || !strings.Contains(err.Error(), want[0]) {
				t.Errorf("%s: %v, want %q", env, err, want[0])
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r := created.HostConfig.Resources; r.CpusetCpus != want[0] || r.CpusetMems != want[1] {
			t.Errorf("%s: processors %q and nodes %q, want %q", env, r.CpusetCpus, r.CpusetMems, want)
		}
	}
}
