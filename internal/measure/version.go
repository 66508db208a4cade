package measure

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

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

// Build is what the Go toolchain stamped into this program.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the checkout had changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// Built describes this program.
func Built() Build {
	b := Build{Version: Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}

// String is the version with its commit and toolchain, in one line.
func (b Build) String() string {
	commit := cmp.Or(b.Commit, "unknown")
	if b.Modified {
		commit += " with changes"
	}
	return b.Version + " (commit " + commit + ", " + b.Go + ", " + b.OS + "/" + b.Arch + ")"
}
