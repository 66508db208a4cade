package measure

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// plainest is the need without demands that change no lane, so that cells are packed together that share lanes.
func (p *Plan) plainest(devices []bench.Device, need needs) needs {
	lanes := p.lanesFor(devices, need)
	for _, plainer := range []needs{{width: need.width, profile: need.profile}, {width: need.width, profile: need.profile,
		sameNode: need.sameNode}} {
		if slices.Equal(p.lanesFor(devices, plainer), lanes) {
			return plainer
		}
	}
	return need
}

// lanesFor are the groups of the devices that cells get which need this.
func (p *Plan) lanesFor(devices []bench.Device, need needs) (lanes []bench.Device) {
	fit := p.fitting(devices, need)
	if !need.sameNode || !p.here {
		return lanesOf(fit, need.width)
	}
	for _, group := range byNode(fit, p.near) {
		lanes = append(lanes, lanesOf(group, need.width)...)
	}
	return lanes
}

// byNode divides devices by their NUMA nodes, in the order of the first device of each. One without a node is left out.
func byNode(devices []bench.Device, nodes map[bench.Device]int) (groups [][]bench.Device) {
	at := map[int]int{} // in groups
	for _, d := range devices {
		node, known := nodes[d]
		if !known {
			continue
		}
		i, ok := at[node]
		if !ok {
			i = len(groups)
			at[node], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], d)
	}
	return groups
}

// lanesOf are the groups of so many of the devices that cells get. Devices over the last whole
// group stay idle.
func lanesOf(devices []bench.Device, width int) (lanes []bench.Device) {
	for group := range slices.Chunk(devices, width) {
		if len(group) == width {
			lanes = append(lanes, groupOf(group))
		}
	}
	return lanes
}

func groupOf(devices []bench.Device) bench.Device {
	if len(devices) == 1 {
		return devices[0]
	}
	return bench.Group(devices)
}
