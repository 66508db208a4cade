package measure

import "runtime/debug"

// Tool names this build in runs, reports and baselines.
func Tool() string { return "accelgate " + Version() }

// Version is the module's version as the Go toolchain stamped it: a tag for an
// installed release, the commit for a build from a checkout, else "devel".
func Version() string {
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
