package harness

import (
	"strings"
	"testing"
)

// TestHiddenCallsAreMissed is about recorded times: calls are hidden where all
// rounds lack them, and a machine that takes the processor in some hides none.
func TestHiddenCallsAreMissed(t *testing.T) {
	t.Parallel()
	p := &procedure{Settings: Settings{}.withDefaults()}
	rounds := func(walls ...float64) (s short) {
		for _, wall := range walls {
			s.walls, s.medians, s.empty = append(s.walls, wall), append(s.medians, 50e3), append(s.empty, 100e3)
		}
		return s
	}
	for name, c := range map[string]struct {
		short
		hidden bool
	}{
		"plain":        {rounds(3e5, 3e5, 3e5, 3e5), false},
		"busy machine": {rounds(3e5, 20e6, 20e6, 20e6), false},
		"hidden":       {rounds(9e6, 8e6, 9e6, 20e6), true},
	} {
		if reason := p.hidden(c.short); (reason != "") != c.hidden || c.hidden && !strings.Contains(reason, "with fresh inputs") {
			t.Errorf("%s: reason %q", name, reason)
		}
	}
}
