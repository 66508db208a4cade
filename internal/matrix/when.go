package matrix

import (
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// When is the key "when" of an entry of a suite: which cells it is for, and on which hosts.
type When struct {
	Host  string // glob of labels; "" is every host
	Cells Match  // every cell if empty
}

// HostKey is the key of the host beside the parameters of cells.
const HostKey = "host"

// WhenOf separates the host from the parameters of cells.
func WhenOf(keys map[string]string) When {
	w := When{Host: keys[HostKey], Cells: maps.Clone(keys)}
	delete(w.Cells, HostKey)
	return w
}

// On reports whether the entry is for a host.
func (w *When) On(host string) bool { return w.Host == "" || Glob(w.Host, host) }

// Selects reports whether the entry is for a cell.
func (w *When) Selects(c bench.Cell) bool { return len(w.Cells) == 0 || w.Cells.Selects(c) }

// String writes "backend: cuda*, host: h100-*".
func (w When) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(w.Cells)) {
		parts = append(parts, key+": "+w.Cells[key])
	}
	if w.Host != "" {
		parts = append(parts, HostKey+": "+w.Host)
	}
	return strings.Join(parts, ", ")
}
