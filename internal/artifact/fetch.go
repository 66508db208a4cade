package artifact

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// States of an artifact after [Store.Fetch].
const (
	Present = "present" // it was there
	Fetched = "fetched"
	Failed  = "failed"
)

// State is what became of one artifact.
type State struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Path  string `json:"path"`
	Error string `json:"error,omitempty"`
}

// Fetch gets artifacts, all of them where names is empty, one after another. One that
// fails does not keep the others from being got. With check nothing is got and nothing is
// sent: every file is compared with its digest. An error means that a name is unknown, or
// that ctx is done.
func (s *Store) Fetch(ctx context.Context, names []string, check bool) ([]State, error) {
	all := s.names()
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, exit.Usagef(
				"no artifact is called %.80q: name one of those that the configuration has under artifacts, or none for all", name)
		}
	}
	if len(names) == 0 {
		names = all
	}
	states := []State{}
	for _, name := range names {
		state := State{Name: name, State: Present, Path: s.path(name)}
		err := s.Check(ctx, name, check)
		if err != nil && !check {
			state.State = Fetched
			err = s.Get(ctx, []string{name})
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			state.State, state.Error = Failed, err.Error()
		}
		states = append(states, state)
	}
	return states, nil
}

// Print writes states as a table for a terminal of so many columns, 0 for a file.
func Print(w io.Writer, columns int, states []State) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "artifact\tstate\tpath\n")
	for _, s := range states {
		fmt.Fprintf(t, "%s\t%s\t%s\n", s.Name, s.State, text.OneLine(s.Path))
	}
	return t.Flush()
}
