package policy

import (
	"fmt"
	"slices"

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

// Advise adds the levels of the configuration to the rules of a policy: on which cells numbers are advisory.
func (o Trigger) Advise(p *gate.Policy, file *config.File) {
	p.Event, p.AdvisoryBy = o.Event, nil
	p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r gate.Rule) bool { _, level := r.(*gate.Advice); return level })
	add := func(scope gate.Scope, event, label, level, path string) {
		advisory := level == string(gate.Advisory)
		if !o.meets(event, label, advisory) {
			return
		}
		if advisory {
			p.AdvisoryBy = append(p.AdvisoryBy, path)
		}
		p.Rules = append(p.Rules, &gate.Advice{Scope: scope, Required: !advisory, Source: file.Source(path)})
	}
	for i, l := range file.Policy.Levels {
		add(gate.Scope{}, l.Event, l.Label, l.Level, fmt.Sprintf("policy.levels[%d]", i))
	}
	for i := range file.Suites {
		s := &file.Suites[i]
		for k, l := range s.Levels {
			of := matrix.WhenOf(l.When)
			scope := gate.Scope{Suite: s.Name, Host: of.Host, Cells: of.Cells}
			add(scope, l.Event, l.Label, l.Level, fmt.Sprintf("suites[%d].levels[%d]", i, k))
		}
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
		if s := &file.Suites[i]; !hasEntries(file) && len(s.Levels)+len(file.Policy.Levels) > 0 {
			return s.Errorf("", "policy.compat: %s has no levels: remove compat, or levels of the policy and of the suites",
				file.Policy.Compat)
		}
	}
	return nil
}
