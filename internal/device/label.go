package device

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// derive names a host by what does its work. The names on macOS and those
// with CUDA are the ones that TensorSharp uses.
func derive(goos, goarch string, devices []bench.Accelerator) string {
	switch {
	case goos == "darwin" && goarch == "arm64":
		return "macos-mlx"
	case goos == "darwin":
		return "macos-x64"
	case has(devices, NVIDIA):
		return goos + "-cuda"
	case has(devices, AMD):
		return goos + "-rocm"
	case has(devices, Ascend):
		return goos + "-npu"
	case has(devices, Intel):
		return goos + "-xpu"
	}
	return goos + "-cpu"
}

func has(devices []bench.Accelerator, vendor string) bool {
	return slices.ContainsFunc(devices, func(a bench.Accelerator) bool { return a.Vendor == vendor })
}

// nominal is what a derived label says of a host, as derive reads it.
var nominal = map[string]struct{ goos, goarch, vendor string }{
	"linux-cpu":    {"linux", "amd64", ""},
	"linux-cuda":   {"linux", "amd64", NVIDIA},
	"linux-rocm":   {"linux", "amd64", AMD},
	"linux-npu":    {"linux", "amd64", Ascend},
	"linux-xpu":    {"linux", "amd64", Intel},
	"macos-mlx":    {"darwin", "arm64", Apple},
	"macos-x64":    {"darwin", "amd64", ""},
	"windows-cpu":  {"windows", "amd64", ""},
	"windows-cuda": {"windows", "amd64", NVIDIA},
	"windows-rocm": {"windows", "amd64", AMD},
	"windows-xpu":  {"windows", "amd64", Intel},
}

// FromLabel returns what a host of this label nominally is, for planning
// without that machine. The first two words of the label, split at "-", say
// what it is; a third part, as in "linux-cuda-a100", only tells machines
// apart. It is false for a label that says nothing of this kind, such as
// "lab-3", and for one that [bench.CheckLabel] refuses.
//
// The accelerator stands for any number of them and has no model: see
// [Devices]. All that a label cannot tell is zero, so the result is never
// comparable with a measured host.
func FromLabel(label string) (bench.Host, bool) {
	words := strings.SplitN(label, "-", 3)
	if len(words) < 2 || bench.CheckLabel(label) != nil {
		return bench.Host{}, false
	}
	n, ok := nominal[words[0]+"-"+words[1]]
	if !ok {
		return bench.Host{}, false
	}
	host := bench.Host{Label: label, Fingerprint: bench.Fingerprint{OS: n.goos, Arch: n.goarch}}
	if n.vendor != "" {
		host.Accelerators = []bench.Accelerator{{Vendor: n.vendor}}
	}
	return host, true
}

// Derived is the label of a host without a given one.
func Derived(f bench.Fingerprint) string { return derive(f.OS, f.Arch, f.Accelerators) }
