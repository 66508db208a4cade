package casefile

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// devices lists the device profiles of msmodeling (tensor_cast/device.py).
var devices = []string{
	"TEST_DEVICE",
	"ATLAS_800_A2_376T_64G", "ATLAS_800_A2_313T_64G", "ATLAS_800_A2_280T_64G", "ATLAS_800_A2_280T_64G_PCIE", "ATLAS_800_A2_280T_32G_PCIE",
	"ATLAS_800_A3_752T_128G_DIE", "ATLAS_800_A3_560T_128G_DIE", "ATLAS_800_A3_560T_128G_DIE_ROCE",
	"ATLAS_350_425T_112G", "ATLAS_350_425T_84G",
}

// engineDevices are those of cases for accelgate's embedded engine.
var engineDevices = []string{"cpu", "cpu_parallel"}

// device doubts a device that the original would not run. It is no error of the
// file: newer versions have more profiles, and other programs other devices.
func (l *linter) device() {
	settings, path := l.c.UserInput, "user_input.device"
	if l.c.Type == Video {
		settings, path = l.c.Video, "device"
	}
	name, ok := settings["device"].(string)
	if !ok || slices.Contains(devices, name) || slices.Contains(engineDevices, name) {
		return
	}
	next := "correct it, or leave it if your program has it"
	if near := text.Nearest(name, devices); near != "" {
		next = fmt.Sprintf("write %s, or leave it if your program has it", near)
	}
	l.note("unknown-device", path, "%s is none of msmodeling's %d device profiles, and it refuses to run others: %s", quote(name),
		len(devices), next)
}
