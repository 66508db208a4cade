package gauge

import (
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/device"
)

// row is one line: the state of one GPU at one moment.
type row struct {
	stamp  time.Time
	gpu    device.GPU
	values []known // by fields
	held   known   // HeldBack
}

type known struct {
	v     float64
	known bool
}

// stampLayout is how nvidia-smi prints a timestamp.
const stampLayout = "2006/01/02 15:04:05.000"

// parseRow reads a line like "2026/03/04 05:06:07.089, 0, GPU-8932f937, 1980, 2619, 312.51,
// 61234, 46, 98", with whole UUIDs, and ", 0x0000000000000004" where it was asked for reasons. What a device does not report is "[N/A]". Complaints, which are no such lines, are not ok.
func parseRow(line string, reasons bool) (r row, ok bool) {
	cells := strings.Split(strings.TrimSpace(line), ",")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if reasons {
		r.held = held(cells[len(cells)-1])
		cells = cells[:len(cells)-1]
	}
	if len(cells) != 3+len(fields) {
		return r, false
	}
	stamp, err := time.Parse(stampLayout, cells[0])
	if _, noIndex := strconv.ParseUint(cells[1], 10, 16); err != nil || noIndex != nil || !device.IsUUID(cells[2]) {
		return r, false
	}
	r.stamp, r.gpu, r.values = stamp, device.GPU{Index: cells[1], UUID: cells[2]}, make([]known, len(fields))
	for i, cell := range cells[3:] {
		r.values[i].v, r.values[i].known = quantity(cell)
	}
	return r, true
}

// heldBack are the bits of NVML's nvmlClocksEventReasons for power (0x4, 0x80), heat (0x20, 0x40) and both (0x8). Idle, clocks
// that a user set, and boost in step with other devices are none.
const heldBack = 0x4 | 0x8 | 0x20 | 0x40 | 0x80

// held reads the bits of the reasons.
func held(cell string) known {
	digits, hex := strings.CutPrefix(cell, "0x")
	bits, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || !hex {
		return known{}
	}
	if bits&heldBack != 0 {
		return known{1, true}
	}
	return known{0, true}
}

// maxQuantity is beyond what any field can mean.
const maxQuantity = 1e9

func quantity(cell string) (float64, bool) {
	v, err := strconv.ParseFloat(cell, 64)
	return v, err == nil && v >= 0 && v <= maxQuantity
}
