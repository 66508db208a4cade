// Package list lists what a configuration and its baselines have: suites
// and their cells, hosts with their baselines and their history. It measures nothing and
// judges nothing.
package list

import (
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// Inventory is what there is.
type Inventory struct {
	Config string  `json:"config"`
	Host   string  `json:"host"` // whose cells are listed
	Suites []Suite `json:"suites"`
	Hosts  []Host  `json:"hosts"`
	Cells  []Cell  `json:"cells"`
}

// Suite is a suite of the configuration.
type Suite struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Cells   int    `json:"cells"`   // that the host can run
	Skipped int    `json:"skipped"` // that it cannot
}

// Host is a label with a baseline, a history or a runner.
type Host struct {
	Label    string    `json:"label"`
	Device   string    `json:"device,omitempty"`
	Baseline string    `json:"baseline,omitempty"` // its path, or where else it is; absent if there is none
	Cells    int       `json:"cells"`              // in the baseline
	Captured time.Time `json:"captured,omitzero"`
	Commit   string    `json:"commit,omitempty"`
	Runs     int       `json:"runs"`              // in the history
	Runner   bool      `json:"runner"`            // of the configuration
	Problem  string    `json:"problem,omitempty"` // why a file cannot be read
}

// Cell is a cell of the configuration, or one that only baselines have.
type Cell struct {
	ID    string `json:"id"`
	Suite string `json:"suite,omitempty"` // absent if the configuration does not have it
	// Baselines are the labels of the hosts whose baselines have the cell.
	Baselines []string `json:"baselines"`
}

// Take lists what an opened plan, its baselines and the histories beside its configuration have.
func Take(p *measure.Plan, baselines []judge.Baseline) (Inventory, error) {
	inv := Inventory{Config: p.Options.Config, Host: p.Host.Label, Suites: []Suite{}, Hosts: []Host{}, Cells: []Cell{}}
	at := map[string]int{}
	for i, s := range p.Suites {
		inv.Suites = append(inv.Suites, Suite{s.Name, p.File.Suites[i].Kind, len(s.Cells), len(s.Skipped)})
		for _, c := range s.Cells {
			at[c.ID()] = len(inv.Cells)
			inv.Cells = append(inv.Cells, Cell{ID: c.ID(), Suite: s.Name, Baselines: []string{}})
		}
	}
	labels, err := known(p, baselines)
	for _, label := range labels {
		host, ids := hostOf(p, label, baselines)
		inv.Hosts = append(inv.Hosts, host)
		for _, id := range ids {
			if _, has := at[id]; !has {
				at[id] = len(inv.Cells)
				inv.Cells = append(inv.Cells, Cell{ID: id})
			}
			c := &inv.Cells[at[id]]
			c.Baselines = append(c.Baselines, label)
		}
	}
	return inv, err
}

// known are the labels of baselines, histories and runners, sorted.
func known(p *measure.Plan, baselines []judge.Baseline) (labels []string, err error) {
	for _, r := range p.File.Runners {
		labels = append(labels, r.Host)
	}
	for _, b := range baselines {
		labels = append(labels, b.Label)
	}
	histories, err := p.Options.Histories(p.File)
	labels = append(labels, histories...)
	slices.Sort(labels)
	return slices.Compact(labels), err
}

// hostOf reads what there is of a host, with the ids of its baseline.
func hostOf(p *measure.Plan, label string, baselines []judge.Baseline) (h Host, ids []string) {
	h = Host{Label: label}
	for _, r := range p.File.Runners {
		h.Runner = h.Runner || r.Host == label
	}
	if i := slices.IndexFunc(baselines, func(b judge.Baseline) bool { return b.Label == label }); i >= 0 {
		ids = h.has(baselines[i])
	}
	kept := p.Options.HistoryPath(p.File, label)
	if file, err := history.Load(kept); err == nil {
		h.Runs = file.Len()
	} else if exists(kept) {
		h.Problem = err.Error()
	}
	return h, ids
}

// has adds the host's baseline, and returns the ids of its cells.
func (h *Host) has(b judge.Baseline) (ids []string) {
	h.Baseline = b.Path
	if b.Err != nil {
		h.Problem = b.Err.Error()
		return nil
	}
	run := b.File.Run()
	h.Cells, h.Captured, h.Commit, h.Device = len(b.File.Entries), b.File.CapturedAt, run.Revision, run.Host.Device()
	for i := range b.File.Entries {
		ids = append(ids, b.File.Entries[i].CaseID)
	}
	return ids
}
