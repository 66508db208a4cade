package device

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

var (
	nvidiaBuses = []string{"nvidia-smi", "--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader,nounits"}
	amdBuses    = []string{"amd-smi", "list", "--json"}
	rocmBuses   = []string{"rocm-smi", "--showbus", "--json"}
	ascendBuses = []string{"npu-smi", "info"}
)

// asked returns what a tool prints, nothing if it is not installed.
func asked(ctx context.Context, w worker.Worker, args []string) ([]byte, error) {
	resp, err := w.Do(ctx, worker.Request{Args: args, Timeout: toolTimeout})
	return resp.Stdout[:min(len(resp.Stdout), maxOutput)], err
}

// busesOfNVIDIA finds devices by index or UUID, and slices by their GPU.
func busesOfNVIDIA(ctx context.Context, w worker.Worker, devices []bench.Device, h bench.Host) (map[bench.Device]string, error) {
	out, err := asked(ctx, w, nvidiaBuses)
	known, buses := parseBuses(out)
	found := map[bench.Device]string{}
	for _, d := range devices {
		if bus := buses[uuidOf(known, cmp.Or(slotOf(d, h).Parent, d.ID))]; bus != "" {
			found[d] = bus
		}
	}
	return found, err
}

// parseBuses reads lines like "0, GPU-8932f937-..., 00000000:3B:00.0" and returns the buses by UUID.
func parseBuses(out []byte) (known []GPU, buses map[string]string) {
	buses = map[string]string{}
	for line := range strings.Lines(string(out)) {
		rest, bus := cutLast(line)
		found := parseUUIDs([]byte(rest))
		if busOf(bus) == "" || len(found) != 1 || len(known) == maxDevices {
			continue
		}
		known = append(known, found[0])
		buses[found[0].UUID] = busOf(bus)
	}
	return known, buses
}

// busesOfAMD asks amd-smi or, where that lists none, rocm-smi, which it replaced.
func busesOfAMD(ctx context.Context, w worker.Worker, devices []bench.Device, _ bench.Host) (map[bench.Device]string, error) {
	out, err := asked(ctx, w, amdBuses)
	buses := parseAMDBuses(out)
	if err == nil && len(buses) == 0 {
		out, err = asked(ctx, w, rocmBuses)
		buses = parseROCmBuses(out)
	}
	return byNumber(buses, devices), err
}

// parseAMDBuses reads [{"gpu": 0, "bdf": "0000:0c:00.0", ...}], which stands in {"gpu_data": ...} where that wraps
// the other lists of amd-smi.
func parseAMDBuses(out []byte) map[int]string {
	document, _ := firstJSON(out)
	if wrapper, ok := document.(map[string]any); ok {
		document = wrapper["gpu_data"]
	}
	list, _ := document.([]any)
	buses := map[int]string{}
	for _, entry := range list {
		gpu := fieldsOf(entry)
		n, ok := gpu["gpu"].(float64)
		if bus := busOf(gpu.text("bdf")); ok && bus != "" && n >= 0 && n < maxDevices && n == float64(int(n)) {
			buses[int(n)] = bus
		}
	}
	return buses
}

// parseROCmBuses reads {"card0": {"PCI Bus": "0000:0C:00.0"}}.
func parseROCmBuses(out []byte) map[int]string {
	document, _ := firstJSON(out)
	cards := fieldsOf(document)
	buses := map[int]string{}
	for _, n := range cardNumbers(cards) {
		if bus := busOf(fieldsOf(cards["card"+strconv.Itoa(n)]).text("pci bus")); bus != "" && n < maxDevices {
			buses[n] = bus
		}
	}
	return buses
}

// busesOfAscend counts chips in the order in which npu-smi lists them, as their numbers do. Where it lists
// another number of chips than the host has, no bus is known.
func busesOfAscend(ctx context.Context, w worker.Worker, devices []bench.Device, h bench.Host) (map[bench.Device]string, error) {
	out, err := asked(ctx, w, ascendBuses)
	buses, chips := parseAscendBuses(out)
	if n, _ := count(h, Ascend); n != chips {
		buses = nil
	}
	return byNumber(buses, devices), err
}

// parseAscendBuses reads a table with two rows for each chip, "| 2 910B3 | OK | 291.0 ... |" and
// "| 0 | 0000:41:00.0 | 87 ... |", and returns the buses by number, and how many chips there are.
func parseAscendBuses(out []byte) (buses map[int]string, chips int) {
	buses = map[int]string{}
	named := false // the row before was the first one of a chip
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		first := strings.Fields(cells[0])
		switch {
		case len(cells) != 3 || len(first) == 0 || !index.MatchString(first[0]) || chips == maxDevices:
			named = false
		case !named:
			named = true
		default:
			if bus := busOf(strings.TrimSpace(cells[1])); bus != "" {
				buses[chips] = bus
			}
			named = false
			chips++
		}
	}
	return buses, chips
}

// byNumber returns the buses of devices that are named by their numbers.
func byNumber(buses map[int]string, devices []bench.Device) map[bench.Device]string {
	found := map[bench.Device]string{}
	for _, d := range devices {
		n, err := strconv.Atoi(d.ID)
		if bus := buses[n]; err == nil && bus != "" {
			found[d] = bus
		}
	}
	return found
}
