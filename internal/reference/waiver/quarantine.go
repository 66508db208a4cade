package waiver

import "fmt"

// QuarantineName is the name of the file of quarantined cells beside accelgate.yaml,
// unless that names another.
const QuarantineName = "quarantine.yml"

// Quarantined is a flaky cell that does not block until a day.
type Quarantined struct {
	Cell    string `json:"cell"`           // id, exactly
	Host    string `json:"host,omitempty"` // label; "" is every host
	Owner   string `json:"owner"`          // who mends it
	Expires Date   `json:"expires"`        // the last day on which it holds
	Reason  string `json:"reason"`
	Issue   string `json:"issue,omitempty"`
	Source  string `json:"source,omitempty"` // file and line
}

// DaysLeft is that of [Entry.DaysLeft].
func (q *Quarantined) DaysLeft(today Date) int { return int(q.Expires - today) }

// Holds is that of [Entry.Holds].
func (q *Quarantined) Holds(today Date) bool {
	left := q.DaysLeft(today)
	return left >= 0 && left <= MaxDays
}

// quarantined is an entry as the file has it.
type quarantined struct {
	Cell    string `yaml:"cell,required"`
	Host    string `yaml:"host"`
	Owner   string `yaml:"owner,required"`
	Expires Date   `yaml:"expires,required"`
	Reason  string `yaml:"reason,required"`
	Issue   string `yaml:"issue"`
}

func (w *quarantined) entry(source string) Quarantined {
	return Quarantined{Cell: w.Cell, Host: w.Host, Owner: w.Owner, Expires: w.Expires, Reason: w.Reason, Issue: w.Issue, Source: source}
}

// ReadQuarantine reads the text of a file of quarantined cells: a YAML list, or nothing
// but comments. Errors are those of [Read].
func ReadQuarantine(name string, data []byte, today Date) ([]Quarantined, error) {
	return readList(name, data, "quarantined cells", "this cell and host are quarantined", (*quarantined).entry,
		func(q *Quarantined) (key, []complaint) { return key{cell: q.Cell, host: q.Host}, q.complaints(today) })
}

// LoadQuarantine reads the file at path. A file that does not exist is an error that
// wraps [io/fs.ErrNotExist].
func LoadQuarantine(path string, today Date) ([]Quarantined, error) {
	data, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("open quarantine: %w; correct policy.quarantine in the configuration", err)
	}
	return ReadQuarantine(path, data, today)
}

func (q *Quarantined) complaints(today Date) []complaint {
	list := complaintsOf([]field{{"cell", q.Cell, maxCell, true}, {"host", q.Host, maxHost, false}, {"owner", q.Owner, maxBy, true},
		{"reason", q.Reason, maxReason, true}, {"issue", q.Issue, maxIssue, false}})
	return append(list, tooFar(q.Expires, today)...)
}
