package endpoint

import (
	"context"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/gauge"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// deviceMetrics are what the devices of a server on this host did in the window.
var deviceMetrics = []bench.Metric{
	{
		Name:          "device_sm_clock_mhz",
		Unit:          "MHz",
		Better:        bench.Higher,
		Informational: true,
		Explains:      20,
		Definition:    "mean clock of the slowest GPU in the window",
	},
	{
		Name:          "device_memory_clock_mhz",
		Unit:          "MHz",
		Better:        bench.Higher,
		Informational: true,
		Explains:      20,
		Definition:    "mean clock of the slowest GPU's memory in the window",
	},
	{Name: "device_power_w", Unit: "W", Better: bench.Lower, Informational: true, Definition: "mean power of all GPUs in the window"},
	{
		Name:          "device_memory_max_mib",
		Unit:          "MiB",
		Better:        bench.Lower,
		Informational: true,
		Definition:    "most memory in use in the window, summed over GPUs",
	},
	{
		Name:          "device_temperature_max_c",
		Unit:          "C",
		Better:        bench.Lower,
		Informational: true,
		Definition:    "highest temperature of a GPU in the window",
	},
	{
		Name:          "device_busy_mean",
		Better:        bench.Higher,
		Informational: true,
		Definition:    "share of the time in which a GPU ran a kernel, mean of all GPUs in the window",
	},
	{
		Name:          "cpu_clock_mhz",
		Unit:          "MHz",
		Better:        bench.Higher,
		Informational: true,
		Explains:      20,
		Definition:    "mean clock of the fastest processor in the window",
	},
}

// ofDevices makes each of deviceMetrics, in their order, of the readings of its quantity.
var ofDevices = []struct {
	quantity string
	of       func(list []gauge.Reading) float64
}{
	{
		watch.SMClock,
		slowest,
	}, {watch.MemoryClock, slowest}, {watch.Power, sumOf(meanOf)}, {watch.Memory, sumOf(maxOf)}, {watch.Temperature, hottest},
	{watch.Busy, func(list []gauge.Reading) float64 { return sumOf(meanOf)(list) / float64(len(list)) / 100 }}, {gauge.CPUClock, slowest},
}

func meanOf(r gauge.Reading) float64 { return r.Mean }
func maxOf(r gauge.Reading) float64  { return r.Max }

func sumOf(of func(gauge.Reading) float64) func([]gauge.Reading) float64 {
	return func(list []gauge.Reading) (sum float64) {
		for _, r := range list {
			sum += of(r)
		}
		return sum
	}
}

func slowest(list []gauge.Reading) float64 {
	minimum := list[0].Mean
	for _, r := range list {
		minimum = min(minimum, r.Mean)
	}
	return minimum
}

func hottest(list []gauge.Reading) (maximum float64) {
	for _, r := range list {
		maximum = max(maximum, r.Max)
	}
	return maximum
}

// gauges starts to read the devices of the server: the declared ones, or all of the host. It
// returns nil if the server is on another host, whose devices cannot be read.
func (m *measurement) gauges(ctx context.Context) *gauge.Gauge {
	if !m.local() {
		return nil
	}
	o := gauge.Options{Now: m.now, Epoch: m.epoch, Devices: m.declared()}
	if slices.ContainsFunc(m.env.Host.Accelerators, func(a bench.Accelerator) bool { return a.Vendor == device.NVIDIA }) ||
		slices.ContainsFunc(o.Devices, func(d bench.Device) bool { return d.Vendor == device.NVIDIA }) {
		o.Watch = m.env.Watch
	}
	g := gauge.Start(ctx, o)
	g.Await(ctx, firstReading)
	return g
}

// firstReading bounds how long a load waits for nvidia-smi: without a process that keeps the driver loaded, it takes seconds.
const firstReading = 10 * time.Second

// deviceSamples are the metrics of the readings in the window.
func deviceSamples(g *gauge.Gauge, w load.Window) (samples []bench.Sample) {
	if g == nil || w.End <= w.Start {
		return nil
	}
	byName := map[string][]gauge.Reading{}
	for _, r := range g.Read(w.Start, w.End) {
		byName[r.Name] = append(byName[r.Name], r)
	}
	for i, d := range ofDevices {
		if list := byName[d.quantity]; len(list) > 0 {
			samples = append(samples, bench.Sample{Metric: deviceMetrics[i].Name, Values: []float64{d.of(list)}})
		}
	}
	return samples
}

// stopGauges ends the reading, where there is one.
func stopGauges(g *gauge.Gauge) {
	if g != nil {
		g.Stop()
	}
}
