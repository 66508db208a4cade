package device

import (
	"cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

// Apple is the vendor of the GPU in a Mac's processor.
const Apple = "apple"

var apple = vendor{name: Apple, builtIn: appleGPU, single: "Apple GPU"}

// appleGPU returns the GPU of a Mac with an Apple processor, which has the processor's name.
func appleGPU(goos, goarch, cpuModel string) []bench.Accelerator {
	if goos != "darwin" || goarch != "arm64" {
		return nil
	}
	return []bench.Accelerator{{Vendor: Apple, Model: cmp.Or(cpuModel, "Apple GPU")}}
}
