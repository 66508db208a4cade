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
	}
	for _, v := range vendors {
		if v.label != "" && has(devices, v.name) {
			return goos + "-" + v.label
		}
	}
	return goos + "-cpu"
}

func has(devices []bench.Accelerator, vendor string) bool {
	return slices.ContainsFunc(devices, func(a bench.Accelerator) bool { return a.Vendor == vendor })
}

// nominal is what a derived label says of a host, as derive reads it.
var nominal = nominals()

type nominalHost struct{ goos, goarch, vendor string }

func nominals() map[string]nominalHost {
	all := map[string]nominalHost{
		"linux-cpu":   {"linux", "amd64", ""},
		"macos-mlx":   {"darwin", "arm64", Apple},
		"macos-x64":   {"darwin", "amd64", ""},
		"windows-cpu": {"windows", "amd64", ""},
	}
	for _, v := range vendors {
		for _, goos := range v.hosts {
			all[goos+"-"+v.label] = nominalHost{goos, "amd64", v.name}
		}
	}
	return all
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
