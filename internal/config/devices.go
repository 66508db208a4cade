package config

import (
	"fmt"
	"strings"
)

// maxDevices is how many devices a cell can need: more than one host has.
const maxDevices = 256

// maxNodes is how many nodes a cell can span.
const maxNodes = 10_000

// DeviceCount is how many devices a cell needs at once.
type DeviceCount struct {
	// When selects cells: each key names an axis or a swept variable, and each value is a
	// glob. Empty selects every cell.
	When  map[string]string `yaml:"when"`
	Count int               `yaml:"count,scalar"` // that of Vendor where it has one; 1 where a profile alone is given
	// MIG is the profile of the slice that the cell needs, as in "1g.10gb"; "" is no slice where
	// the run has whole devices. Package device says what a profile is.
	MIG string `yaml:"mig"`
	VendorCounts
	// SameNode demands that the devices are attached to one NUMA node.
	SameNode bool `yaml:"same_node"`
	// Nodes is how many nodes of a cluster the cell spans, each with so many devices; 0 means 1.
	Nodes int `yaml:"nodes"`
	// Vendor is the key of the given one of VendorCounts, a vendor of package device; "" is any vendor.
	Vendor string
}

// VendorCounts are counts of devices of one vendor, in place of [DeviceCount.Count]. At most one is given.
type VendorCounts struct {
	NVIDIA *int `yaml:"nvidia"`
	AMD    *int `yaml:"amd"`
	Ascend *int `yaml:"ascend"`
	Intel  *int `yaml:"intel"`
	Apple  *int `yaml:"apple"`
}

// given returns the vendors that a count is given for, and the last of the counts.
func (v *VendorCounts) given() (vendors []string, count int) {
	for i, n := range []*int{v.NVIDIA, v.AMD, v.Ascend, v.Intel, v.Apple} {
		if n != nil {
			vendors, count = append(vendors, Vendors[i]), *n
		}
	}
	return vendors, count
}

// Vendors are the keys of [VendorCounts], in its order.
var Vendors = []string{"nvidia", "amd", "ascend", "intel", "apple"}

// devices complains about counts that no host can give, and notes the vendor of each.
func (d *decoder) devices(s *Suite) {
	for i := range s.Devices {
		n, path := &s.Devices[i], fmt.Sprintf("devices[%d]", i)
		complain := func(path, format string, args ...any) {
			d.errs = append(d.errs, s.Errorf(path, format, args...))
		}
		at := path // of the count
		if vendors, count := n.given(); len(vendors) > 0 {
			at = path + "." + vendors[0]
			if len(vendors) > 1 {
				complain(path+"."+vendors[1], "%s are counted; write the count of one vendor", strings.Join(vendors, " and "))
				continue
			}
			if n.Count != 0 || n.MIG != "" {
				complain(at, "excludes count and mig; remove them, or remove %s", vendors[0])
				continue
			}
			n.Vendor, n.Count = vendors[0], count
		}
		if (n.MIG != "" || n.Nodes > 0) && n.Count == 0 && n.Vendor == "" {
			n.Count = 1
		}
		if n.Nodes < 0 || n.Nodes > maxNodes {
			complain(path+".nodes", "is %d; write 1 to %d", n.Nodes, maxNodes)
		}
		switch {
		case n.Count < 1 || n.Count > maxDevices:
			complain(at, "count is %d; write 1 to %d", n.Count, maxDevices)
		case n.MIG != "" && n.Count > 1:
			complain(path, "count is %d, and a process can use one MIG slice; remove count", n.Count)
		case n.MIG != "" && n.SameNode:
			complain(path+".same_node", "a cell has one MIG slice, which is on one node; remove same_node")
		}
		if n.When != nil && len(n.When) == 0 {
			complain(path+".when", "is empty; name an axis or a swept variable, or remove it")
		}
	}
}
