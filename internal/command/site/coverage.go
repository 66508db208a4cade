package site

import "time"

// Ages counts cells by the age of something.
type Ages struct {
	What  string
	Count [5]int // up to 7, 30 and 90 days, older, and cells without it
}

// ages are the limits in days.
var ages = [...]int{7, 30, 90}

func (a *Ages) add(o *Options, at time.Time) {
	if at.IsZero() {
		a.Count[len(a.Count)-1]++
		return
	}
	n := 0
	for n < len(ages) && at.Before(o.days(ages[n])) {
		n++
	}
	a.Count[n]++
}

// coverage counts the host's cells by the age of their newest value, of the baseline that has them, and of their anchor.
func (h *host) coverage() []Ages {
	value, reference, anchor := Ages{What: "newest value"}, Ages{What: "baseline"}, Ages{What: "anchor"}
	for _, c := range h.Cells {
		var at, recorded, pinned time.Time
		if last := c.last(); last >= 0 {
			at = h.Runs[last].At
		}
		if c.Reference != nil {
			recorded, pinned = h.Baseline.Started, c.Reference.Anchored.At
		}
		value.add(&h.Options, at)
		reference.add(&h.Options, recorded)
		anchor.add(&h.Options, pinned)
	}
	return []Ages{value, reference, anchor}
}
