package history_test

import (
	"errors"
	"testing"

	"github.com/accelgate/accelgate/internal/reference/history"
)

func TestFewerRunsStayIfAsked(t *testing.T) {
	t.Parallel()
	f := history.File{Keep: 40}
	for n := range 45 {
		add(t, &f, made(n, 10))
	}
	if _, err := f.Add(made(3, 10)); !errors.Is(err, history.ErrNothing) {
		t.Errorf("a run that was dropped comes back: %v", err)
	}
	if got := f.Runs("desk"); len(got) != 40 || got[0].Revision != "rev5" {
		t.Errorf("%d runs from %s, want 40 from rev5", len(got), got[0].Revision)
	}
}
