package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// needOf is what a cell of a suite needs at once: one device, where nothing else is said.
func needOf(s *config.Suite, c bench.Cell) config.DeviceCount {
	need := config.DeviceCount{Count: 1}
	for _, n := range s.Devices {
		if when := matrix.Match(n.When); len(when) == 0 || when.Selects(c) {
			need = n
		}
	}
	return need
}

// checkWidths refuses counts of devices that are for no cell: a misspelt axis would leave
// cells with too few.
func checkWidths(s *config.Suite, cells []bench.Cell) error {
	for i, n := range s.Devices {
		if n.MIG != "" && !device.CheckProfile(n.MIG) {
			return s.Errorf(fmt.Sprintf("devices[%d].mig", i), "%s is no MIG profile: write one of nvidia-smi mig -lgip, such as 1g.10gb", text.Quote(n.MIG, 80))
		}
		path, when := fmt.Sprintf("devices[%d]", i), matrix.Match(n.When)
		if err := checkKeys(s, path, when, nil, cells); err != nil {
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
	has := p.supply()
	one.Cells = slices.DeleteFunc(slices.Clone(one.Cells), func(c bench.Cell) bool {
		need := needOf(s, c)
		if need.Count > 1 {
			p.widths[c.ID()] = need.Count
		}
		if need.MIG != "" {
			p.profiles[c.ID()] = need.MIG
		}
		why := has.lacks(need)
		if why != "" {
			one.Skipped = append(slices.Clone(one.Skipped), bench.Result{Cell: c, Outcome: bench.Skipped, Reason: why})
		}
		return why != ""
	})
}

// supply is what cells can be given.
type supply struct {
	any    bool   // the host is simulated, and may have any number
	pinned bool   // to devices that the run names
	who    string // "the run", or the host
	whole  int
	slices map[string]int // by profile
}

func (p *Plan) supply() supply {
	s := supply{pinned: len(p.deviceIDs) > 0, who: "the run", slices: map[string]int{}}
	devices, err := device.Devices(p.deviceIDs, p.Host, p.environ)
	if !s.pinned {
		s.who, devices = "host "+p.Host.Label, device.All(p.Host)
		s.any = slices.ContainsFunc(p.Host.Accelerators, func(a bench.Accelerator) bool { return a.Model == "" })
	}
	if err != nil {
		s.whole = len(p.deviceIDs) // the lease reports what is wrong with them
	}
	for _, d := range devices {
		if profile := device.Profile(d, p.Host); profile != "" {
			s.slices[profile]++
		} else {
			s.whole++
		}
	}
	return s
}

// lacks says why a cell cannot be measured, "" if it can.
func (s supply) lacks(need config.DeviceCount) string {
	switch {
	case s.any:
		return ""
	case need.MIG != "":
		return s.lacksSlice(need.MIG)
	case need.Count == 1 || need.Count <= s.whole:
		return ""
	}
	what := text.Plural(s.whole, "device")
	if len(s.slices) > 0 {
		what += " beside MIG slices"
	}
	return fmt.Sprintf("it needs %s, and %s has %s%s", text.Plural(need.Count, "device"), s.who, what, s.more())
}

func (s supply) lacksSlice(profile string) string {
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
func (s supply) more() string {
	if s.pinned {
		return ": name more in host.devices or --devices"
	}
	return ""
}

// fitting are those of the devices that a cell can get which needs a slice of a profile. For one that needs none
// they are the whole devices, or the slices where there are no others.
func (p *Plan) fitting(devices []bench.Device, profile string) (fit []bench.Device) {
	for _, d := range devices {
		if device.Profile(d, p.Host) == profile {
			fit = append(fit, d)
		}
	}
	if len(fit) == 0 && profile == "" {
		return devices
	}
	return fit
}

// checkGroups refuses devices that no variable can give to a process together, and slices of several
// profiles for a cell that does not say which one it needs.
func (p *Plan) checkGroups(devices []bench.Device) error {
	if err := p.checkProfiles(p.fitting(devices, "")); err != nil {
		return err
	}
	for _, d := range devices {
		if len(p.widths) > 0 && len(devices) > 1 && (d.ID == "" || d.Vendor != devices[0].Vendor) {
			return exit.Usagef("devices: a cell that needs several cannot have %s beside %s: name devices of one vendor, or choose other cells with --only", d, devices[0])
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
			if p.profiles[c.ID()] == "" {
				return exit.Usagef("devices: the run has MIG slices of %s, and the cell %s states no profile: add \"devices: [{mig: %s}]\" to suite %s, or name slices of one profile, as in mig:%s",
					strings.Join(profiles, ", "), text.Quote(c.ID(), 80), profiles[0], one.Name, profiles[0])
			}
		}
	}
	return nil
}

// width is how many devices a cell needs at once.
func (p *Plan) width(c bench.Cell) int { return max(1, p.widths[c.ID()]) }
