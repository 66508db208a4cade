package endpoint

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/energy"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// meters measure the energy of the declared devices.
type meters struct {
	list     []*energy.Meter
	idle     energy.Span
	reading  energy.Reading
	absent   string // why nothing was measured
	warnings []string
}

// idleSpan is how long the idle server is looked at before the load.
const idleSpan = 2 * time.Second

// meters starts the declared meters: the suite's GPUs, or the device
// that the cell is pinned to, and the CPU where there is neither. The energy of
// this host says nothing of a server elsewhere.
func (m *measurement) meters(ctx context.Context) *meters {
	e := &meters{}
	if !m.local() {
		e.absent = "the server is on another host"
		return e
	}
	devices := m.declared()
	list, absent := energy.Detect(ctx, energy.Options{Now: m.now, Epoch: m.epoch, Watch: m.env.Watch, Devices: devices,
		CPU: len(devices) == 0 && len(m.env.Host.Accelerators) == 0})
	e.list = list
	for _, a := range absent {
		e.absent = cmp.Or(e.absent, a.Scope+": "+a.Reason)
		if len(devices) > 0 { // the CPU was not declared
			e.warnings = append(e.warnings, "energy of "+a.Scope+" was not measured: "+a.Reason)
		}
	}
	if len(list) == 0 {
		e.absent = cmp.Or(e.absent, "no device was declared: name GPUs with gpus, or measure with --devices")
	}
	for _, one := range list {
		one.Start(ctx)
	}
	if len(list) > 0 {
		e.idle.Start = m.now()
		select {
		case <-time.After(idleSpan):
		case <-ctx.Done():
		}
		e.idle.End = m.now()
	}
	return e
}

func (e *meters) stop() {
	for _, one := range e.list {
		one.Stop()
	}
}

// read returns the energy of exactly the window; nil where it was not measured.
func (e *meters) read(w load.Window) *latency.Energy {
	if len(e.list) == 0 || w.End <= w.Start {
		return nil
	}
	span := energy.Span{Start: w.Start, End: w.End}
	var readings []energy.Reading
	for _, one := range e.list {
		readings = append(readings, one.Read(span, e.idle))
	}
	e.reading = energy.Total(readings...)
	if !e.reading.Measured {
		e.absent = e.reading.Reason
		e.warnings = append(e.warnings, "energy was not measured: "+e.reading.Reason)
		return nil
	}
	return &latency.Energy{Joules: e.reading.Joules, NetJoules: e.reading.NetJoules(), AverageW: e.reading.AverageW, PeakW: e.reading.PeakW}
}

func (m *measurement) declared() (devices []bench.Device) {
	for _, id := range m.body.GPUs {
		devices = append(devices, bench.Device{Vendor: "nvidia", ID: id})
	}
	if devices == nil {
		return m.device.Members()
	}
	return devices
}

// local reports whether the server is on this host.
func (m *measurement) local() bool {
	if m.server != nil {
		return true
	}
	u, err := url.Parse(m.url)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
