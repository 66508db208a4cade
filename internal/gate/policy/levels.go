package policy

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/matrix"
)

// Trigger is why runs are judged.
type Trigger struct {
	Event string // as the key event of a level has it
	// Labelled reports whether a level by this label counts, which is advisory or not; nil
	// where there is no pull request.
	Labelled func(label string, advisory bool) bool
}

// Desk is the event of an occasion that is no event of a workflow.
const Desk = "desk"

const advisoryLevel = "advisory"

// level is an entry of levels that counts on an occasion.
type level struct {
	matrix.When
	suite    string // "" is every suite
	advisory bool
	source   string // the entry, with its place in the file
}

// Advise sets on which cells the levels of the configuration make numbers advisory.
func (o Trigger) Advise(p *gate.Policy, file *config.File) {
	var all []level
	p.Advisory, p.AdvisoryBy = nil, nil
	add := func(l level, event, label, name, path string) {
		if l.advisory = name == advisoryLevel; !o.meets(event, label, l.advisory) {
			return
		}
		l.source = file.Source(path)
		if all = append(all, l); l.advisory {
			p.AdvisoryBy = append(p.AdvisoryBy, path)
		}
	}
	for i, l := range file.Policy.Levels {
		add(level{}, l.Event, l.Label, l.Level, fmt.Sprintf("policy.levels[%d]", i))
	}
	for i := range file.Suites {
		s := &file.Suites[i]
		for k, l := range s.Levels {
			add(level{When: matrix.WhenOf(l.When), suite: s.Name}, l.Event, l.Label, l.Level, fmt.Sprintf("suites[%d].levels[%d]", i, k))
		}
	}
	if p.AdvisoryBy == nil {
		return
	}
	p.Advisory = func(c bench.Cell, host string) (source string) {
		for i := range all {
			if l := &all[i]; (l.suite == "" || l.suite == c.Suite) && l.On(host) && l.Selects(c) {
				if source = ""; l.advisory {
					source = l.source
				}
			}
		}
		return source
	}
}

func (o Trigger) meets(event, label string, advisory bool) bool {
	return (event == "" || event == o.Event) && (label == "" || o.Labelled != nil && o.Labelled(label, advisory))
}

// checkLevels refuses levels that no cell of the suite can meet.
func (h onHost) checkLevels(s *config.Suite, cells []bench.Cell) error {
	for i := range s.Levels {
		of := matrix.WhenOf(s.Levels[i].When)
		if err := h.checkSelection(s, fmt.Sprintf("levels[%d]", i), &of, cells); err != nil {
			return err
		}
	}
	return nil
}

// refuseLevels refuses levels under another tool's rules, which have none.
func refuseLevels(file *config.File) error {
	for i := range file.Suites {
		if s := &file.Suites[i]; file.Policy.Compat != "" && len(s.Levels)+len(file.Policy.Levels) > 0 {
			return s.Errorf(
				"",
				"policy.compat: %s has no levels: remove compat, or levels of the policy and of the suites",
				file.Policy.Compat,
			)
		}
	}
	return nil
}
