package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// The bounds of the frame's numbers.
const (
	maxRetries   = 10
	maxRemeasure = 100
	maxShards    = 256
	maxCacheGiB  = 1 << 20
	// The gate uses the newest 40 runs of a host, and change points need them.
	minHistoryKeep = 40
	maxHistoryKeep = 1000
	// A factor of 2 is a regression; one of a million is none that a gate need see.
	minImplausible = 2
	maxImplausible = 1_000_000
)

// choices checks the values of the frame that types cannot.
func (d *decoder) choices(f *File, nodes map[string]ast.Node) {
	p, l := f.Policy, f.Limits
	if p.Remeasure != nil {
		d.between(nodes["policy"], "policy.remeasure", *p.Remeasure, 0, maxRemeasure)
	}
	if p.HistoryKeep != nil {
		d.between(nodes["policy"], "policy.history_keep", *p.HistoryKeep, minHistoryKeep, maxHistoryKeep)
	}
	if p.Implausible != nil {
		d.between(nodes["policy"], "policy.implausible", *p.Implausible, minImplausible, maxImplausible)
	}
	d.between(nodes["host"], "host.cache_gib", f.Host.CacheGiB, 0, maxCacheGiB)
	d.between(nodes["limits"], "limits.retries", l.Retries, 0, maxRetries)
	d.between(nodes["limits"], "limits.max_cells", l.MaxCells, 0, 1_000_000)
	d.notNegative(nodes["limits"], "limits.budget", l.Budget)
	if l.CoolDown != nil {
		d.notNegative(nodes["limits"], "limits.cool_down", *l.CoolDown)
	}
	if l.Lease != nil {
		d.notNegative(nodes["limits"], "limits.lease", *l.Lease)
	}
}

// at finds the node of the last key of path below n, for its position.
func (d *decoder) at(n ast.Node, path string) ast.Node {
	_, key, _ := strings.Cut(path, ".")
	for _, p := range d.pairs(n, path) {
		if p.key == key {
			return p.node
		}
	}
	return n
}

// choice checks a field that takes one of several values; see [oneOf].
func (d *decoder) choice(n ast.Node, path string, f reflect.StructField, got reflect.Value) {
	want := oneOf(f)
	if len(want) > 0 && got.String() != "" && !slices.Contains(want, got.String()) {
		d.fail(start(n), fmt.Sprintf("%s: unknown value %s", path, quote(got.String())), "write "+strings.Join(want, ", "))
	}
}

func (d *decoder) between(n ast.Node, path string, got, low, high int) {
	if got < low || got > high {
		d.fail(start(d.nodeOf(n, path)), fmt.Sprintf("%s: is %d", path, got), fmt.Sprintf("write %d to %d", low, high))
	}
}

func (d *decoder) notNegative(n ast.Node, path string, got time.Duration) {
	if got < 0 {
		d.fail(start(d.at(n, path)), fmt.Sprintf("%s: is %v", path, got), "write a duration from 0 on, such as 30m")
	}
}

// nodeOf is at for what may be inside of a list, whose own position serves.
func (d *decoder) nodeOf(n ast.Node, path string) ast.Node {
	if strings.Contains(path, "[") {
		return n
	}
	return d.at(n, path)
}
