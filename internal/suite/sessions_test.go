package suite_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

// TestSessions measures three cells in rounds, of which the second session fails and is repeated once.
func TestSessions(t *testing.T) {
	var s suite.Sessions[int]
	started := 0
	take := func(id string) int {
		t.Helper()
		ready := s.Ready("p", bench.Cell{Raw: id}, bench.Device{})
		got, fresh, err := s.Take("p", bench.Cell{Raw: id}, bench.Device{}, func() (int, bool, error) {
			started++
			return started, started != 2 && started != 3, nil
		})
		if err != nil || fresh == ready {
			t.Errorf("%s: %v, fresh %v, ready before %v", id, err, fresh, ready)
		}
		return got
	}
	for i, step := range []struct {
		cell string
		want int
	}{
		{"a", 1}, {"b", 1}, {"c", 1}, // a round
		{"a", 2}, {"a", 3}, // failed, and failed again: a is given up
		{"b", 2}, {"b", 3}, // the same failures, without further processes
		{"c", 2}, {"c", 3},
		{"c", 4}, // a repeat beyond the others'
		{"c", 5}, // a passed session leaves no other to take
		{"a", 5}, {"b", 5},
	} {
		if got := take(step.cell); got != step.want {
			t.Errorf("step %d: %s takes session %d, want %d", i, step.cell, got, step.want)
		}
	}
	if _, fresh, _ := s.Take("p", bench.Cell{Raw: "a"}, bench.Device{ID: "1"}, func() (int, bool, error) { return 9, true, nil }); !fresh {
		t.Error("another device takes a session of the first")
	}
}
