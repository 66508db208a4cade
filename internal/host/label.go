package host

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

var labelPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckLabel reports whether label can name a host. It becomes a part of a
// file name and of a git branch name: lower-case letters, digits, ".", "_"
// and "-", beginning with a letter or digit, at most 63 of them, without ".."
// and without "." or ".lock" at the end. Capitals are refused because macOS
// and Windows would let two hosts share one file. The error says what to type.
func CheckLabel(label string) error {
	if usable(label) {
		return nil
	}
	return fmt.Errorf(`host label %.80q cannot name a file and a branch (lower-case letters, digits, ".", "_", "-"; `+
		`at most 63): use --host-label %s`, label, suggest(label))
}

// usable keeps to the rules that git has for a part of a branch name.
func usable(label string) bool {
	return labelPattern.MatchString(label) && !strings.Contains(label, "..") &&
		!strings.HasSuffix(label, ".") && !strings.HasSuffix(label, ".lock")
}

// suggest returns a usable label like the one that was meant.
func suggest(label string) string {
	words := strings.FieldsFunc(strings.ToLower(label[:min(len(label), 200)]), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	s := strings.Join(words, "-")
	s = strings.Trim(s[:min(len(s), 63)], "-")
	if s == "" {
		return "my-host"
	}
	return s
}

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
