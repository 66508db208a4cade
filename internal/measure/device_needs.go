package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure/cluster"
	"github.com/accelgate/accelgate/internal/text"
)

// needs is what a cell needs of devices.
type needs struct {
	width    int
	vendor   string // "" is any
	profile  string // of a slice
	sameNode bool   // where it needs several
	nodes    int    // of a cluster, each with so many devices
}

// ofVendor are those of the devices that are of the vendor that the cell needs.
func (n needs) ofVendor(devices []bench.Device) []bench.Device {
	if n.vendor == "" {
		return devices
	}
	return slices.DeleteFunc(slices.Clone(devices), func(d bench.Device) bool { return d.Vendor != n.vendor })
}

// needOf is what a cell of a suite needs at once: one device, where nothing else is said.
func needOf(s *config.Suite, c bench.Cell) needs {
	need := needs{width: 1, nodes: 1}
	for _, n := range s.Devices {
		if when := matrix.Match(n.When); len(when) == 0 || when.Selects(c) {
			need = needs{width: n.Count, vendor: n.Vendor, profile: n.MIG, sameNode: n.SameNode && n.Count > 1, nodes: max(n.Nodes, 1)}
		}
	}
	return need
}

// need is what a cell needs at once.
func (p *Plan) need(c bench.Cell) needs {
	if need, ok := p.needs[c.ID()]; ok {
		return need
	}
	return needs{width: 1, nodes: 1}
}

// Demand is what a job of a batch system needs for any of the cells.
func (p *Plan) Demand() cluster.Demand {
	d := cluster.Demand{Nodes: 1}
	vendor := ""
	if len(p.Host.Accelerators) > 0 {
		vendor = p.Host.Accelerators[0].Vendor
	}
	for _, one := range p.Suites {
		for _, c := range one.Cells {
			need := p.need(c)
			if d.Nodes = max(d.Nodes, need.nodes); need.sameNode || need.nodes > 1 {
				d.Whole = true
			}
			if of := cmp.Or(need.vendor, vendor); of != "" && need.width > d.Devices {
				d.Devices, d.Vendor, d.Profile = need.width, of, need.profile
			}
		}
		i := slices.IndexFunc(p.File.Suites, func(s config.Suite) bool { return s.Name == one.Name })
		d.Whole = d.Whole || len(p.File.Suites[i].NUMA)+len(p.File.Suites[i].CPUs) > 0
	}
	return d
}

// checkWidths refuses counts of devices that are for no cell: a misspelt axis would leave
// cells with too few.
func checkWidths(s *config.Suite, cells []bench.Cell) error {
	for i, n := range s.Devices {
		if n.MIG != "" && !device.CheckProfile(n.MIG) {
			return s.Errorf(fmt.Sprintf("devices[%d].mig", i), "%s is no MIG profile: write one of nvidia-smi mig -lgip, such as 1g.10gb",
				text.Quote(n.MIG, 80))
		}
		path, when := fmt.Sprintf("devices[%d]", i), matrix.Match(n.When)
		if err := policy.CheckKeys(s, path, when, nil, cells); err != nil {
			return err
		}
		if len(when) > 0 && !slices.ContainsFunc(cells, when.Selects) {
			return s.Errorf(path+".when", "matches no cell of the suite: correct it, or remove the entry")
		}
	}
	return nil
}

// wide notes what the cells of a suite need, and moves those that need more devices than
// the host has to the skipped ones.
func (p *Plan) wide(s *config.Suite, one *Planned) {
	has := p.capacity()
	one.Cells = slices.DeleteFunc(slices.Clone(one.Cells), func(c bench.Cell) bool {
		need := needOf(s, c)
		p.needs[c.ID()] = need
		why := has.lacks(need)
		if why != "" {
			one.Skipped = append(slices.Clone(one.Skipped), bench.Result{Cell: c, Outcome: bench.Skipped, Reason: why})
		}
		return why != ""
	})
}

// fitting are those of the devices that a cell can get: slices of its profile. For one that needs no slice
// they are the whole devices, or the slices where there are no others.
func (p *Plan) fitting(devices []bench.Device, need needs) (fit []bench.Device) {
	devices = need.ofVendor(devices)
	for _, d := range devices {
		if device.Profile(d, p.Host) == need.profile {
			fit = append(fit, d)
		}
	}
	if len(fit) == 0 && need.profile == "" {
		return devices
	}
	return fit
}

// checkGroups refuses devices that no variable can give to a process together, and slices of several
// profiles for a cell that does not say which one it needs.
func (p *Plan) checkGroups(devices []bench.Device) error {
	if err := p.checkProfiles(p.fitting(devices, needs{})); err != nil {
		return err
	}
	for _, one := range p.Suites {
		for _, c := range one.Cells {
			if err := p.checkGroup(devices, p.need(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkGroup refuses devices of several vendors for a cell that needs several devices.
func (p *Plan) checkGroup(devices []bench.Device, need needs) error {
	if need.width == 1 {
		return nil
	}
	fit := p.fitting(devices, need)
	for _, d := range fit {
		if len(fit) > 1 && (d.ID == "" || d.Vendor != fit[0].Vendor) {
			return exit.Usagef(
				"devices: a cell that needs several cannot have %s beside %s: name devices of one vendor, count those of one as in {%s: %d}, or choose other cells with --only",
				d, fit[0], fit[0].Vendor, need.width)
		}
	}
	return nil
}

func (p *Plan) checkProfiles(devices []bench.Device) error {
	var profiles []string
	for _, d := range devices {
		profiles = append(profiles, device.Profile(d, p.Host))
	}
	slices.Sort(profiles)
	if profiles = slices.Compact(profiles); len(profiles) < 2 {
		return nil
	}
	for _, one := range p.Suites {
		for _, c := range one.Cells {
			if p.need(c).profile == "" {
				return exit.Usagef(
					"devices: the run has MIG slices of %s, and the cell %s states no profile: add \"devices: [{mig: %s}]\" to suite %s, or name slices of one profile, as in mig:%s",
					strings.Join(profiles, ", "), text.Quote(c.ID(), 80), profiles[0], one.Name, profiles[0])
			}
		}
	}
	return nil
}
