// Package version names the build of accelgate.
package version

import (
	"runtime/debug"
	"sync"
)

// released is the tag of a release: scripts/release and the Dockerfile set it, as
// they build without git.
var released string

// String returns the version of this build: a release's tag, or what the Go
// toolchain recorded, which is a tag for "go install ...@latest" and a
// pseudo-version for a checkout. Without both it is "devel".
func String() string { return current() }

var current = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return choose(released, info)
})

func choose(released string, info *debug.BuildInfo) string {
	if released != "" {
		return released
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "devel"
}
