package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Watchdog describes how measurements that fail or hang are treated.
type Watchdog struct {
	// Retries is how often a measurement is repeated, by the cause of its failure.
	Retries map[string]int `yaml:"retries"`
	// NoOutput is how long a child may print nothing; 0 for no bound.
	NoOutput time.Duration `yaml:"no_output"`
	// OnTimeout is "dump" if a child that is stopped prints its stacks; "" if not.
	OnTimeout string `yaml:"on_timeout" oneof:"dump"`
	// CellTimeouts bound one process of the cells that they select; the last one wins.
	CellTimeouts []CellTimeout `yaml:"cell_timeouts"`
}

// CellTimeout bounds one process of some cells.
type CellTimeout struct {
	When    map[string]string `yaml:"when,required"` // as in [Limit]
	Timeout time.Duration     `yaml:"timeout,required"`
}

// Watches reports whether children are watched in another way than by the kind's own keys.
func (a *Watchdog) Watches() bool {
	return a.NoOutput > 0 || a.OnTimeout != "" || len(a.CellTimeouts) > 0
}

// retried are the causes for which a measurement may be repeated. Wrong answers are none, and a
// program that exits with an error may report one.
var retried = []string{"crash", "machine", "oom", "silent", "start", "timeout"}

// checkWatchdog complains about values that cannot be meant.
func (d *decoder) checkWatchdog(s *Suite, nodes map[string]ast.Node) {
	complain := func(path, format string, args ...any) {
		d.errs = append(d.errs, s.Errorf(path, format, args...))
	}
	for _, p := range d.pairsOf(nodes["retries"], s.path+".retries") {
		n := s.Retries[p.key]
		switch {
		case !slices.Contains(retried, p.key):
			complain("retries."+p.key, "is not a cause that is measured again: write %s", strings.Join(retried, ", "))
		case n < 0 || n > maxRetries:
			complain("retries."+p.key, "is %d: write 0 to %d", n, maxRetries)
		}
	}
	if nodes["no_output"] != nil && s.NoOutput <= 0 {
		complain("no_output", "is %v: write a positive duration such as 60s", s.NoOutput)
	}
	for i, t := range s.CellTimeouts {
		path := fmt.Sprintf("cell_timeouts[%d]", i)
		switch {
		case t.Timeout <= 0:
			complain(path+".timeout", "is %v: write a positive duration such as 10m", t.Timeout)
		case len(t.When) == 0:
			complain(path+".when", "is empty: name an axis, a swept variable or host")
		}
	}
}

// pairsOf is pairs of a node that may be absent.
func (d *decoder) pairsOf(n ast.Node, path string) []pair {
	if n == nil {
		return nil
	}
	return d.pairs(n, path)
}
