package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
)

// sight says which losses the values at hand find, road by road, and how to see more. They say
// nothing about another hour of the host.
func (r *Report) sight() []block {
	var blocks []block
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		if len(h.Comparison.Sight) == 0 {
			continue
		}
		if n++; n > maxCautions {
			continue
		}
		line := inline{plain("What this could have seen")}
		if len(r.hosts) > 1 {
			line = append(line, plain(" on "), code(h.Run.Host.Label))
		}
		line = append(line, plain(": "+seen(h.Comparison.Sight)))
		if h.Comparison.Sight[0].Road != gate.RoadPairs && r.total.open == 0 { // otherwise it is said where these are
			line = append(line, plain(". To see more, measure in pairs: "), command(h.Commands.Run+h.base()))
		}
		blocks = append(blocks, paragraph(line))
	}
	return withRest(blocks, n, "host", "hosts")
}

// seen writes "by pairs, losses from 3.1 % in half of 80 numbers and 9 % in nine of
// ten, found in 4 of 5 cases".
func seen(sights []gate.Sight) string {
	words := map[gate.Road]string{gate.RoadPairs: "by pairs", gate.RoadHistory: "by history", gate.RoadThreshold: "by the threshold"}
	var said []string
	for _, s := range sights {
		verb := "losses"
		if !s.Convicts {
			verb = "suspicions"
		}
		text := fmt.Sprintf("%s, %s from %s", words[s.Road], verb, rough(finite(s.Half)))
		if s.Numbers > 1 {
			text += fmt.Sprintf(" in half of %d numbers and %s in nine of ten", s.Numbers, rough(finite(s.Most)))
		}
		if s.Road != gate.RoadThreshold { // where it is the loss that blocks
			text += ", found in 4 of 5 cases"
		}
		said = append(said, text)
	}
	return strings.Join(said, "; ")
}
