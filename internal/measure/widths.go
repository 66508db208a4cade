package measure

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// widthOf is how many devices a cell of a suite needs at once.
func widthOf(s *config.Suite, c bench.Cell) int {
	width := 1
	for _, n := range s.Devices {
		if when := matrix.Match(n.When); len(when) == 0 || when.Selects(c) {
			width = n.Count
		}
	}
	return width
}

// checkWidths refuses counts of devices that are for no cell: a misspelt axis would leave
// cells with too few.
func checkWidths(s *config.Suite, cells []bench.Cell) error {
	for i, n := range s.Devices {
		path, when := fmt.Sprintf("devices[%d]", i), matrix.Match(n.When)
		if err := checkKeys(s, path, when, nil, cells); err != nil {
			return err
		}
		if len(when) > 0 && !slices.ContainsFunc(cells, when.Selects) {
			return s.Errorf(path+".when", "matches no cell of the suite: correct it, or remove the entry")
		}
	}
	return nil
}

// wide notes what the cells of a suite need, and moves those that need more devices than
// the host has to the skipped ones.
func (p *Plan) wide(s *config.Suite, one *Planned) {
	has, what := p.devices()
	one.Cells = slices.DeleteFunc(slices.Clone(one.Cells), func(c bench.Cell) bool {
		width := widthOf(s, c)
		if width == 1 {
			return false
		}
		p.widths[c.ID()] = width
		if has < 0 || width <= has {
			return false
		}
		one.Skipped = append(slices.Clone(one.Skipped), bench.Result{Cell: c, Outcome: bench.Skipped,
			Reason: fmt.Sprintf("it needs %s, and %s", text.Plural(width, "device"), what)})
		return true
	})
}

// devices is how many devices cells can be given at once, and in words why no more; -1
// where the host is simulated, and may have any number.
func (p *Plan) devices() (n int, what string) {
	if n = len(p.deviceIDs); n > 0 {
		return n, fmt.Sprintf("the run has %s: name more in host.devices or --devices", text.Plural(n, "device"))
	}
	if slices.ContainsFunc(p.Host.Accelerators, func(a bench.Accelerator) bool { return a.Model == "" }) {
		return -1, ""
	}
	n = len(device.All(p.Host))
	return n, fmt.Sprintf("host %s has %s", p.Host.Label, text.Plural(n, "device"))
}

// checkGroups refuses devices that no variable can give to a process together.
func (p *Plan) checkGroups(devices []bench.Device) error {
	for _, d := range devices {
		if len(p.widths) > 0 && len(devices) > 1 && (d.ID == "" || d.Vendor != devices[0].Vendor) {
			return exit.Usagef("devices: a cell that needs several cannot have %s beside %s: name devices of one vendor, or choose other cells with --only", d, devices[0])
		}
	}
	return nil
}

// width is how many devices a cell needs at once.
func (p *Plan) width(c bench.Cell) int { return max(1, p.widths[c.ID()]) }
