package measure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// TestVendors: a count of devices has the vendors' names as keys.
func TestVendors(t *testing.T) {
	t.Parallel()
	got, want := slices.Sorted(slices.Values(config.Vendors)), slices.Sorted(slices.Values(device.Vendors()))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("vendors of package config (-those of device +got):\n%s", diff)
	}
}

// numbered are devices of a vendor.
func numbered(vendor string, n int) (devices []bench.Device) {
	for i := range n {
		devices = append(devices, bench.Device{Vendor: vendor, ID: fmt.Sprint(i)})
	}
	return devices
}

// TestLanesOfNodes: whatever devices a run has, in any order and on any nodes, a lane is of one vendor and one node, no
// two have a device in common, each node gives as many as fit, and cells are packed onto them as tightly as onto others.
func TestLanesOfNodes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		devices := slices.Concat(numbered("nvidia", random.IntN(9)), numbered("amd", random.IntN(5)))
		random.Shuffle(len(devices), func(i, j int) { devices[i], devices[j] = devices[j], devices[i] })
		p := &Plan{Config: Config{here: true, near: map[bench.Device]int{}}}
		perNode, nodes := map[int]int{}, 1+random.IntN(3)
		for _, d := range devices {
			if node := random.IntN(nodes+1) - 1; node >= 0 { // -1 is unknown
				p.near[d] = node
				if d.Vendor == "nvidia" {
					perNode[node]++
				}
			}
		}
		need := needs{width: 2 + random.IntN(3), vendor: "nvidia", sameNode: true}
		lanes := p.lanesFor(devices, need)
		want := 0
		for _, n := range perNode {
			want += n / need.width
		}
		if len(lanes) != want {
			t.Fatalf("%v on nodes %v give %d lanes of %d, want %d: %v", devices, p.near, len(lanes), need.width, want, lanes)
		}
		checkLanes(t, p, lanes, need)
		checkPacked(t, random, lanes)
	}
}

// checkLanes holds that each lane is what a cell needs, and that none has a device of another.
func checkLanes(t *testing.T, p *Plan, lanes []bench.Device, need needs) {
	t.Helper()
	for i, lane := range lanes {
		members := lane.Members()
		if lane.Vendor != need.vendor || len(members) != need.width || len(slices.Compact(slices.Clone(members))) != need.width {
			t.Fatalf("lane %v is not what %+v asks for", lane, need)
		}
		for _, d := range members {
			if node, known := p.near[d]; !known || node != p.near[members[0]] {
				t.Fatalf("lane %v is on several nodes, or on unknown ones: %v", lane, p.near)
			}
		}
		if slices.ContainsFunc(lanes[:i], lane.Overlaps) {
			t.Fatalf("lanes %v have a device in common", lanes)
		}
	}
}

// checkPacked packs cells of random times onto lanes.
func checkPacked(t *testing.T, random *rand.Rand, lanes []bench.Device) {
	t.Helper()
	seats, earlier := make([]assignment, 1+random.IntN(30)), earlierRuns{times: map[string]time.Duration{}, devices: map[string]string{}}
	for i := range seats {
		id := fmt.Sprint("c", i)
		seats[i] = assignment{number: i, cells: []string{id}}
		earlier.times[id] = time.Duration(1+random.IntN(1e6)) * time.Microsecond
		if len(lanes) > 0 && random.IntN(2) == 0 {
			earlier.devices[id] = lanes[random.IntN(len(lanes))].String()
		}
	}
	at, _ := shareOut(seats, lanes, earlier)
	if len(lanes) == 0 {
		return
	}
	costs := costsOf(seats, earlier.times)
	longest, bound := slices.Max(loadsOf(costs, at, len(lanes))), packing.MakespanBound(costs, len(lanes))
	if maximum := worthMoving * (2 - 1/float64(len(lanes))); float64(longest) > maximum*float64(bound) {
		t.Fatalf("%v on %v take %d, the bound is %d", costs, lanes, longest, bound)
	}
}

// TestSameLanesArePackedTogether: a demand that all devices of the run meet changes nothing, and so the cells that make it share
// the lanes of the others.
func TestSameLanesArePackedTogether(t *testing.T) {
	t.Parallel()
	devices := numbered("nvidia", 4)
	one := map[bench.Device]int{devices[0]: 0, devices[1]: 0, devices[2]: 1, devices[3]: 1}
	across := map[bench.Device]int{devices[0]: 0, devices[1]: 1, devices[2]: 0, devices[3]: 1}
	amd := numbered("amd", 2)
	mixed := map[bench.Device]int{amd[0]: 0, amd[1]: 0, devices[0]: 0, devices[1]: 1, devices[2]: 0, devices[3]: 1}
	strict := needs{width: 2, vendor: "nvidia", sameNode: true}
	for _, c := range []struct {
		devices []bench.Device
		near    map[bench.Device]int
		want    needs
	}{
		{devices, one, needs{width: 2}},
		{devices, across, needs{width: 2, sameNode: true}},
		{slices.Concat(amd, devices), across, needs{width: 2, sameNode: true}}, // where no node of AMD's is known
		{slices.Concat(amd[:1], devices, amd[1:]), mixed, strict},
	} {
		p := &Plan{Config: Config{here: c.near != nil, near: c.near}}
		if got := p.plainest(c.devices, strict); got != c.want {
			t.Errorf("%v on %v: %+v, want %+v", c.devices, c.near, got, c.want)
		}
	}
}

func TestWhatAHostLacks(t *testing.T) {
	t.Parallel()
	four := numbered("nvidia", 4)
	nodes := func(of ...int) map[bench.Device]int {
		at := map[bench.Device]int{}
		for i, node := range of {
			if node >= 0 {
				at[four[i]] = node
			}
		}
		return at
	}
	run := capacity{here: true, pinned: true, who: "the run", whole: append(numbered("amd", 1), four...), nodes: nodes(0, 0, 1, 1)}
	loose, partly := run, run
	loose.pinned, loose.who = false, "host h"
	partly.nodes, partly.unknown = nodes(0, 0, -1, 1), map[bench.Device]string{four[2]: "no tool reports its PCI bus"}
	single, lost, planned := loose, partly, run
	single.nodes, planned.here = nodes(0, 0, 0, 0), false
	lost.nodes = map[bench.Device]int{}
	for name, c := range map[string]struct {
		of   capacity
		need needs
		want string
	}{
		"enough":                      {run, needs{width: 4, vendor: "nvidia"}, ""},
		"enough of all":               {run, needs{width: 5}, ""},
		"too few of a vendor":         {run, needs{width: 2, vendor: "amd"}, "it needs 2 amd devices, and the run has 1 amd device: name more in host.devices or --devices"},
		"none of a vendor":            {run, needs{width: 1, vendor: "intel"}, "it needs 1 intel device, and the run has 0 intel devices: name more in host.devices or --devices"},
		"too few of a host":           {loose, needs{width: 8, vendor: "nvidia"}, "it needs 8 nvidia devices, and host h has 4 nvidia devices"},
		"on one node":                 {run, needs{width: 2, vendor: "nvidia", sameNode: true}, ""},
		"on two nodes":                {run, needs{width: 3, vendor: "nvidia", sameNode: true}, "it needs 3 nvidia devices on one NUMA node, and the run has 2 on node 0, 2 on node 1: name more in host.devices or --devices"},
		"known ones suffice":          {partly, needs{width: 2, vendor: "nvidia", sameNode: true}, ""},
		"an unknown node":             {partly, needs{width: 3, vendor: "nvidia", sameNode: true}, "it needs 3 nvidia devices on one NUMA node, and the run has 2 on node 0, 1 on node 1; the node of nvidia:2 is not known, because no tool reports its PCI bus: remove same_node, or name devices whose nodes are known"},
		"no node known":               {lost, needs{width: 2, vendor: "nvidia", sameNode: true}, "and the run has none on a known node; the node of nvidia:0 is not known"},
		"not pinned":                  {loose, needs{width: 2, vendor: "nvidia", sameNode: true}, "it needs 2 nvidia devices on one NUMA node, and cells are not pinned to devices: write host.devices"},
		"not pinned and one node":     {single, needs{width: 4, vendor: "nvidia", sameNode: true}, ""},
		"a label that is not a host":  {planned, needs{width: 4, vendor: "nvidia", sameNode: true}, ""},
		"slices are NVIDIA's devices": {capacity{slices: map[string]int{"1g.10gb": 2}}, needs{width: 1, vendor: "nvidia"}, ""},
		"and of no other vendor":      {capacity{who: "the run", pinned: true, slices: map[string]int{"1g.10gb": 2}}, needs{width: 1, vendor: "amd"}, "it needs 1 amd device, and the run has 0 amd devices: name more in host.devices or --devices"},
		"two of slices":               {capacity{who: "the run", slices: map[string]int{"1g.10gb": 2}}, needs{width: 2, vendor: "nvidia"}, "it needs 2 nvidia devices, and the run has 0 nvidia devices beside MIG slices"},
		"simulated":                   {capacity{simulated: map[string]bool{"": true, "nvidia": true}}, needs{width: 8, vendor: "nvidia", sameNode: true}, ""},
		"simulated without":           {capacity{who: "host h", simulated: map[string]bool{"": true, "nvidia": true}}, needs{width: 8, vendor: "amd"}, "it needs 8 amd devices, and host h has 0 amd devices"},
	} {
		if got := c.of.lacks(c.need); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
