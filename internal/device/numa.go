package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// Nodes are the NUMA nodes that devices are attached to.
type Nodes struct {
	Of      map[bench.Device]int
	Unknown map[bench.Device]string // why the node of a device is unknown
}

// NUMA returns the NUMA nodes of devices. On a host with one node that is the node of all. Elsewhere it
// asks the vendors' tools for their PCI buses, and reads /sys/bus/pci/devices/BUS/numa_node; root is
// where the folder sys is, "" for "/". An error means that the worker cannot go on.
func NUMA(ctx context.Context, w worker.Worker, root string, devices []bench.Device, h bench.Host) (Nodes, error) {
	n := Nodes{Of: map[bench.Device]int{}, Unknown: map[bench.Device]string{}}
	if node, ok := onlyNode(root); ok {
		for _, d := range devices {
			n.Of[d] = node
		}
		return n, nil
	}
	for _, v := range vendors {
		of := slices.DeleteFunc(slices.Clone(devices), func(d bench.Device) bool { return d.Vendor != v.name })
		if len(of) == 0 || v.buses == nil || w == nil {
			continue
		}
		buses, err := v.buses(ctx, w, of, h)
		if err != nil {
			return n, fmt.Errorf("ask for buses of %s devices: %w", v.name, err)
		}
		for d, bus := range buses {
			if n.Of[d], err = nodeOf(root, bus); err != nil {
				delete(n.Of, d)
				n.Unknown[d] = err.Error()
			}
		}
	}
	for _, d := range devices {
		if _, known := n.Of[d]; !known && n.Unknown[d] == "" {
			n.Unknown[d] = noBus(d.Vendor)
		}
	}
	return n, nil
}

// noBus returns why the bus of a device is unknown.
func noBus(vendor string) string {
	v := vendorNamed(vendor)
	if v == nil || v.buses == nil {
		return "no tool reports its PCI bus"
	}
	return "its PCI bus is not in the list of " + v.busTools
}

// Check refuses devices whose node is unknown, the first of them in this order. The error ends in a next step.
func (n Nodes) Check(devices []bench.Device) error {
	for _, d := range devices {
		if why, unknown := n.Unknown[d]; unknown {
			return fmt.Errorf("%s: its node is not known, because %s: write the number of the node in place of auto",
				text.Quote(d.String(), 80), why)
		}
	}
	return nil
}

var busID = lazyregexp.New(`^([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])$`)

// busOf returns the name of a bus as sysfs writes it, and "" for what is none.
func busOf(name string) string {
	parts := busID.FindStringSubmatch(name)
	if parts == nil {
		return ""
	}
	domain, _ := strconv.ParseUint(parts[1], 16, 32)
	return fmt.Sprintf("%04x:%s", domain, strings.ToLower(parts[2]))
}

// onlyNode returns the node of a host that has no other.
func onlyNode(root string) (node int, ok bool) {
	online, err := readShort(filepath.Join(root, "/sys/devices/system/node/online"))
	if err != nil {
		return 0, false
	}
	node, err = strconv.Atoi(online)
	return node, err == nil && isNode(node)
}

const maxNodes = 1024 // as Linux can be built for

func isNode(n int) bool { return n >= 0 && n < maxNodes }

// nodeOf reads the node of a device on the PCI bus. The kernel says -1 where the firmware does not report it.
func nodeOf(root, bus string) (int, error) {
	text, err := readShort(filepath.Join(root, "/sys/bus/pci/devices", bus, "numa_node"))
	if err != nil {
		return 0, errors.New("the kernel does not list its bus " + bus)
	}
	node, err := strconv.Atoi(text)
	if err != nil || !isNode(node) {
		return 0, errors.New("the kernel does not report the node of its bus " + bus)
	}
	return node, nil
}

// readShort reads a file of one word.
func readShort(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 100))
	return strings.TrimSpace(string(data)), err
}
