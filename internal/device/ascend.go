package device

import (
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// Ascend is the vendor of Huawei's NPUs.
const Ascend = "ascend"

var ascend = vendor{
	name: Ascend, label: "npu", hosts: []string{"linux"},
	systems: []string{"linux"}, tools: []tool{npuSMI},
	// CANN's counterpart of CUDA_VISIBLE_DEVICES; it takes the logic IDs that
	// "npu-smi info -m" lists.
	pin:  pinning{variable: "ASCEND_RT_VISIBLE_DEVICES", id: index, example: "ascend:0"},
	gres: "npu", resource: "huawei.com/Ascend910", // https://github.com/Ascend/ascend-device-plugin
	buses: busesOfAscend, busTools: "npu-smi",
}

// npuSMI lists the chips of Huawei's NPUs. It does not tell their memory or
// the driver's version.
var npuSMI = tool{args: []string{"npu-smi", "info", "-m"}, parse: parseAscend}

// parseAscend reads a table whose columns are NPU ID, chip ID, logic ID and
// chip name. A chip without a logic ID, "-", is a controller, not a device.
func parseAscend(out []byte) (inventory, error) {
	var found inventory
	for line := range strings.Lines(string(out)) {
		columns := strings.Fields(clean(line))
		if len(columns) < 4 || !numbers(columns[:3]) {
			continue
		}
		found.devices = append(found.devices, bench.Accelerator{Model: strings.Join(columns[3:], " ")})
	}
	return found, nil
}

func numbers(columns []string) bool {
	for _, c := range columns {
		if _, err := strconv.ParseUint(c, 10, 16); err != nil {
			return false
		}
	}
	return true
}
