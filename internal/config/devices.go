package config

import "fmt"

// mostDevices is how many devices a cell can need: more than one host has.
const mostDevices = 256

// DeviceCount is how many devices a cell needs at once.
type DeviceCount struct {
	// When selects cells: each key names an axis or a swept variable, and each value is a
	// glob. Empty selects every cell.
	When  map[string]string `yaml:"when"`
	Count int               `yaml:"count,scalar"`
}

// devices complains about counts that no host can give.
func (d *decoder) devices(s *Suite) {
	for i, n := range s.Devices {
		path := fmt.Sprintf("devices[%d]", i)
		if n.Count < 1 || n.Count > mostDevices {
			d.errs = append(d.errs, s.Errorf(path, "count is %d: write 1 to %d", n.Count, mostDevices))
		}
		if n.When != nil && len(n.When) == 0 {
			d.errs = append(d.errs, s.Errorf(path+".when", "is empty: name an axis or a swept variable, or remove it"))
		}
	}
}
