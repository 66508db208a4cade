package text

import (
	"encoding/json"
	"io"
)

// WriteJSON writes v as an indented document. The characters <, > and & stay as they are,
// because no document of ours becomes a part of a page.
func WriteJSON(w io.Writer, indent string, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}
