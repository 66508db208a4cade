package list

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Print writes suites and hosts as tables.
func (inv *Inventory) Print(w io.Writer, columns int) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "suite\tkind\tcells on %s\tskipped\n", text.OneLine(inv.Host))
	for _, s := range inv.Suites {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\n", text.OneLine(s.Name), text.OneLine(s.Kind), s.Cells, s.Skipped)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(inv.Hosts) == 0 {
		_, err := fmt.Fprintf(w, "\nno host has a baseline: record this one's with 'accelgate baseline update --reason TEXT'\n")
		return err
	}
	fmt.Fprintf(t, "\nhost\tdevice\tbaseline\tcells\tcaptured\tcommit\thistory\n")
	for i := range inv.Hosts {
		inv.Hosts[i].print(t)
	}
	return t.Flush()
}

func (h *Host) print(w io.Writer) {
	captured := "-"
	if !h.Captured.IsZero() {
		captured = h.Captured.Format("2006-01-02")
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", text.OneLine(h.Label), or(h.Device), or(cmp.Or(h.Problem, h.Baseline)), h.Cells,
		captured, or(text.Cut(h.Commit, 12)), text.Plural(h.Runs, "run"))
}

// or is a foreign text in a cell of a table, "-" if there is none.
func or(s string) string { return text.OneLine(cmp.Or(s, "-")) }

// PrintCells writes each cell with the hosts whose baselines have it.
func (inv *Inventory) PrintCells(w io.Writer, columns int) error {
	t := terminal.NewTable(w, columns)
	fmt.Fprintf(t, "cell\tsuite\tbaselines\n")
	for _, c := range inv.Cells {
		fmt.Fprintf(t, "%s\t%s\t%s\n", text.OneLine(c.ID), text.OneLine(cmp.Or(c.Suite, "(not in the configuration)")),
			or(strings.Join(c.Baselines, ", ")))
	}
	return t.Flush()
}
