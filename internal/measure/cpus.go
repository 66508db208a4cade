package measure

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// processors are those of a suite's children: of all, or of each device of the run.
type processors struct {
	lists   []string
	devices []bench.Device // in the order of the lists; empty where one list is for all
}

// processorsOf refuses lists that no processor can follow, and such that belong to no device.
func (p *Plan) processorsOf(s *config.Suite) (*processors, error) {
	if len(s.CPUs) > 0 && p.kinds[s.Kind].Inside {
		return nil, s.Errorf("cpus", "kind %s starts no processes: remove cpus, and start accelgate by taskset", s.Kind)
	}
	for _, list := range s.CPUs {
		if _, err := worker.ParseCPUs(list); err != nil {
			return nil, s.Errorf("cpus", "%v", err)
		}
	}
	of := &processors{lists: s.CPUs}
	if len(s.CPUs) < 2 {
		return of, nil
	}
	if n := len(p.deviceIDs); n != len(s.CPUs) {
		return nil, s.Errorf("cpus", "has %s for %s of the run: write one list for each of host.devices or --devices, or one for all",
			text.Plural(len(s.CPUs), "list"), text.Plural(n, "device"))
	}
	of.devices, _ = device.Devices(p.deviceIDs, p.Host, p.environ) // the lease reports what is wrong with them
	return of, nil
}

// of returns the processors of a device, or of all in a group; "" where they are not chosen.
func (p *processors) of(d bench.Device) string {
	if len(p.devices) == 0 {
		return strings.Join(p.lists, ",")
	}
	var lists []string
	for _, member := range d.Members() {
		if i := slices.Index(p.devices, member); i >= 0 {
			lists = append(lists, p.lists[i])
		}
	}
	return strings.Join(lists, ",")
}

// forAll is the list of a suite with one for all, and "" elsewhere: those of devices are as
// alike as the devices.
func (p *processors) forAll() string {
	if p == nil || len(p.lists) != 1 {
		return ""
	}
	return p.lists[0]
}

// pin returns the variables that give a child its device and its processors.
func (p *processors) pin(d bench.Device) []string {
	env := device.Pin(d)
	if list := p.of(d); list != "" {
		env = append(env, worker.CPUs+"="+list)
	}
	return env
}
