package kernels

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/gauge"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// clocks reads the clock of the GPU that a case is measured on, for all of its trials.
type clocks struct {
	gauge *gauge.Gauge // nil where none is read
	epoch time.Time
}

// firstReading bounds how long a case waits for nvidia-smi to start.
const firstReading = 3 * time.Second

// clocks starts to read the GPU of NVIDIA that a worker with these devices uses. A host with several, of which none is
// pinned, and a slice of a GPU have none that nvidia-smi would tell from others.
func (s *Suite) clocks(ctx context.Context, d bench.Device, h harness.HelloReply) *clocks {
	c := &clocks{epoch: s.env.Now()}
	used, ok := s.used(d)
	if !ok || len(h.Devices) == 0 || h.Devices[0].Kind != "cuda" {
		return c
	}
	c.gauge = gauge.Start(ctx, gauge.Options{Now: func() time.Duration { return s.env.Now().Sub(c.epoch) }, Epoch: c.epoch,
		Watch: s.env.Watch, Devices: used, NoCPU: true})
	c.gauge.Await(ctx, firstReading)
	return c
}

// used is the device that a worker uses of those that a case is pinned to, or all where the host has one.
func (s *Suite) used(d bench.Device) (used []bench.Device, ok bool) {
	members := d.Members()
	if len(members) == 0 {
		all := s.env.Host.Accelerators
		return nil, len(all) == 1 && all[0].Vendor == "nvidia" && all[0].Slot.Profile == ""
	}
	_, digits, _ := strings.Cut(s.body.Device, ":") // cuda:1 is the second one that the worker sees
	n, err := strconv.Atoi(digits)
	if digits == "" {
		n, err = 0, nil
	}
	if err != nil || n < 0 || n >= len(members) || members[n].Vendor != "nvidia" || strings.HasPrefix(members[n].ID, "MIG-") {
		return nil, false
	}
	return members[n : n+1], true
}

// fill replaces the clocks that the worker reports by those that were read.
func (c *clocks) fill(trials []harness.ObserveReply) {
	if c.gauge == nil {
		return
	}
	for i, t := range trials {
		if read := clockOf(c.gauge.Read(t.Span.From.Sub(c.epoch), t.Span.To.Sub(c.epoch))); read != nil {
			trials[i].Clock = read
		}
	}
}

// clockOf is the mean clock, the highest temperature, and whether power or heat held the clock down at any time; nil without a clock.
func clockOf(readings []gauge.Reading) *harness.Clock {
	var c harness.Clock
	for _, r := range readings {
		switch r.Name {
		case watch.SMClock:
			c.MHz = int(math.Round(r.Mean))
		case watch.Temperature:
			c.Temperature = int(r.Max)
		case gauge.HeldBack:
			c.Throttled = r.Max > 0
		}
	}
	if c.MHz == 0 {
		return nil
	}
	return &c
}

func (c *clocks) stop() {
	if c.gauge != nil {
		c.gauge.Stop()
	}
}
