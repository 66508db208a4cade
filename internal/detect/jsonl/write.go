package jsonl

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/text"
)

// Write writes a line of JSON for each verdict.
func Write(w io.Writer, verdicts []Verdict) error {
	out := bufio.NewWriterSize(w, 1<<16)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for i := range verdicts {
		if err := e.Encode(&verdicts[i]); err != nil {
			return fmt.Errorf("write the verdict on %q: %w", text.OneLine(verdicts[i].ID), err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}
