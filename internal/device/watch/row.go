package watch

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/device"
)

// Names of the quantities of a row.
const (
	SMClock     = "sm clock"
	MemoryClock = "memory clock"
	Power       = "power"
	Memory      = "memory used"
	Temperature = "temperature"
	Busy        = "busy" // of the time
)

// Quantities are the numbers of a row, in their order. Power is power.draw, the mean of the last second since Ampere, and not
// power.draw.instant: an H100 refreshes that every 100 ms, so of a load with that period it shows one phase alone. Of 30 ms of
// work and 70 ms without, the driver's counter of energy gave 236 W, power.draw 227 W and power.draw.instant 127 W.
var Quantities = [...]struct{ Name, Unit, field string }{
	{SMClock, "MHz", "clocks.sm"}, {MemoryClock, "MHz", "clocks.mem"}, {Power, "W", "power.draw"}, {Memory, "MiB", "memory.used"},
	{Temperature, "C", "temperature.gpu"}, {Busy, "%", "utilization.gpu"},
}

const powerColumn = 2 // of Quantities

// Row is the state of one GPU at one moment.
type Row struct {
	At      time.Time // by the clock of the host's watch
	GPU     device.GPU
	Values  [len(Quantities)]float64 // by Quantities; NaN where the device does not report one
	Reasons Reasons
}

// Value returns the quantity of a name, NaN where the device does not report it.
func (r *Row) Value(name string) float64 {
	for i, q := range Quantities {
		if q.Name == name {
			return r.Values[i]
		}
	}
	return math.NaN()
}

// Reasons are why the clock of a GPU is lowered: the bits of NVML's nvmlClocksEventReasons, or -1 where the device does not report
// them. Idle (0x1), clocks that a user set (0x2, 0x100), and boost in step with other devices (0x10) are no harm.
type Reasons int64

// Reasons of power and heat.
const (
	PowerCap         Reasons = 0x04 // the power limit holds the clock
	HardwareSlowdown Reasons = 0x08
	SoftwareHeat     Reasons = 0x20
	HardwareHeat     Reasons = 0x40
	PowerBrake       Reasons = 0x80
)

// Known reports whether the device reports reasons.
func (r Reasons) Known() bool { return r >= 0 }

// Has reports whether at least one of some reasons is among those of the device.
func (r Reasons) Has(some Reasons) bool { return r >= 0 && r&some != 0 }

// stampLayout is how nvidia-smi prints a timestamp.
const stampLayout = "2006/01/02 15:04:05.000"

// parse reads a line that came at a time, like "2026/03/04 05:06:07.089, 0, GPU-8932f937-..., 1980, 2619, 312.51, 61234, 46, 98",
// and after it the other fields of the query. What a device does not report is "[N/A]". Complaints, which are no such lines, are not ok.
func (q query) parse(line string, now time.Time) (r Row, ok bool) {
	cells := strings.Split(line, ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	want := 3 + len(Quantities)
	if q.reasons != "" {
		want++
	}
	if len(cells) != want {
		return r, false
	}
	stamp, err := time.Parse(stampLayout, cells[0])
	if _, noIndex := strconv.ParseUint(cells[1], 10, 16); err != nil || noIndex != nil || !device.IsUUID(cells[2]) {
		return r, false
	}
	if r.At, ok = at(stamp, now); !ok {
		return r, false
	}
	r.GPU, r.Reasons = device.GPU{Index: cells[1], UUID: cells[2]}, -1
	for i := range Quantities {
		r.Values[i] = quantity(cells[3+i])
	}
	if q.reasons != "" {
		r.Reasons = reasonsOf(cells[want-1])
	}
	if !(r.Values[powerColumn] <= maxWatts) {
		r.Values[powerColumn] = math.NaN()
	}
	return r, true
}

// maxAge is longer than a row is on its way.
const maxAge = time.Minute

// at returns the time of a stamp that was read now. A driver that does not heed TZ is off by quarters of an hour. A stamp that
// cannot be, because the host's clock was set while the row was on its way, is not ok.
func at(stamp, now time.Time) (time.Time, bool) {
	age := now.Round(0).Sub(stamp) // by the time of day alone
	age -= age.Round(15 * time.Minute)
	return now.Add(-age), age > -time.Second && age < maxAge
}

const (
	maxQuantity = 1e9 // beyond what any field can mean
	maxWatts    = 1e5 // more than a GPU can draw
)

func quantity(cell string) float64 {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || !(v >= 0 && v <= maxQuantity) {
		return math.NaN()
	}
	return v
}

func reasonsOf(cell string) Reasons {
	digits, hex := strings.CutPrefix(cell, "0x")
	bits, err := strconv.ParseUint(digits, 16, 63)
	if err != nil || !hex {
		return -1
	}
	return Reasons(bits)
}
