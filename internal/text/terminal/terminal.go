// Package terminal says what the terminal behind a stream can show: its width, colours
// and hyperlinks, by the variables that users set for it.
package terminal

import (
	"cmp"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Terminal is what can be shown. The zero value is a file or a pipe.
type Terminal struct {
	Is      bool // a terminal, and not a file or a pipe
	Columns int  // 0 if unknown
	Color   bool
	Links   bool // hyperlinks by OSC 8
	Over    bool // its last line can be written over: it has a size
}

// Of describes what is behind w. NO_COLOR (https://no-color.org) wins over FORCE_COLOR,
// and COLUMNS over the terminal's own width.
func Of(w io.Writer, getenv func(string) string) Terminal {
	t := Terminal{Is: Is(w)}
	able := t.Is && getenv("TERM") != "dumb"
	t.Color = getenv("NO_COLOR") == "" && (able || forced(getenv("FORCE_COLOR")))
	t.Links = forced(getenv("FORCE_HYPERLINK")) || able && links(getenv)
	if f, ok := w.(*os.File); ok && t.Is {
		t.Columns, _, _ = term.GetSize(int(f.Fd()))
		t.Over = able && t.Columns > 0
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		t.Columns = columns
	}
	return t
}

// Narrowest is the width below which nothing is laid out.
const Narrowest = 40

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func forced(value string) bool { return value != "" && value != "0" && value != "false" }

// links reports a terminal that is known to show hyperlinks: others print the escape.
// See https://github.com/Alhadis/OSC8-Adoption.
func links(getenv func(string) string) bool {
	vte, _ := strconv.Atoi(getenv("VTE_VERSION"))
	switch strings.ToLower(getenv("TERM_PROGRAM")) {
	case "iterm.app", "wezterm", "vscode", "ghostty", "tabby", "hyper":
		return true
	}
	name := getenv("TERM")
	return vte >= 5000 || cmp.Or(getenv("WT_SESSION"), getenv("KITTY_WINDOW_ID"), getenv("KONSOLE_VERSION")) != "" ||
		strings.Contains(name, "kitty") || strings.Contains(name, "alacritty") || strings.Contains(name, "ghostty")
}

// Link is a hyperlink. Label and address must hold no control characters.
func Link(label, address string) string {
	return "\x1b]8;;" + address + "\x1b\\" + label + "\x1b]8;;\x1b\\"
}
