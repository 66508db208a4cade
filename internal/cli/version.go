package cli

import "runtime/debug"

// tool names this build in runs, reports and baselines.
func tool() string { return "accelgate " + version() }

// version is the module's version as the Go toolchain stamped it: a tag for an
// installed release, the commit for a build from a checkout, else "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
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
