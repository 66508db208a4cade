package interchange

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// endpoint is what shields.io reads from an address (https://shields.io/badges/endpoint-badge).
type endpoint struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
	IsError       bool   `json:"isError,omitempty"` // the color cannot be overridden
}

// Badge writes the decision as the endpoint of a shields.io badge.
func Badge(w io.Writer, r report.Report) error {
	b := endpoint{SchemaVersion: 1, Label: "accelgate", Message: "passed", Color: "brightgreen"}
	t := r.Totals()
	switch d := r.Head().Decision; d.Status {
	case gate.StatusFailed:
		b.Message, b.Color, b.IsError = "failed", "red", true
		if t.Blocking > 0 {
			b.Message = fmt.Sprintf("failed: %d of %d cells", t.Blocking, t.Cells)
		}
	case gate.StatusActionRequired:
		b.Message, b.Color = "action required", "orange"
	case gate.StatusNoEvidence:
		b.Message, b.Color = "no evidence", "lightgrey"
	case gate.StatusInconclusive:
		b.Message, b.Color = "inconclusive", "yellow"
	default:
		if d.Unjudged > 0 {
			b.Message, b.Color = "passed, speed not judged", "yellow"
		}
	}
	return encode(w, b)
}
