package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestGovernor reads the files of processors as Linux has them.
func TestGovernor(t *testing.T) {
	for name, c := range map[string]struct {
		governors []string
		want      Status
	}{
		"virtual machine": {nil, OK},
		"performance":     {[]string{"performance", "performance"}, OK},
		"one saves power": {[]string{"performance", "powersave"}, Warning},
		"foreign text":    {[]string{"\x1b[31m"}, Warning},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for i, g := range c.governors {
				file := filepath.Join(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", i))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(g+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l := &look{Options: Options{Root: root, GOOS: "linux"}}
			l.governor(t.Context())
			if len(l.findings) != 1 || l.findings[0].Status != c.want || (l.findings[0].Fix == "") != (c.want == OK) {
				t.Errorf("got %+v", l.findings)
			}
		})
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("0, Enabled, 700.00, 700.00, 1980, 1980\n")
	f.Add("0, Disabled, 400.00, 700.00, [N/A], [N/A]\n1, Enabled, [Not Supported], 1, 2, 3\n")
	f.Add("No devices were found\n")
	f.Fuzz(func(t *testing.T, out string) {
		rows, err := rowsOf(out)
		for _, r := range rows {
			if err == nil && len(r) != 6 {
				t.Errorf("row of %d fields", len(r))
			}
		}
	})
}
