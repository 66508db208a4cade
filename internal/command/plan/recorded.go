package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// recorded holds the cells of a plan against the baseline of its host.
type recorded struct {
	path      string
	untracked []string // cells that the baseline does not have
	missing   []string // its cells that no suite has
}

// compare reads the baseline of the plan's host; nil where there is none in this checkout, or
// where cells are not known.
func compare(p *measure.Plan) (*recorded, error) {
	if p.Options.Reference(p.File).Remote() || p.Options.Reference(p.File).FromHistory() || p.Unlisted() != nil {
		return nil, nil
	}
	r := &recorded{path: p.Options.Reference(p.File).PathOf(p.Host)}
	file, err := baseline.Load(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	known := measure.SetOf(p.Others)
	has := map[string]bool{}
	for i := range file.Entries {
		has[file.Entries[i].CaseID] = true
	}
	for _, s := range p.Suites {
		for _, c := range s.Cells {
			if id := c.ID(); !has[id] {
				r.untracked = append(r.untracked, id)
			}
			known[c.ID()] = true
		}
		for _, c := range s.Skipped {
			known[c.Cell.ID()] = true
		}
	}
	for _, l := range p.LeftOut {
		known[l.Cell] = true
	}
	for i := range file.Entries {
		if e := &file.Entries[i]; !known[e.CaseID] && e.OK && !p.Foreign(e.Suite) {
			r.missing = append(r.missing, e.CaseID)
		}
	}
	return r, nil
}

// PrintUnrecorded names the cells that the baseline of the plan's host does not have, and those
// of the baseline that no suite has.
func PrintUnrecorded(w io.Writer, p *measure.Plan) error {
	held, err := compare(p)
	if err == nil {
		held.print(w, p)
	}
	return err
}

// maxNamed is how many cells a line names.
const maxNamed = 5

// print writes what differs, with the commands that record it.
func (r *recorded) print(w io.Writer, p *measure.Plan) {
	if r == nil {
		return
	}
	t := judge.Typing{Options: p.Options, File: p.File}
	if n := len(r.untracked); n > 0 {
		fmt.Fprintf(w, "  untracked: %s not in %s, so only %s judged: %s\n    %s\n",
			text.Plural(n, "cell"), r.path, answers(n), names(r.untracked),
			t.Recording("accelgate baseline update", only(r.untracked)).Add("--reason", "new cells"))
	}
	if n := len(r.missing); n > 0 {
		fmt.Fprintf(w, "  missing: %s of %s in no suite, so a run fails: %s\n    %s\n",
			text.Plural(n, "cell"), r.path, names(r.missing), t.Recording("accelgate baseline prune", nil))
	}
}

func answers(n int) string {
	if n == 1 {
		return "its answer is"
	}
	return "their answers are"
}

// only names cells for a command, unless they are many.
func only(ids []string) []string {
	if len(ids) > maxNamed {
		return nil
	}
	return ids
}

func names(ids []string) string {
	return text.OneLine(strings.Join(text.First(ids, maxNamed), ", "))
}
