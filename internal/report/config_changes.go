package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/text"
)

// CheckedChanges is what a pull request changes in what is checked. It came from
// the pull request, so all of it is untrusted.
type CheckedChanges struct {
	Values []ChangedValue `json:"values,omitempty"` // of the configuration
	Files  []string       `json:"files,omitempty"`  // baselines, waivers, case files and workflows of the gate that it changes
	Notes  []string       `json:"notes,omitempty"`  // what could not be compared, and why
	// State names what the changes need, or who approved them; the program's own text.
	State string `json:"state"`
	// Approve is the comment that approves them; "" if no approval is needed.
	Approve string `json:"approve,omitempty"`
}

// ChangedValue is a value of the configuration, by its path. Old or New is "" if
// only the other one has it.
type ChangedValue struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// Len counts the changes.
func (c *CheckedChanges) Len() int { return len(c.Values) + len(c.Files) + len(c.Notes) }

// checkedChanges lists the changes where a reader cannot miss them.
func (r *Report) checkedChanges() []block {
	const maximum = 20
	c := r.in.Checked
	if c == nil || c.Len() == 0 {
		return nil
	}
	var list bullets
	for _, v := range c.Values {
		list = append(list, v.line())
	}
	for _, path := range c.Files {
		list = append(list, inline{plain("file "), code(path)})
	}
	for _, note := range c.Notes {
		list = append(list, inline{reason(note)})
	}
	if more := len(list) - maximum; more > 0 {
		list = append(list[:maximum:maximum], inline{plain(fmt.Sprintf("… and %d more", more))})
	}
	state := inline{plain(c.State)}
	if c.Approve != "" {
		state = append(state, plain(": "), command(c.Approve))
	}
	return []block{paragraph{bold("This pull request changes what is checked"), plain(" (" + text.Plural(c.Len(), "change") + ")")}, list,
		paragraph(state), paragraph{plain(notCompared)}}
}

// notCompared limits what the list can hold.
const notCompared = "Not compared: scripts that workflows run, actions that they check out, and other repositories."

func (v *ChangedValue) line() inline {
	line := inline{code(v.Path), plain(": ")}
	switch {
	case v.Old == "":
		return append(line, plain("added, "), code(v.New))
	case v.New == "":
		return append(line, plain("removed, was "), code(v.Old))
	}
	return append(line, code(v.Old), plain(" → "), code(v.New))
}
