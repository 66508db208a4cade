package health

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
)

// nvidiaGPU is the part that is read of a GPU in what nvidia-smi -q -x prints
// (nvsmi_device_v10.dtd to v13). The names of a few elements differ between
// versions; where one holds nothing, another does. What a device does not tell
// is "N/A", also in place of elements with others inside.
type nvidiaGPU struct {
	ID       string   `xml:"id,attr"`
	UUID     string   `xml:"uuid"`
	Recovery string   `xml:"gpu_recovery_action"` // since 565
	Reset    string   `xml:"gpu_reset_status>reset_required"`
	Events   elements `xml:"clocks_event_reasons"` // since 535
	Throttle elements `xml:"clocks_throttle_reasons"`
	Held     elements `xml:"clocks_event_reasons_counters"` // since 560
	Used     string   `xml:"fb_memory_usage>used"`
	Busy     string   `xml:"utilization>gpu_util"`
	Errors   element  `xml:"ecc_errors>volatile"`
	Retired  string   `xml:"retired_pages>pending_retirement"`
	Pending  string   `xml:"remapped_rows>remapped_row_pending"`
	Failure  string   `xml:"remapped_rows>remapped_row_failure"`
	Heat     string   `xml:"temperature>gpu_temp"`
	Power    element  `xml:"gpu_power_readings"` // since 535
	OldPower element  `xml:"power_readings"`
	SM       string   `xml:"clocks>sm_clock"`
	Memory   string   `xml:"clocks>mem_clock"`
	Set      string   `xml:"applications_clocks>graphics_clock"` // no number since 580
	Max      string   `xml:"max_clocks>sm_clock"`
	Users    struct {
		Text string `xml:",chardata"`
		List []struct {
			PID  string `xml:"pid"`
			Type string `xml:"type"`
			Used string `xml:"used_memory"`
		} `xml:"process_info"`
	} `xml:"processes"`
}

// element is any element; elements is the list of those inside of one.
type element struct {
	XMLName xml.Name
	Text    string    `xml:",chardata"`
	Inside  []element `xml:",any"`
}

type elements struct {
	List []element `xml:",any"`
}

// sustained is the share of its highest clock that a GPU is taken to keep; the
// package's comment says why.
const sustained = 0.7

// parseNVIDIALog reads the states of all GPUs in their order. An error means that
// there is not one.
func parseNVIDIALog(out []byte) ([]state, error) {
	begin := max(bytes.Index(out, []byte("<?xml")), 0) // complaints may stand before it
	d := xml.NewDecoder(bytes.NewReader(out[begin:]))
	var gpus []state
	for {
		token, err := d.Token()
		start, isStart := token.(xml.StartElement)
		switch {
		case err == io.EOF && len(gpus) > 0:
			return gpus, nil
		case err != nil:
			return nil, fmt.Errorf("no XML of a GPU: %w", err)
		case !isStart || start.Name.Local != "gpu":
			continue
		}
		var g nvidiaGPU
		if err := d.DecodeElement(&g, &start); err != nil {
			return nil, fmt.Errorf("no XML: %w", err)
		}
		if !device.IsUUID(g.UUID) || len(gpus) == maxList {
			return nil, errors.New("a GPU without a UUID, or too many")
		}
		gpus = append(gpus, g.state())
	}
}

func (g *nvidiaGPU) state() state {
	s := state{uuid: g.UUID, bus: busOf(g.ID), held: map[string]float64{}}
	for _, q := range []struct{ name, unit, text string }{
		{watch.SMClock, "MHz", g.SM}, {watch.MemoryClock, "MHz", g.Memory}, {watch.Temperature, "C", g.Heat}, {watch.Power, "W", g.power()},
		{watch.Busy, "%", g.Busy}, {watch.Memory, "MiB", g.Used},
	} {
		v, known := quantity(q.text)
		s.add(q.name, q.unit, v, known)
	}
	s.clock, _ = quantity(g.SM)
	if s.nominal, _ = quantity(g.Set); s.nominal == 0 {
		highest, _ := quantity(g.Max)
		s.nominal = sustained * highest
	}
	g.reasons(&s)
	s.errors, s.counted = g.Errors.uncorrected()
	g.faults(&s)
	g.users(&s)
	return s
}

// power is that of the last second where the driver reports it, as in [watch.Quantities].
func (g *nvidiaGPU) power() string {
	for _, list := range []element{g.Power, g.OldPower} {
		for _, name := range []string{"average_power_draw", "power_draw", "instant_power_draw"} {
			for _, e := range list.Inside {
				if _, ok := quantity(e.Text); ok && e.XMLName.Local == name {
					return e.Text
				}
			}
		}
	}
	return ""
}

// nvidiaWords are our words by the ends of the elements' names: of reasons, and of
// the counters of time, which abbreviate them.
var nvidiaWords = map[string]string{
	"hw_thermal_slowdown": hardwareHeat, "hw_therm_slowdown": hardwareHeat,
	"sw_thermal_slowdown": softwareHeat, "sw_therm_slowdown": softwareHeat,
	"hw_power_brake_slowdown": powerBrake, "hw_power_brake": powerBrake,
	"hw_slowdown": hardwareSlowdown,
}

func (g *nvidiaGPU) reasons(s *state) {
	if len(g.Events.List)+len(g.Throttle.List) == 0 {
		s.untold = append(s.untold, heldBack)
	}
	for _, e := range append(g.Events.List, g.Throttle.List...) {
		name := strings.TrimPrefix(strings.TrimPrefix(e.XMLName.Local, "clocks_event_reason_"), "clocks_throttle_reason_")
		active := strings.TrimSpace(e.Text) == "Active"
		if word, ok := nvidiaWords[name]; ok && active {
			s.slow = append(s.slow, word)
		}
		s.capped = s.capped || active && name == "sw_power_cap"
	}
	for _, e := range g.Held.List {
		us, ok := quantity(e.Text)
		name := strings.TrimPrefix(e.XMLName.Local, "clocks_event_reasons_counters_")
		if word, known := nvidiaWords[name]; ok && known {
			s.held[word] = us / 1e6
		}
	}
}

// uncorrected adds up the counts of uncorrected errors: elements with
// "uncorrectable" in their names, or the total of older versions' "double_bit".
// Known is false where ECC is off or not there.
func (e *element) uncorrected() (sum float64, known bool) {
	for _, inside := range e.Inside {
		n, ok := quantity(inside.Text)
		if inside.XMLName.Local == "double_bit" {
			for _, total := range inside.Inside {
				if total.XMLName.Local == "total" {
					n, ok = quantity(total.Text)
				}
			}
		} else if !strings.Contains(inside.XMLName.Local, "uncorrectable") {
			continue
		}
		if ok {
			sum, known = sum+n, true
		}
	}
	return sum, known
}

func (g *nvidiaGPU) faults(s *state) {
	for _, q := range []struct{ text, fault string }{
		{g.Reset, "it must be reset"},
		{g.Retired, "pages of its memory wait to be retired"},
		{g.Pending, "rows of its memory wait to be replaced"},
		{g.Failure, "rows of its memory could not be replaced"},
	} {
		if strings.TrimSpace(q.text) == "Yes" {
			s.faults = append(s.faults, q.fault)
		}
	}
	switch strings.TrimSpace(g.Recovery) {
	case "Reset", "Reboot", "Drain P2P", "Drain and Reset":
		s.faults = append(s.faults, "it needs this to recover: "+strings.TrimSpace(g.Recovery))
	}
}

// users are the processes of the types C, and M+C of NVIDIA's process service.
// Those that also draw (C+G) are the desktop's on Windows.
func (g *nvidiaGPU) users(s *state) {
	s.listed = strings.TrimSpace(g.Users.Text) != "N/A"
	for _, p := range g.Users.List {
		pid, ok := number(strings.TrimSpace(p.PID))
		kind := strings.TrimSpace(p.Type)
		if !ok || kind != "C" && kind != "M+C" || len(s.users) == maxList {
			continue
		}
		mib, _ := quantity(p.Used)
		s.users = append(s.users, user{pid: pid, mib: max(mib, 0)})
	}
}
