package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
)

// capacity is what cells can be given.
type capacity struct {
	simulated map[string]bool // vendors of which the host may have any number; "" is any of them
	pinned    bool            // to devices that the run names
	who       string          // "the run", or the host
	whole     []bench.Device
	unnamed   int            // devices of the run that cannot be resolved
	slices    map[string]int // by profile
	here      bool           // nodes are known
	nodes     map[bench.Device]int
	unknown   map[bench.Device]string // why a device has no node
	hosts     int                     // nodes of the job; 0 is any number
	job       bool                    // the devices are those of a job
}

func (c *Config) capacity() capacity {
	s := capacity{pinned: len(c.deviceIDs) > 0, who: "the run", simulated: map[string]bool{}, slices: map[string]int{}}
	s.here, s.nodes, s.unknown, s.hosts = c.here, c.near, c.unplaced, c.nodes
	if c.job != nil && c.job.Allocates {
		s.pinned, s.job, s.who = true, true, "this job"
	}
	devices, err := device.Devices(c.deviceIDs, c.Host, c.environ)
	if !s.pinned {
		s.who, devices = "host "+c.Host.Label, device.All(c.Host)
		for _, a := range c.Host.Accelerators {
			if a.Model == "" {
				s.simulated[""], s.simulated[a.Vendor] = true, true
			}
		}
	}
	if err != nil {
		s.unnamed = len(c.deviceIDs) // the lease reports what is wrong with them
	}
	for _, d := range devices {
		if profile := device.Profile(d, c.Host); profile != "" {
			s.slices[profile]++
		} else {
			s.whole = append(s.whole, d)
		}
	}
	return s
}

// lacks returns why a cell cannot be measured, "" if it can.
func (s capacity) lacks(need needs) string {
	has := need.ofVendor(s.whole)
	switch {
	case need.nodes > s.hosts && s.hosts > 0:
		return fmt.Sprintf("it needs %s of a cluster, and this job has %d: submit it with accelgate plan --for slurm",
			text.Plural(need.nodes, "node"), s.hosts)
	case s.simulated[need.vendor]:
		return ""
	case need.profile != "":
		return s.lacksSlice(need.profile)
	case need.width == 1 && (need.vendor == "" || need.vendor == device.NVIDIA && len(s.slices) > 0):
		return ""
	case need.width > len(has)+s.unnamed:
		return s.lacksDevices(need, len(has)+s.unnamed)
	case need.sameNode && s.here && s.unnamed == 0:
		return s.lacksNode(need, has)
	}
	return ""
}

// devices is a number of devices in words, as in "4 nvidia devices".
func (n needs) devices(count int) string {
	return text.Plural(count, strings.TrimSpace(n.vendor+" device"))
}

func (s capacity) lacksDevices(need needs, has int) string {
	what := need.devices(has)
	if len(s.slices) > 0 && (need.vendor == "" || need.vendor == device.NVIDIA) {
		what += " beside MIG slices"
	}
	return fmt.Sprintf("it needs %s, and %s has %s%s", need.devices(need.width), s.who, what, s.more())
}

// lacksNode returns why a cell cannot have devices of one NUMA node. Without pinning, its program sees all
// devices, which is right only where they are on one node.
func (s capacity) lacksNode(need needs, has []bench.Device) string {
	on := map[int]int{}
	unknown := ""
	for _, d := range has {
		node, known := s.nodes[d]
		if known {
			on[node]++
		} else if unknown == "" {
			unknown = fmt.Sprintf("; the node of %s is not known, because %s", d, s.unknown[d])
		}
	}
	enough := slices.ContainsFunc(slices.Collect(maps.Values(on)), func(n int) bool { return n >= need.width })
	wants := fmt.Sprintf("it needs %s on one NUMA node, and ", need.devices(need.width))
	switch {
	case enough && (s.pinned || len(on) == 1 && unknown == ""):
		return ""
	case enough:
		return wants + "cells are not pinned to devices: write host.devices"
	}
	var parts []string
	for _, node := range slices.Sorted(maps.Keys(on)) {
		parts = append(parts, fmt.Sprintf("%d on node %d", on[node], node))
	}
	if len(parts) == 0 {
		parts = []string{"none on a known node"}
	}
	next := s.more()
	if unknown != "" {
		next = ": remove same_node, or name devices whose nodes are known"
	}
	return wants + s.who + " has " + strings.Join(parts, ", ") + unknown + next
}

func (s capacity) lacksSlice(profile string) string {
	has := "none"
	switch {
	case s.slices[profile] > 0 && s.pinned:
		return ""
	case s.slices[profile] > 0:
		return fmt.Sprintf("it needs a MIG slice %s, and cells are not pinned to devices: write host.devices: [mig]", profile)
	case len(s.slices) > 0:
		has = "slices of " + strings.Join(slices.Sorted(maps.Keys(s.slices)), ", ")
	}
	return fmt.Sprintf("it needs a MIG slice %s, and %s has %s%s", profile, s.who, has, s.more())
}

// more is the next step where the run names its devices.
func (s capacity) more() string {
	switch {
	case s.job:
		return ": submit it with more, as accelgate plan --for slurm does"
	case s.pinned:
		return ": name more in host.devices or --devices"
	}
	return ""
}
