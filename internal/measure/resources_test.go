package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestDeviceMemoryIsThatOfTheReadings(t *testing.T) {
	t.Parallel()
	reading := func(name, unit string, high float64) bench.Reading {
		return bench.Reading{Name: name, Unit: unit, N: 2, Max: high}
	}
	for name, c := range map[string]struct {
		readings []bench.Reading
		want     []bench.Sample
	}{
		"no device":   {[]bench.Reading{reading("cpu load", "", 3)}, nil},
		"one":         {[]bench.Reading{reading("nvidia:0 power", "W", 300), reading("nvidia:0 memory used", "MiB", 61234)}, []bench.Sample{{Metric: "peak_device_memory_mib", Values: []float64{61234}}}},
		"two":         {[]bench.Reading{reading("amd:0 memory used", "MiB", 100), reading("amd:1 memory used", "MiB", 50)}, []bench.Sample{{Metric: "peak_device_memory_mib", Values: []float64{150}}}},
		"other units": {[]bench.Reading{reading("ascend:0 memory used", "%", 61)}, nil},
	} {
		r := bench.Result{Health: &bench.Health{Readings: c.readings}}
		deviceMemory(&r)
		if diff := cmp.Diff(c.want, r.Resources); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
