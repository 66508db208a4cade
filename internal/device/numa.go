package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

var nvidiaBuses = []string{"nvidia-smi", "--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader,nounits"}

var busID = lazyregexp.New(`^([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])$`)

// NUMA returns the NUMA node that each of the devices is attached to, by
// /sys/bus/pci/devices/BUS/numa_node; root is where the folder sys is, "" for "/". It asks
// nvidia-smi for the buses. Devices of other vendors are an error, which ends in what to do, and
// so is a node that the kernel does not tell on a host with several.
func NUMA(ctx context.Context, w worker.Worker, root string, devices []bench.Device, h bench.Host) (map[bench.Device]int, error) {
	resp, err := w.Do(ctx, worker.Request{Args: nvidiaBuses, Timeout: toolTimeout})
	if err != nil {
		return nil, fmt.Errorf("ask nvidia-smi for buses: %w", err)
	}
	known, buses := parseBuses(resp.Stdout[:min(len(resp.Stdout), maxOutput)])
	nodes := map[bench.Device]int{}
	for _, d := range devices {
		bus := buses[known.uuid(cmp.Or(slotOf(d, h).Parent, d.ID))]
		if d.Vendor != NVIDIA || bus == "" {
			return nil, fmt.Errorf("%s: its node is not known, because nvidia-smi lists no bus of it: write the number of the node in place of auto", text.Quote(d.String(), 80))
		}
		if nodes[d], err = nodeOf(root, bus); err != nil {
			return nil, fmt.Errorf("%s: %w: write the number of the node in place of auto", text.Quote(d.String(), 80), err)
		}
	}
	return nodes, nil
}

// parseBuses reads lines like "0, GPU-8932f937-..., 00000000:3B:00.0" and returns the buses by UUID,
// as sysfs writes them.
func parseBuses(out []byte) (known gpus, buses map[string]string) {
	buses = map[string]string{}
	for line := range strings.Lines(string(out)) {
		rest, bus := cutLast(line)
		parts := busID.FindStringSubmatch(bus)
		found := parseUUIDs([]byte(rest))
		if parts == nil || len(found) != 1 || len(known) == maxDevices {
			continue
		}
		domain, _ := strconv.ParseUint(parts[1], 16, 32)
		known = append(known, found[0])
		buses[found[0].uuid] = fmt.Sprintf("%04x:%s", domain, strings.ToLower(parts[2]))
	}
	return known, buses
}

// nodeOf reads the node of a device on the PCI bus. The kernel says -1 where the firmware does not
// tell; with one node there is no other.
func nodeOf(root, bus string) (int, error) {
	text, err := readShort(filepath.Join(root, "/sys/bus/pci/devices", bus, "numa_node"))
	if err != nil {
		return 0, errors.New("the kernel does not list its bus " + bus)
	}
	node, err := strconv.Atoi(text)
	if err == nil && node == -1 {
		if online, _ := readShort(filepath.Join(root, "/sys/devices/system/node/online")); online == "0" {
			return 0, nil
		}
	}
	if err != nil || node < 0 || node > 1023 {
		return 0, errors.New("the kernel does not report its node")
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
