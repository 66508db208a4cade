package health

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

var moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// well is a device that was busy for 10 s, and well.
func well() watched {
	sample := state{clock: 1900, nominal: 1980, busy: 1}
	first, last := state{at: moment, nominal: 1980, listed: true, counted: true}, state{at: moment.Add(10 * time.Second), listed: true, counted: true}
	return watched{device: bench.Device{Vendor: "nvidia", ID: "0"}, first: first, last: last, samples: []state{sample, sample, sample}}
}

func TestDeviceRules(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*watched)
		status bench.HealthStatus
		says   string
	}{
		"well":                {func(*watched) {}, bench.Healthy, ""},
		"hot in one sample":   {func(w *watched) { w.samples[1].slow = []string{softwareHeat} }, bench.Unhealthy, "too hot, by software"},
		"hot at the end":      {func(w *watched) { w.last.slow = []string{hardwareHeat} }, bench.Unhealthy, "too hot, by hardware"},
		"brake":               {func(w *watched) { w.samples[0].slow = []string{powerBrake} }, bench.Unhealthy, "power supply"},
		"clocks changed once": {func(w *watched) { w.samples[0].slow = []string{hardwareSlowdown} }, bench.Healthy, ""},
		"hardware slowdown": {func(w *watched) {
			w.samples[0].slow, w.samples[2].slow = []string{hardwareSlowdown}, []string{hardwareSlowdown}
		}, bench.Unhealthy, "hardware slowdown"},
		"power-capped":              {func(w *watched) { w.samples[0].capped, w.samples[1].capped = true, true }, bench.Healthy, ""},
		"clocks locked":             {func(w *watched) { w.samples[0].clock, w.samples[1].clock, w.samples[2].clock = 600, 600, 600 }, bench.Healthy, ""},
		"errors before":             {func(w *watched) { w.first.errors, w.last.errors = 7, 7 }, bench.Healthy, ""},
		"errors":                    {func(w *watched) { w.first.errors, w.last.errors = 7, 8 }, bench.Unhealthy, "counted 1 uncorrected"},
		"errors not counted before": {func(w *watched) { w.first.counted, w.last.errors = false, 8 }, bench.Healthy, ""},
		"a fault":                   {func(w *watched) { w.last.faults = []string{"it must be reset"} }, bench.Unhealthy, "it must be reset"},
		"ours":                      {func(w *watched) { w.last.users = []user{{pid: 7, kin: ours}, {pid: 8, kin: gone}} }, bench.Healthy, ""},
		"another's": {func(w *watched) {
			w.first.users, w.last.users = []user{{pid: 7, mib: 3000, kin: others}}, []user{{pid: 7, mib: 3000, kin: others}}
		}, bench.Unhealthy, "(pid 7, 3000 MiB)"},
		"an unknown owner's":       {func(w *watched) { w.first.users = []user{{pid: 7}} }, bench.HealthUnknown, "owners of processes"},
		"another's, or the cell's": {func(w *watched) { w.outside, w.last.users = true, []user{{pid: 7, kin: others}} }, bench.HealthUnknown, "owners of processes"},
		"another's, though not all are listed": {func(w *watched) {
			w.last.listed, w.last.users = false, []user{{pid: 7, kin: others}}
		}, bench.Unhealthy, "(pid 7, 0 MiB)"},
		"no look meanwhile":              {func(w *watched) { w.samples = nil }, bench.HealthUnknown, "no reading shows"},
		"no look, but the driver counts": {func(w *watched) { w.samples, w.last.held = nil, map[string]float64{softwareHeat: 1} }, bench.Healthy, ""},
		"no list":                        {func(w *watched) { w.last.listed = false }, bench.HealthUnknown, "no tool lists"},
		"throttled, power-capped": {func(w *watched) {
			for i := range w.samples {
				w.samples[i].capped, w.samples[i].clock = true, 900
			}
		}, bench.Unhealthy, "45 % of its clock"},
		"idle, power-capped": {func(w *watched) {
			for i := range w.samples {
				w.samples[i].capped, w.samples[i].clock, w.samples[i].busy = true, 345, 0.1
			}
		}, bench.Healthy, ""},
		"time counted and short": {func(w *watched) { // the sample saw what lasted 0.05 s
			w.first.held, w.last.held = map[string]float64{softwareHeat: 1}, map[string]float64{softwareHeat: 1.05}
			w.samples[0].slow = []string{softwareHeat}
		}, bench.Healthy, ""},
		"time counted": {func(w *watched) { // between the samples
			w.first.held, w.last.held = map[string]float64{softwareHeat: 1}, map[string]float64{softwareHeat: 1.2}
		}, bench.Unhealthy, "too hot, by software"},
	} {
		w := well()
		test.change(&w)
		f := w.judge()
		h := f.health()
		if h.Status != test.status || !strings.Contains(strings.Join(h.Reasons, "\n"), test.says) || (len(h.Reasons) > 0) != (test.says != "") {
			t.Errorf("%s: %s %q", name, h.Status, h.Reasons)
		}
	}
}

// TestWorstCounts: what is unknown never hides what is wrong, nor the other way.
func TestWorstCounts(t *testing.T) {
	f := finding{unwell: []string{"b"}, unknown: []string{"a", "b", "a"}}
	if h := f.health(); h.Status != bench.Unhealthy || !slices.Equal(h.Reasons, []string{"b", "a"}) {
		t.Errorf("%+v", h)
	}
}

func TestReadings(t *testing.T) {
	var r readings
	for _, v := range []float64{3, 1, 5} {
		r.add("nvidia:0 power", "W", v)
	}
	r.add("nvidia:0 busy", "%", 9)
	want := readings{{Name: "nvidia:0 power", Unit: "W", N: 3, Min: 1, Mean: 3, Max: 5}, {Name: "nvidia:0 busy", Unit: "%", N: 1, Min: 9, Mean: 9, Max: 9}}
	if !slices.Equal(r, want) {
		t.Errorf("%+v", r)
	}
}
