package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// The limits of the rules about accelerators, which the package's comment gives
// reasons for.
const (
	maxHeld    = 0.01 // of the time
	cappedBusy = 0.5  // of the time
	minShare   = 0.5  // of the nominal clock
)

// hardwareSlowdown takes two samples: it may only be a change of clocks.
const hardwareSlowdown = "hardware slowdown"

// watched is what was seen of one device during a span.
type watched struct {
	device      bench.Device
	first, last state   // around the span
	samples     []state // during it
	outside     bool    // what is measured does not run below this process
}

func (w *watched) judge() (f finding) {
	name := w.device.String()
	for _, s := range append(slices.Clip(w.samples), w.last) {
		for _, r := range s.readings {
			f.readings.add(name+" "+r.name, r.unit, r.value)
		}
	}
	for _, word := range w.slowness() {
		f.unwell = append(f.unwell,
			fmt.Sprintf("%s was held back (%s): look at its cooling and its power supply, and measure again", name, word))
	}
	if share, ok := w.cappedClock(); ok && share < minShare {
		f.unwell = append(f.unwell,
			fmt.Sprintf("%s ran at %.0f %% of its clock to stay below its power limit: look at the limit and the power supply", name,
				100*share))
	}
	if n := w.last.errors - w.first.errors; w.first.counted && w.last.counted && n > 0 {
		f.unwell = append(f.unwell,
			fmt.Sprintf("%s counted %.0f uncorrected memory errors: test the device, its answers may be wrong", name, n))
	}
	for _, fault := range w.last.faults {
		f.unwell = append(f.unwell, fmt.Sprintf("%s reports that %s: repair it before you measure", name, fault))
	}
	if len(w.samples) == 0 && len(w.last.held) == 0 {
		f.unknown = append(f.unknown,
			fmt.Sprintf("no reading shows whether %s was held back meanwhile: measure for longer, or see with its vendor's tool", name))
	}
	for _, what := range w.last.untold {
		f.unknown = append(f.unknown, fmt.Sprintf("%s does not report %s: check with its vendor's tool that it is healthy", name, what))
	}
	f.join(w.company())
	return f
}

// slowness returns the words for what held the device back.
func (w *watched) slowness() (words []string) {
	span := w.last.at.Sub(w.first.at)
	seen := map[string]int{}
	for _, s := range append(slices.Clip(w.samples), w.last) {
		for _, word := range s.slow {
			seen[word]++
		}
	}
	for word, end := range w.last.held {
		begin, ok := w.first.held[word]
		if ok && span > 0 {
			delete(seen, word) // time tells more than samples
			if end-begin > maxHeld*span.Seconds() {
				seen[word] = 2
			}
		}
	}
	for word, n := range seen {
		if n > 1 || word != hardwareSlowdown {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// cappedClock is the share of its nominal clock that a device had while it was
// busy and its power limit held it.
func (w *watched) cappedClock() (share float64, ok bool) {
	var shares []float64
	for _, s := range w.samples {
		nominal := max(s.nominal, w.first.nominal)
		if s.capped && s.busy >= cappedBusy && s.clock > 0 && nominal > 0 {
			shares = append(shares, s.clock/nominal)
		}
	}
	return stats.Median(shares), len(shares) > 0
}

// company finds those who use the device besides what is measured, as told
// before and after.
func (w *watched) company() (f finding) {
	name := w.device.String()
	var strangers []string
	blurred := false
	for _, u := range append(slices.Clip(w.first.users), w.last.users...) {
		words := fmt.Sprintf("pid %d, %.0f MiB", u.pid, u.mib)
		switch {
		case u.kin == unclear, u.kin == others && w.outside:
			blurred = true
		case u.kin == others && !slices.Contains(strangers, words):
			strangers = append(strangers, words)
		}
	}
	switch {
	case len(strangers) > 0:
		shown := strangers[:min(len(strangers), maxShown)]
		f.unwell = append(f.unwell,
			fmt.Sprintf("other processes use %s (%s): end them, or measure on a device of your own with --devices", name,
				strings.Join(shown, "; ")))
	case !w.first.listed || !w.last.listed:
		f.unknown = append(f.unknown,
			fmt.Sprintf("no tool lists the processes that use %s: see with its vendor's tool that no other does", name))
	case blurred:
		f.unknown = append(f.unknown,
			fmt.Sprintf("the owners of processes that use %s are not visible here: check with its vendor's tool that no other process does",
				name))
	}
	return f
}

const maxShown = 3 // processes in one reason

// fresh is how long a look at a device may stand for the one before a span.
const fresh = 10 * time.Second
