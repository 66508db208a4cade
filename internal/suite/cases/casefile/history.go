package casefile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// HistoryFile is the file in the folder of the cases that says why their
// numbers changed. The original reads only *.json there.
const HistoryFile = "history.jsonl"

// What a history may have. A reason is a sentence or two; a refresh of all 22
// real cases adds about 40 KB.
const (
	maxReason  = 2000
	MaxHistory = 32 << 20
)

// Record is one refresh of one case: a line of the history.
type Record struct {
	Time     time.Time `json:"time"` // written in UTC, to the second
	Case     string    `json:"case"` // its name
	Reason   string    `json:"reason"`
	Revision string    `json:"revision"` // of the program that was measured
	Tool     string    `json:"tool"`     // name and version
	Host     string    `json:"host"`
	Changes  []Change  `json:"changes"`
}

// AppendHistory returns the history with a line for each record. What is there
// already, which may be anything, is neither read nor changed, except that a
// last line without an end gets one. A record must have a case and a reason.
func AppendHistory(old []byte, records []Record) ([]byte, error) {
	b := bytes.NewBuffer(slices.Clone(old))
	if len(records) == 0 {
		return b.Bytes(), nil
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		b.WriteByte('\n')
	}
	for _, r := range records {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		b.WriteString(line + "\n")
	}
	if b.Len() > MaxHistory {
		return nil, fmt.Errorf("%s would be larger than %d bytes: move it away, and the next refresh begins a new one", HistoryFile,
			MaxHistory)
	}
	return b.Bytes(), nil
}

func (r Record) line() (string, error) {
	r.Time = r.Time.UTC().Truncate(time.Second)
	switch {
	case r.Case == "":
		return "", fmt.Errorf("record a refresh: it is of no case: name the case")
	case strings.TrimSpace(r.Reason) == "":
		return "", fmt.Errorf("record the refresh of %s: it has no reason: say why the numbers change", quote(r.Case))
	case len(r.Reason) > maxReason:
		return "", fmt.Errorf("record the refresh of %s: its reason is longer than %d bytes: shorten it", quote(r.Case), maxReason)
	case r.Time.Year() < 0 || r.Time.Year() > 9999: // what RFC 3339 cannot say
		return "", fmt.Errorf("record the refresh of %s: its time is in the year %d: correct the clock", quote(r.Case), r.Time.Year())
	}
	if r.Changes == nil {
		r.Changes = []Change{}
	}
	return encode(r)
}
