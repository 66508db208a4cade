package measure

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/accelgate/accelgate/internal/version"
)

// Tool names this build in runs, reports and baselines.
func Tool() string { return "accelgate " + version.String() }

// Version is the version of this build.
func Version() string { return version.String() }

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
