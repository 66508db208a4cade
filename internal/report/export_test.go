package report

import "io"

// Terminal renders plain text for a terminal of 100 columns.
func Terminal(w io.Writer, r Report) error { return TerminalWith(TerminalOptions{})(w, r) }
