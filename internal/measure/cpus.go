package measure

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// processors are those of a suite's children, and the NUMA nodes of their memory.
type processors struct {
	cpus, nodes chosen
	near        map[bench.Device]int // nodes of devices
}

// chosen is what a key says: of all children, or of those on each device of the run.
type chosen struct {
	lists   []string
	devices []bench.Device // in the order of the lists; empty where one list is for all
}

// nearNode in place of a NUMA node is that of the cell's device.
const nearNode = "auto"

// processorsOf refuses lists that no processor can follow, and such that belong to no device.
func (c *Config) processorsOf(s *config.Suite) (*processors, error) {
	of := &processors{near: c.near}
	var err error
	if of.cpus, err = c.chosen(s, "cpus", s.CPUs, func(list string) error { _, err := worker.ParseCPUs(list); return err }); err != nil {
		return nil, err
	}
	of.nodes, err = c.chosen(s, "numa", s.NUMA, func(list string) error {
		if list == nearNode && len(c.deviceIDs) == 0 && c.here {
			return fmt.Errorf(
				"auto is the node of the cell's device, and cells are not pinned to devices: write host.devices, or the number of a node",
			)
		}
		if list == nearNode {
			return nil
		}
		_, err := worker.ParseNodes(list)
		return err
	})
	return of, err
}

// chosen reads one list for all, or one for each device of the run.
func (c *Config) chosen(s *config.Suite, key string, lists []string, check func(list string) error) (of chosen, err error) {
	if len(lists) > 0 && c.kinds[s.Kind].Inside {
		return of, s.Errorf(key, "kind %s starts no processes: remove %s, and start accelgate by taskset", s.Kind, key)
	}
	for _, list := range lists {
		if err := check(list); err != nil {
			return of, s.Errorf(key, "%v", err)
		}
	}
	of.lists = lists
	if len(lists) < 2 {
		return of, nil
	}
	if n := len(c.deviceIDs); n != len(lists) {
		return of, s.Errorf(key, "has %s for %s of the run: write one list for each of host.devices or --devices, or one for all",
			text.Plural(len(lists), "list"), text.Plural(n, "device"))
	}
	of.devices, _ = device.Devices(c.deviceIDs, c.Host, c.environ) // the lease reports what is wrong with them
	return of, nil
}

// of returns the list of a device, or of all in a group; "" where nothing is chosen.
func (c chosen) of(d bench.Device) string {
	if len(c.devices) == 0 {
		return strings.Join(c.lists, ",")
	}
	var lists []string
	for _, member := range d.Members() {
		if i := slices.Index(c.devices, member); i >= 0 && !slices.Contains(lists, c.lists[i]) {
			lists = append(lists, c.lists[i])
		}
	}
	return strings.Join(lists, ",")
}

// stated is what the key says, all lists of devices in their order: which of them a cell gets is as
// alike as the devices are.
func (c chosen) stated() string { return strings.Join(c.lists, " ") }

// conditions are what a result states of where it was measured.
func (p *processors) conditions() map[string]string {
	if p == nil {
		return nil
	}
	return map[string]string{"cpus": p.cpus.stated(), "numa": p.nodes.stated()}
}

// nodesOf returns the NUMA nodes of a device, with auto replaced.
func (p *processors) nodesOf(d bench.Device) string {
	var nodes []string
	for list := range strings.SplitSeq(p.nodes.of(d), ",") {
		if list != nearNode {
			nodes = append(nodes, list)
			continue
		}
		for _, member := range d.Members() {
			if node, ok := p.near[member]; ok && !slices.Contains(nodes, strconv.Itoa(node)) {
				nodes = append(nodes, strconv.Itoa(node))
			}
		}
	}
	return strings.Join(nodes, ",")
}

// pin returns the variables that give a child its device, its processors and its memory.
func (p *processors) pin(d bench.Device) []string {
	env := device.Pin(d)
	if list := p.cpus.of(d); list != "" {
		env = append(env, worker.CPUs+"="+list)
	}
	if list := p.nodesOf(d); list != "" {
		env = append(env, worker.Nodes+"="+list)
	}
	return env
}

// findNear finds the NUMA nodes of the devices of the run, or of all of the host, if a suite that it measures asks for them.
func (e *Env) findNear(ctx context.Context, c *Config) error {
	wanted := slices.DeleteFunc(slices.Clone(c.File.Suites), func(s config.Suite) bool { return !c.wants(s.Name) })
	auto := slices.IndexFunc(wanted, func(s config.Suite) bool { return slices.Contains(s.NUMA, nearNode) })
	together := slices.ContainsFunc(wanted, func(s config.Suite) bool {
		return slices.ContainsFunc(s.Devices, func(n config.DeviceCount) bool { return n.SameNode })
	})
	devices, err := device.Devices(c.deviceIDs, c.Host, c.environ)
	if err != nil || auto < 0 && !together { // the lease reports what is wrong with devices
		return nil
	}
	if len(devices) == 0 {
		devices = device.All(c.Host)
	}
	w := &worker.Isolated{Environ: c.environ}
	defer w.Close()
	nodes, err := device.NUMA(ctx, w, e.Root, devices, c.Host)
	if err != nil {
		return err
	}
	c.near, c.unplaced = nodes.Of, nodes.Unknown
	if auto < 0 || len(c.deviceIDs) == 0 { // without devices, auto is refused where it stands
		return nil
	}
	if err := nodes.Check(devices); err != nil {
		return exit.AsUsage(wanted[auto].Errorf("numa", "%v", err))
	}
	return nil
}
