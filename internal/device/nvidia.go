package device

import (
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

var nvidiaSMI = tool{
	args:  []string{"nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"},
	parse: parseNVIDIA,
}

// parseNVIDIA reads lines like "NVIDIA H100 80GB HBM3, 81559, 550.54.15".
// Complaints stand between them, on the same stream. Devices that share the
// system's memory have "[N/A]" for their own.
func parseNVIDIA(out []byte) (inventory, error) {
	var found inventory
	for line := range strings.Lines(string(out)) {
		device, driver, ok := nvidiaRow(line)
		if ok {
			found.devices = append(found.devices, device)
			found.driver = driver
		} else if note := clean(line); note != "" {
			found.notes = append(found.notes, note)
		}
	}
	return found, nil
}

// nvidiaRow splits from the right, since only the name may hold a comma.
func nvidiaRow(line string) (device bench.Accelerator, driver string, ok bool) {
	rest, driver := cutLast(line)
	if driver == "" || driver[0] < '0' || driver[0] > '9' {
		return device, "", false
	}
	name, memory := cutLast(rest)
	if device.Model = clean(name); device.Model == "" {
		return device, "", false
	}
	if strings.HasPrefix(memory, "[") || memory == "N/A" {
		return device, driver, true
	}
	mib, err := strconv.ParseFloat(memory, 64)
	device.MemoryGiB = gibibytes(mib * (1 << 20))
	return device, driver, err == nil
}

// cutLast cuts at the last comma and returns what is behind it cleaned.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ',')
	if i < 0 {
		return "", clean(s)
	}
	return s[:i], clean(s[i+1:])
}
