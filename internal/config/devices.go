package config

import "fmt"

// mostDevices is how many devices a cell can need: more than one host has.
const mostDevices = 256

// DeviceCount is how many devices a cell needs at once.
type DeviceCount struct {
	// When selects cells: each key names an axis or a swept variable, and each value is a
	// glob. Empty selects every cell.
	When  map[string]string `yaml:"when"`
	Count int               `yaml:"count,scalar"` // 1 where a profile alone is given
	// MIG is the profile of the slice that the cell needs, as in "1g.10gb"; "" is no slice where
	// the run has whole devices. Package device says what a profile is.
	MIG string `yaml:"mig"`
}

// devices complains about counts that no host can give.
func (d *decoder) devices(s *Suite) {
	for i := range s.Devices {
		n := &s.Devices[i]
		if n.MIG != "" && n.Count == 0 {
			n.Count = 1
		}
		path := fmt.Sprintf("devices[%d]", i)
		if n.Count < 1 || n.Count > mostDevices {
			d.errs = append(d.errs, s.Errorf(path, "count is %d: write 1 to %d", n.Count, mostDevices))
		}
		if n.MIG != "" && n.Count > 1 {
			d.errs = append(d.errs, s.Errorf(path, "count is %d: a process can use one MIG slice: remove count", n.Count))
		}
		if n.When != nil && len(n.When) == 0 {
			d.errs = append(d.errs, s.Errorf(path+".when", "is empty: name an axis or a swept variable, or remove it"))
		}
	}
}
