package version

import (
	"runtime/debug"
	"testing"
)

func TestChoose(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	for _, c := range []struct {
		released, module, want string
		settings               []debug.BuildSetting
	}{
		{released: "v1.2.3", module: "(devel)", want: "v1.2.3"},
		{module: "v1.2.3", want: "v1.2.3"}, // go install ...@latest
		{module: "v0.0.0-20261123094100-0123456789ab", settings: commit, want: "v0.0.0-20261123094100-0123456789ab"},
		{module: "(devel)", settings: commit, want: "0123456789ab"},
		{module: "(devel)", want: "devel"},
		{want: "devel"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		if got := choose(c.released, info); got != c.want {
			t.Errorf("released %q, module %q: got %q, want %q", c.released, c.module, got, c.want)
		}
	}
	if String() == "" {
		t.Error("this build has no version")
	}
}
