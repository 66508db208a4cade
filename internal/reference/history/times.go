package history

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// timedRuns is how many of the newest runs say how long their cells took.
const timedRuns = 3

// took returns, for each cell of a run in their order, how long all of its measurements took, in
// milliseconds, and on which device: the place among Devices, -1 for none. Empty where nothing is known.
type took struct {
	Wall    []float64 `json:"wall_ms,omitempty"`
	Devices []string  `json:"devices,omitempty"`
	On      []int32   `json:"on,omitempty"`
}

// note adds what is known of the next cell. Three digits of a time are enough.
func (t *took) note(r *bench.Result) {
	wall, on := 0.0, int32(-1)
	if r.WallMS > 0 && !math.IsInf(r.WallMS, 1) {
		wall, _ = strconv.ParseFloat(strconv.FormatFloat(r.WallMS, 'g', 3, 64), 64)
	}
	if r.Device != "" && len(r.Device) <= maxName {
		if on = int32(slices.Index(t.Devices, r.Device)); on < 0 && len(t.Devices) < maxDevices {
			on = int32(len(t.Devices))
			t.Devices = append(t.Devices, r.Device)
		}
	}
	t.Wall, t.On = append(t.Wall, wall), append(t.On, on)
}

// tidy drops what says nothing.
func (t *took) tidy() {
	if !slices.ContainsFunc(t.Wall, func(ms float64) bool { return ms > 0 }) {
		*t = took{}
	}
	if len(t.Devices) == 0 {
		t.On = nil
	}
}

// inOrder is the same with the cells in the order in which a line holds them.
func (t took) inOrder(cells []cell) took {
	sorted := took{Devices: t.Devices}
	for _, unhealthy := range []bool{false, true} {
		for i, c := range cells {
			if c.unhealthy != unhealthy {
				continue
			}
			if t.Wall != nil {
				sorted.Wall = append(sorted.Wall, t.Wall[i])
			}
			if t.On != nil {
				sorted.On = append(sorted.On, t.On[i])
			}
		}
	}
	return sorted
}

// valid reports what would make times meaningless.
func (t *took) valid(cells int) error {
	if t.Wall != nil && len(t.Wall) != cells || t.On != nil && len(t.On) != cells || len(t.Devices) > maxDevices {
		return errors.New("has times or devices for another number of cells than it has")
	}
	for _, ms := range t.Wall {
		if !bench.Finite(ms) || ms < 0 {
			return errors.New("has a time that cannot be")
		}
	}
	for _, on := range t.On {
		if on < -1 || int(on) >= len(t.Devices) {
			return errors.New("names a device that it does not list")
		}
	}
	for _, d := range t.Devices {
		if len(d) > maxName {
			return errors.New("names a device of too many bytes")
		}
	}
	return nil
}

// keepTimes drops the times of all but the newest runs.
func (f *File) keepTimes() {
	for i := range max(0, len(f.runs)-timedRuns) {
		f.runs[i].took = took{}
	}
}

// Times returns the newest run that says how long its cells took, with the medians of the newest runs
// that say it, and its devices; nil where no run does.
func (f *File) Times(label string) *bench.Run {
	timed := slices.DeleteFunc(slices.Clone(f.runs), func(r run) bool { return r.Wall == nil })
	if len(timed) == 0 {
		return nil
	}
	timed = timed[max(0, len(timed)-timedRuns):]
	walls := map[int32][]float64{}
	for _, r := range timed {
		for i, c := range r.cells {
			if r.Wall[i] > 0 {
				walls[c.id] = append(walls[c.id], r.Wall[i])
			}
		}
	}
	newest := &timed[len(timed)-1]
	times := newest.document(f.ids, label)
	for i, c := range newest.cells {
		r := &times.Results[i]
		if ms := walls[c.id]; len(ms) > 0 {
			r.WallMS = stats.Median(ms)
		}
		if newest.On != nil && newest.On[i] >= 0 {
			r.Device = newest.Devices[newest.On[i]]
		}
	}
	return times
}
