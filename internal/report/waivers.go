package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// waivers shows what became of each waiver, the used ones included: a hidden exception
// becomes the rule.
func (r *Report) waivers(maximum int) (title string, blocks []block, n int) {
	all := r.in.Decision.Waivers
	if len(all) > 0 {
		blocks = append(blocks, waiverTable(all, maximum))
	}
	return waiverTitle(all), blocks, len(all)
}

// waiverTitle is "3 waivers: 1 used, 1 expired and 1 unused".
func waiverTitle(all []gate.WaiverUse) string {
	by := map[gate.WaiverState]int{}
	for i := range all {
		by[all[i].State]++
	}
	var states []string
	for _, s := range []gate.WaiverState{gate.WaiverExceeded, gate.WaiverUsed, gate.WaiverExpired, gate.WaiverUnused} {
		if by[s] > 0 {
			states = append(states, fmt.Sprintf("%d %s", by[s], s))
		}
	}
	return text.Plural(len(all), "waiver") + ": " + enumerate(states)
}

func waiverTable(all []gate.WaiverUse, maximum int) block {
	t := &table{total: len(all), columns: columns("Waiver of", "Metric", "Host~", "Up to>", "Until", "State", "Reason~")}
	for i := range all[:min(maximum, len(all))] {
		u := &all[i]
		why := only(reason(u.Entry.Reason))
		for _, more := range []struct{ lead, text string }{{"; ", u.Issue}, {"; by ", u.By}, {"; note: ", u.Note}} {
			if more.text != "" {
				why = append(why, plain(more.lead), reason(more.text))
			}
		}
		t.rows = append(t.rows, []inline{only(code(u.Cell)), only(code(u.Metric)), hostOf(u.Host), only(plain(bare(u.Ceiling))),
			until(u.Expires, u.DaysLeft), only(plain(string(u.State))), why})
	}
	return t
}

// hostOf shows the host that an entry is for.
func hostOf(label string) inline {
	if label == "" {
		return only(plain("all"))
	}
	return only(code(label))
}

// until shows the last day of an entry.
func until(day waiver.Date, left int) inline {
	return only(plain(day.String() + " (" + daysLeft(left) + ")"))
}

func daysLeft(n int) string {
	switch {
	case n < 0:
		return text.Plural(-n, "day") + " ago"
	case n == 0:
		return "today"
	}
	return text.Plural(n, "day") + " left"
}

// finiteWaivers keeps what no validated file holds out of JSON.
func finiteWaivers(all []gate.WaiverUse) []gate.WaiverUse {
	var list []gate.WaiverUse
	for _, u := range all {
		u.Ceiling = finite(u.Ceiling)
		list = append(list, u)
	}
	return list
}
