package energy

import (
	"path/filepath"
	"testing"
	"time"
)

func TestPackages(t *testing.T) {
	if OpenPackages(t.TempDir()) != nil {
		t.Error("packages were found where there are none")
	}
	root := server.with("intel-rapl:1:0/energy_uj", "").install(t)
	p := OpenPackages(root) // package-0, its memory, package-1
	counts := func(numbers ...string) Reads {
		for i, zone := range []string{"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:1"} {
			writeFile(t, filepath.Join(root, "sys/class/powercap", zone, "energy_uj"), numbers[i])
		}
		return p.Read()
	}
	from := counts("1000000", "262143328849", "5")
	for name, c := range map[string]struct {
		to     Reads
		passed time.Duration
		want   float64 // 0 is unknown
	}{
		"counted":       {counts("3000000", "262143328850", "1000005"), time.Second, 3.000001},
		"starts over":   {counts("3000000", "999999", "5"), time.Second, 3},
		"set back":      {counts("5", "262143328850", "5"), time.Second, 0},
		"too long":      {counts("3000000", "262143328850", "5"), 10 * time.Minute, 0},
		"no number":     {counts("lots", "262143328850", "5"), time.Second, 0},
		"above the end": {counts("3000000", "262143328851", "5"), time.Second, 0},
		"no time":       {from, 0, 0},
	} {
		joules, ok := p.Joules(from, c.to, c.passed)
		if ok != (c.want > 0) || joules-c.want > 1e-5 || c.want-joules > 1e-5 {
			t.Errorf("%s: %v, %v, want %v", name, joules, ok, c.want)
		}
	}
}
