package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// need is something that a host has or has not.
type need struct {
	what string // in a sentence: "needs <what>"
	met  func(bench.Host) bool
}

// needs are the words that a value's "needs" may hold.
var needs = map[string]need{
	"nvidia":  {"an NVIDIA accelerator", vendor("nvidia")},
	"amd":     {"an AMD accelerator", vendor("amd")},
	"apple":   {"Apple silicon", vendor("apple")},
	"ascend":  {"an Ascend NPU", vendor("ascend")},
	"intel":   {"an Intel accelerator", vendor("intel")},
	"vulkan":  {"Vulkan, which macOS lacks", func(h bench.Host) bool { return h.OS != "darwin" }},
	"linux":   {"Linux", system("linux")},
	"macos":   {"macOS", system("darwin")},
	"windows": {"Windows", system("windows")},
}

func vendor(name string) func(bench.Host) bool {
	return func(h bench.Host) bool {
		return slices.ContainsFunc(h.Accelerators, func(a bench.Accelerator) bool { return a.Vendor == name })
	}
}

func system(name string) func(bench.Host) bool {
	return func(h bench.Host) bool { return h.OS == name }
}

func needWords() string {
	words := make([]string, 0, len(needs))
	for word := range needs {
		words = append(words, word)
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// unmet returns why the host cannot run a value of an axis; "" when it can.
func unmet(axis string, v *value, h bench.Host) string {
	for _, word := range v.Needs {
		if n := needs[word]; !n.met(h) {
			return fmt.Sprintf("%s %s needs %s, which host %s does not have", axis, v.ID, n.what, h.Label)
		}
	}
	return ""
}
