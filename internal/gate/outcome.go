package gate

// Status is the decision in a word.
type Status string

// The statuses.
const (
	StatusPassed Status = "passed"
	// StatusWarned: nothing blocks, and something is undecided or excused, or was not judged.
	StatusWarned Status = "warned"
	// StatusUndecided: nothing blocks, and a loss beyond its limit is undecided.
	StatusUndecided Status = "undecided"
	// StatusActionRequired: nothing is wrong, but a baseline that the policy
	// demands is missing or is of another host, or what is checked was changed.
	StatusActionRequired Status = "action_required"
	// StatusNoEvidence: nothing blocks, and on some host not one cell passed, or
	// parts of its matrix are missing.
	StatusNoEvidence Status = "no_evidence"
	StatusFailed     Status = "failed"
)

// Statuses lists every status, the best first.
var Statuses = []Status{StatusPassed, StatusWarned, StatusUndecided, StatusActionRequired, StatusNoEvidence, StatusFailed}

// Outcome is what a status means for those who read the report: people, branch protection and
// shells.
type Outcome struct {
	Word       string // first word of the report
	Conclusion string // of the check run; neutral satisfies a required check, action_required does not
	Code       int    // exit code
	Strict     int    // exit code with [Policy.Strict]
}

// Outcomes is the outcome of each status. docs/verdicts.md shows it.
var Outcomes = map[Status]Outcome{
	StatusPassed:         {"PASS", "success", 0, 0},
	StatusWarned:         {"WARN", "neutral", 0, 0},
	StatusUndecided:      {"UNDECIDED", "action_required", 0, 1},
	StatusActionRequired: {"ACTION REQUIRED", "action_required", 1, 1},
	StatusNoEvidence:     {"NO EVIDENCE", "action_required", 3, 3},
	StatusFailed:         {"FAIL", "failure", 1, 1},
}

// unbuiltCode is the exit code where nothing was measured because the checkout could not be built.
const unbuiltCode = 3

// Code is the exit code of a command with this decision.
func (d *Decision) Code() int {
	o := Outcomes[d.Status]
	switch {
	case d.Unbuilt:
		return unbuiltCode
	case d.Strict:
		return o.Strict
	}
	return o.Code
}
