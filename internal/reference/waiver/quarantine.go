package waiver

import "fmt"

// QuarantineName is the name of the file of quarantined cells beside accelgate.yaml,
// unless that names another.
const QuarantineName = "quarantine.yml"

// Quarantined is a flaky cell that does not block until a day.
type Quarantined struct {
	Cell    string `yaml:"cell,required" json:"cell"`       // id, exactly
	Host    string `yaml:"host" json:"host,omitempty"`      // label; "" is every host
	Owner   string `yaml:"owner,required" json:"owner"`     // who mends it
	Expires Date   `yaml:"expires,required" json:"expires"` // the last day on which it holds
	Reason  string `yaml:"reason,required" json:"reason"`
	Issue   string `yaml:"issue" json:"issue,omitempty"`
	Source  string `json:"source,omitempty"` // file and line
}

// ReadQuarantine reads the text of a file of quarantined cells: a YAML list, or nothing
// but comments. Errors are those of [Read].
func ReadQuarantine(name string, data []byte, today Date) ([]Quarantined, error) {
	return readList(name, data, "quarantined cells", "this cell and host are quarantined",
		func(q *Quarantined, source string) Quarantined { q.Source = source; return *q },
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
