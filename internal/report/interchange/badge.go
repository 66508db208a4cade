package interchange

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// Endpoint is what shields.io reads from an address (https://shields.io/badges/endpoint-badge).
type Endpoint struct {
	Label   string
	Message string
	Color   string // a name of shields.io
	IsError bool   // the color cannot be overridden
}

// Write writes the JSON document.
func (e Endpoint) Write(w io.Writer) error {
	return text.WriteJSON(w, "  ", struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
		IsError       bool   `json:"isError,omitempty"`
	}{1, e.Label, e.Message, e.Color, e.IsError})
}

// Badge writes the decision as the endpoint of a shields.io badge.
func Badge(w io.Writer, r report.Report) error {
	b := Endpoint{Label: "accelgate", Message: "passed", Color: "brightgreen"}
	t := r.Totals()
	switch d := r.Head().Decision; d.Status {
	case gate.StatusFailed:
		b.Message, b.Color, b.IsError = "failed", "red", true
		if t.Blocking > 0 {
			b.Message = fmt.Sprintf("failed: %d of %s", t.Blocking, text.Plural(t.Cells, "cell"))
		}
	case gate.StatusActionRequired:
		b.Message, b.Color = "action required", "orange"
	case gate.StatusNoEvidence:
		b.Message, b.Color = "no evidence", "lightgrey"
	case gate.StatusUndecided:
		b.Message, b.Color = "undecided", "orange"
	case gate.StatusWarned:
		b.Message, b.Color = "warnings", "yellow"
		if d.Unjudged > 0 {
			b.Message = "speed not judged"
		}
	}
	return b.Write(w)
}
