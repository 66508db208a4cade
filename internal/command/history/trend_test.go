package history_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/history"
)

// TestRunsOfOneCommitAreNoChange: a level that moved between runs of one commit is the host's, and none of another commit's is
// hidden by it.
func TestRunsOfOneCommitAreNoChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		revision func(i int) string
		changes  int
	}{
		"one commit":            {func(int) string { return "a" }, 0},
		"a commit each":         {func(i int) string { return string(rune('a' + i)) }, 1},
		"no commit is known":    {func(int) string { return "" }, 1},
		"two runs of each, one": {func(i int) string { return string(rune('a' + i/2)) }, 1},
	} {
		s := history.Series{Better: bench.Higher}
		for i := range 20 {
			v := 100 + 0.1*float64(i%3)
			if i >= 10 {
				v -= 30
			}
			s.Values, s.Revisions, s.Runs = append(s.Values, v), append(s.Revisions, c.revision(i)), s.Runs+1
		}
		s.Look()
		if len(s.Changes) != c.changes {
			t.Errorf("%s: %d changes, want %d: %+v", name, len(s.Changes), c.changes, s.Changes)
		}
	}
}
