package health

import (
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/device"
)

// slowNVIDIA are the bits of clocks_event_reasons.active, which older drivers
// call clocks_throttle_reasons.active, that tell that a device is held back, with
// our words for them. They are those of NVML's nvmlClocksEventReasons; idle
// (0x1), clocks that a user set (0x2, 0x100), and boost in step with other
// devices (0x10) are no harm.
var slowNVIDIA = []struct {
	bit  uint64
	word string
}{
	{0x08, hardwareSlowdown},
	{0x20, softwareHeat},
	{0x40, hardwareHeat},
	{0x80, powerBrake},
}

// powerCapNVIDIA is the bit that tells that the power limit holds the clock.
const powerCapNVIDIA = 0x04

// Words for what holds a device back.
const (
	softwareHeat = "too hot, by software"
	hardwareHeat = "too hot, by hardware"
	powerBrake   = "brake of the power supply"
)

// heldBack is what a device may not tell.
const heldBack = "whether it is held back"

// maxSamples is what a day yields of one device.
const maxSamples = 100_000

// parseNVIDIASamples reads lines like "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,
// 1980, 2619, 46, 312.51, 98, 61234, 0x0000000000000004". Complaints stand between
// them, what a device does not tell is "[N/A]", and the last line may be cut: it
// is left out.
func parseNVIDIASamples(out []byte) (samples []state) {
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(line, ",")
		if len(cells) != 8 || !strings.HasSuffix(line, "\n") || len(samples) == maxSamples {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if s, ok := sampleOf(cells); ok {
			samples = append(samples, s)
		}
	}
	return samples
}

func sampleOf(cells []string) (s state, ok bool) {
	if !device.IsUUID(cells[0]) {
		return s, false
	}
	s.uuid = cells[0]
	for i, q := range []struct{ name, unit string }{
		{"sm clock", "MHz"}, {"memory clock", "MHz"}, {"temperature", "C"}, {"power", "W"}, {"busy", "%"}, {"memory used", "MiB"},
	} {
		v, known := quantity(cells[1+i])
		s.add(q.name, q.unit, v, known)
		switch {
		case known && q.name == "sm clock":
			s.clock = v
		case known && q.name == "busy":
			s.busy = v / 100
		}
	}
	bits, err := strconv.ParseUint(strings.TrimPrefix(cells[7], "0x"), 16, 64)
	if err == nil {
		s.capped = bits&powerCapNVIDIA != 0
		for _, b := range slowNVIDIA {
			if bits&b.bit != 0 {
				s.slow = append(s.slow, b.word)
			}
		}
	}
	return s, len(s.readings) > 0
}
