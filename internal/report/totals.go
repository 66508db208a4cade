package report

import "github.com/accelgate/accelgate/internal/bench"

// Totals are the numbers behind the title.
type Totals struct {
	Hosts int `json:"hosts"`
	// Cells are those measured, and those missing, left out or newly skipped.
	Cells    int `json:"cells"`
	Measured int `json:"measured"`
	Right    int `json:"right"`   // measured, and neither a crash nor a wrong answer was seen
	Checked  int `json:"checked"` // passed, and what it gave was compared with what it should
	// Checks counts the same by what was compared.
	Checks map[bench.CheckKind]int `json:"checks,omitempty"`
	// Numbers counts the numbers, not cells, that were compared with a recorded one.
	Numbers  int `json:"numbers"`
	Judged   int `json:"judged_cells"` // at least one number was compared with a recorded one
	Blocking int `json:"blocking"`
	// Unselected cells were left out by a filter on the command line.
	Unselected int `json:"unselected"`
	LeftOut    int `json:"left_out"`  // kept from being measured by a limit
	Retried    int `json:"retried"`   // passed after failures of the machine
	Undecided  int `json:"undecided"` // do not block, because a finding is undecided
	Excused    int `json:"excused"`   // do not block, because a finding is excused
	// Refused counts the hosts that block because they are another machine than
	// their baseline's.
	Refused  int `json:"refused_hosts"`
	Verdicts int `json:"verdicts"`
}

// Totals returns the numbers behind the title, over all hosts.
func (r Report) Totals() Totals {
	t := &r.total
	return Totals{Hosts: len(r.hosts), Cells: t.expected, Measured: t.measured, Right: t.right,
		Checked: t.checked, Checks: t.checks, Numbers: t.numbers, Judged: t.compared, Blocking: t.blocked(), Unselected: t.unselected,
		LeftOut: t.leftOut, Retried: t.retried, Undecided: t.open(), Excused: t.accepted(), Refused: t.refused, Verdicts: t.verdicts}
}
