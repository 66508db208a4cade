package flashinfer

import "encoding/json"

// Profile is what another tool found about a solution, beside its measurement.
type Profile struct {
	Tool  string       `json:"tool"` // ncu or compute-sanitizer
	State ProfileState `json:"state"`
	// Note is why there is no report, or what is doubtful about it.
	Note   string          `json:"note,omitempty"`
	Report json.RawMessage `json:"report,omitempty"` // an object of the tool, see package nvtools
}

// ProfileState is how far a tool has come.
type ProfileState string

// The states of a profile.
const (
	Profiled   ProfileState = "done"
	ToolAbsent ProfileState = "absent" // this host does not have the tool
	Unprofiled ProfileState = "failed" // the tool gave no report
)
