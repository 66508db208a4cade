package health

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// The limits of the rules about processors, which the package's comment gives
// reasons for.
const (
	maxForeign = 0.25 // of all cores
	maxSteal   = 0.05 // of all time
	minClock   = 0.6  // of the base frequency
	busyCore   = 0.9  // of a second
)

const (
	window = time.Second // the least time that use is reported for
	period = time.Second // between looks while a span lasts
	// minTicks are so many that one more or less does not decide.
	minTicks = 50
)

// pause is the least time between two looks: one takes as long as a short cell.
const pause = 50 * time.Millisecond

// look looks at the processors, unless that was done within the pause, and remembers it for spans that are shorter than
// the window.
func (w *Watcher) look() machine {
	at := w.opts.Now()
	if last, ok := w.within(at); ok {
		return last
	}
	now := w.system.look(at)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.past = append(w.past, now)
	for len(w.past) > 1 && now.at.Sub(w.past[1].at) >= window {
		w.past = w.past[1:]
	}
	return now
}

// within returns the last look, if it was within the pause before a moment.
func (w *Watcher) within(at time.Time) (last machine, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.past) == 0 {
		return last, false
	}
	last = w.past[len(w.past)-1]
	age := at.Sub(last.at)
	return last, last.err == nil && age >= 0 && age < pause
}

// since returns the look from which use is counted up to a look: the
// beginning of the span, or an earlier one where that is too short ago. One of
// long before says what others did while nothing was measured.
func (w *Watcher) since(begin, end machine) machine {
	if end.at.Sub(begin.at) >= window {
		return begin
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	from := w.past[0]
	if from.at.After(begin.at) || begin.at.Sub(from.at) > fresh {
		return begin
	}
	return from
}

// processors judges their use between two looks.
func (w *Watcher) processors(begin, end machine, outside bool) (f finding) {
	from := w.since(begin, end)
	for _, m := range []machine{from, end} {
		if m.err != nil {
			f.unknown = append(f.unknown, fmt.Sprintf("the use of the processors is unknown (%v): mount /proc as on a usual host", m.err))
			return f
		}
	}
	total := end.all.total() - min(end.all.total(), from.all.total())
	f.readings.add("cpu load", "", end.load)
	if end.throttle > begin.throttle {
		f.unwell = append(f.unwell, "the processors were throttled because they were too hot: cool the host, and measure again")
	}
	if total < minTicks {
		f.unknown = append(f.unknown, "the span is too short to attribute the use of the processors: measure for longer")
		return f
	}
	if end.own < from.own {
		f.unknown = append(f.unknown, "the use of the processors is unknown, as a process of this run could not be seen: measure again")
		return f
	}
	if from.pressed && end.pressed {
		f.readings.add("cpu pressure", "%", 100*(end.waited-from.waited)/end.at.Sub(from.at).Seconds())
	}
	f.join(use(from, end, float64(total), outside))
	return f
}

// use judges who used the processors.
func use(from, end machine, total float64, outside bool) (f finding) {
	work := end.all.work - min(end.all.work, from.all.work)
	own := end.own - from.own
	foreign := float64(work-min(work, own)) / total
	steal := float64(end.all.steal-min(end.all.steal, from.all.steal)) / total
	f.readings.add("cpu own", "%", 100*min(float64(own)/total, 1))
	f.readings.add("cpu foreign", "%", 100*foreign)
	f.readings.add("cpu steal", "%", 100*steal)
	switch {
	case outside:
		f.unknown = append(f.unknown,
			"what is measured does not run below accelgate, so its use of the processors cannot be separated from that of others: check that nothing else runs")
	case foreign > maxForeign:
		f.unwell = append(f.unwell, fmt.Sprintf("other programs used %.0f %% of the processors: end them, and measure again", 100*foreign))
	}
	if steal > maxSteal {
		f.unwell = append(f.unwell,
			fmt.Sprintf("the hypervisor gave %.0f %% of the processors' time to other virtual machines: use a host that is not shared",
				100*steal))
	}
	return f
}

// tick looks at clocks and temperatures until ctx is done.
func (w *Watcher) tick(ctx context.Context, before machine) <-chan finding {
	done := make(chan finding, 1)
	go func() { // ends with ctx
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		var c clocks
		for {
			select {
			case <-ctx.Done():
				done <- c.judge()
				return
			case <-ticker.C:
			}
			now := w.look()
			c.look(&w.system, before, now)
			before = now
		}
	}()
	return done
}

// clocks are those of processors while they were busy.
type clocks struct {
	readings readings
	share    float64 // of the base frequency, mean
	n        int
}

// maxClocks bounds the processors whose clocks are read at once, because a read
// may wake the processor.
const maxClocks = 16

// look reads the clocks of the processors that were busy since the look before.
func (c *clocks) look(s *system, before, now machine) {
	if v, ok := s.temperature(); ok {
		c.readings.add("cpu temperature", "C", v)
	}
	read := 0
	for _, n := range slices.Sorted(maps.Keys(s.bases)) {
		if read == maxClocks || !busy(before.each[n], now.each[n]) {
			continue
		}
		read++
		khz, ok := readQuantity(filepath.Join(s.root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", n)))
		if !ok {
			continue
		}
		c.readings.add("cpu clock", "MHz", khz/1000)
		c.n++
		c.share += (khz/1000/s.bases[n] - c.share) / float64(c.n)
	}
}

func (c *clocks) judge() finding {
	f := finding{readings: c.readings}
	if c.n > 0 && c.share < minClock {
		f.unwell = append(f.unwell,
			fmt.Sprintf("busy processors ran at %.0f %% of their base frequency: look at their governor, power limit and cooling",
				100*c.share))
	}
	return f
}

func busy(before, now ticks) bool {
	total := now.total() - min(now.total(), before.total())
	work := now.work - min(now.work, before.work)
	return total >= minTicks && float64(work) >= busyCore*float64(total)
}
