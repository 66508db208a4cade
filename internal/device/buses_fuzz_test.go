package device

import (
	"path/filepath"
	"testing"
)

// FuzzBuses: whatever tools print, a bus is one name of a folder, of a device that a host can have.
func FuzzBuses(f *testing.F) {
	f.Add([]byte("0, GPU-00aa0000-0000, 00000000:3B:00.0\n"))
	f.Add([]byte(`[{"gpu": 0, "bdf": "0000:0c:00.0"}, {"gpu": 1e300, "bdf": "0000:../.0"}]`))
	f.Add([]byte(`{"card0": {"PCI Bus": "0000:0C:00.0"}, "card999999999999": {"PCI Bus": "0000:0C:00.0"}}`))
	f.Add([]byte("| 2 910B3 | OK | 291.0 |\n| 0 | 0000:41:00.0 | 87 |\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		_, ofNVIDIA := parseBuses(out)
		for _, bus := range ofNVIDIA {
			checkBus(t, bus)
		}
		ofAscend, chips := parseAscendBuses(out)
		if chips > maxDevices {
			t.Errorf("%d chips", chips)
		}
		for _, buses := range []map[int]string{parseAMDBuses(out), parseROCmBuses(out), ofAscend} {
			for n, bus := range buses {
				if checkBus(t, bus); n < 0 || n >= maxDevices {
					t.Errorf("a device %d", n)
				}
			}
		}
	})
}

func checkBus(t *testing.T, bus string) {
	t.Helper()
	if filepath.Base(bus) != bus || !filepath.IsLocal(bus) || busOf(bus) != bus {
		t.Errorf("%q is no bus", bus)
	}
}
