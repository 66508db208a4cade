package host

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// derive names a host by what does its work. The names on macOS and those
// with CUDA are the ones that TensorSharp uses.
func derive(goos, goarch string, devices []bench.Accelerator) string {
	has := func(vendor string) bool {
		return slices.ContainsFunc(devices, func(a bench.Accelerator) bool { return a.Vendor == vendor })
	}
	switch {
	case goos == "darwin" && goarch == "arm64":
		return "macos-mlx"
	case goos == "darwin":
		return "macos-x64"
	case has(NVIDIA):
		return goos + "-cuda"
	case has(AMD):
		return goos + "-rocm"
	case has(Ascend):
		return goos + "-npu"
	}
	return goos + "-cpu"
}
