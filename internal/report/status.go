package report

import (
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
)

// status is a decision or a host's verdict: a sign for Markdown, a word for
// plain text.
type status struct {
	sign, mark string // "❌", "FAIL"
	word       string // "Failed"
}

func (s status) headline(sentence inline) inline {
	return append(inline{plain(s.word + ": ")}, sentence...)
}

// TitleIs reports whether a report with the status has the title.
func TitleIs(title string, s gate.Status) bool {
	for _, st := range []status{failed, passed, warned, undecided, actionRequired, noEvidence} {
		if st.mark == gate.Outcomes[s].Word {
			return strings.HasPrefix(title, st.word+": ")
		}
	}
	return false
}

// statusOf has the first word of a status from gate.
func statusOf(s gate.Status, sign, word string) status {
	return status{sign, gate.Outcomes[s].Word, word}
}

var (
	failed         = statusOf(gate.StatusFailed, "❌", "Failed")
	passed         = statusOf(gate.StatusPassed, "✅", "Passed")
	warned         = statusOf(gate.StatusWarned, "⚠️", "Warning")
	undecided      = statusOf(gate.StatusUndecided, "⚠️", "Undecided")
	actionRequired = statusOf(gate.StatusActionRequired, "⚠️", "Action required")
	noEvidence     = statusOf(gate.StatusNoEvidence, "❔", "No evidence")
)
