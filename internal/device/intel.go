package device

import "github.com/accelgate/accelgate/internal/text/lazyregexp"

// Intel is the vendor of Intel's GPUs. They are not detected: Intel has no tool that is installed everywhere.
const Intel = "intel"

var intel = vendor{
	name: Intel, label: "xpu", hosts: []string{"linux", "windows"},
	// https://oneapi-src.github.io/level-zero-spec/level-zero/latest/core/PROG.html#affinity-mask
	pin:  pinning{variable: "ZE_AFFINITY_MASK", id: intelID, example: "intel:0"},
	gres: "gpu", resource: "gpu.intel.com/xe", // https://github.com/intel/intel-device-plugins-for-kubernetes
}

// intelID is a device or one of its tiles.
var intelID = lazyregexp.New(`^(0|[1-9][0-9]{0,2})(\.[0-9]{1,2})?$`)
