// Package report shows. It turns runs, their comparisons and the decision into
// one [Report] value, and renders that as Markdown for a pull request, as text
// for a terminal and as JSON for programs. It decides nothing: every class,
// level and status is gate's, and no renderer changes it.
//
// Everything that was measured, or read from a pull request, is untrusted;
// escape.go is the only way from such a string into a report.
package report

import (
	"io"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// Renderer writes a report in one format. It fails only if w does.
type Renderer func(w io.Writer, r Report) error

// Input is everything a report is made of. It is not copied: leave what it
// points to alone for as long as the Report is in use.
type Input struct {
	Tool     string    // "accelgate v0.1.0"
	Now      time.Time // the age of a baseline is computed from it
	Policy   gate.Policy
	Decision gate.Decision // of the comparisons of all Hosts
	Hosts    []HostInput
	Revision string // commit under test
	Base     string // commit that policy and baselines were taken from
	// BaseBranch is the branch of Base; "" where it is not known.
	BaseBranch string
	Config     string // path of the configuration
	Name       string // of the configuration; "" where it has none
	// Lines are the lines of the configuration at which its suites begin, by the names of suites.
	Lines map[string]int
	Links Links
	// Checked is what the pull request changes in what is checked; nil if it
	// changes nothing.
	Checked *CheckedChanges
	Kinds   []Kind // what kinds of suites add, in the order of their sections
}

// HostInput is one host's run and the comparison it got.
type HostInput struct {
	Run *bench.Run // never nil
	// Reference is the baseline as a Run, nil without a baseline. Its Started
	// and Revision are when and at which commit it was captured.
	Reference *bench.Run
	// Path is the baseline's file, whether it exists or not.
	Path       string
	Source     *Source // nil where it is a file of the checkout
	Comparison gate.Comparison
	Commands   Commands // about this host
}

// Source is where a baseline was fetched from.
type Source struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	Digest     string `json:"sha256"` // of the file
}

// Links are http or https addresses; any other is left out.
type Links struct {
	Run    string // of the workflow run
	Report string // of the whole report
	// Cell returns the address of the page of a host's cell; nil where cells have no pages.
	Cell func(host, cell string) string `json:"-"`
}

// Commands are what a person types, each with the flags that make it about the
// same configuration, host and cells. The zero value means accelgate's own,
// without flags.
type Commands struct {
	Run    string // what was measured, again: "accelgate run --config a.yaml --suite s"
	Cell   string // the same, for a single cell: --only and its id follow
	RunAs  string // as Run, for another label: --host-label follows
	Update string // "accelgate baseline update"
	// UpdateAs is Update for another label: --host-label follows.
	UpdateAs string
	// Record is Update without the flags that chose cells: --only and an id follow.
	Record string
	Prune  string // "accelgate baseline prune"
	// Refresh writes new numbers into case files: "accelgate cases refresh".
	Refresh string
	Anchor  string // "accelgate baseline anchor"
	Bisect  string // "accelgate bisect"
	Base    string // checkout of the base that was measured in pairs; "" if unknown
	Dir     string // that the programs of cells start in; "" is the present one
}

func (c Commands) orDefault() Commands {
	set := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	set(&c.Run, "accelgate run")
	set(&c.Cell, c.Run)
	set(&c.RunAs, c.Run)
	set(&c.Update, "accelgate baseline update")
	set(&c.UpdateAs, c.Update)
	set(&c.Record, "accelgate baseline update")
	set(&c.Prune, "accelgate baseline prune")
	set(&c.Refresh, "accelgate cases refresh")
	set(&c.Anchor, "accelgate baseline anchor")
	set(&c.Bisect, "accelgate bisect")
	return c
}

// commands are those about the first host, which are the only one's.
func (r *Report) commands() Commands {
	if len(r.hosts) == 0 {
		return Commands{}.orDefault()
	}
	return r.hosts[0].Commands
}

// Report is what all renderers show. It is made by [New] and read-only.
type Report struct {
	in    Input
	hosts []host
	total findingCounts
	shown selection
	added []Blocks // by the kinds
}

// host is one HostInput with what was counted over its verdicts.
type host struct {
	*HostInput
	findingCounts
	metrics map[string]*bench.Metric // the reference's description wins, as in gate
	results map[string]*bench.Result // of the run, for the cells that are shown
	olds    map[string]*bench.Result // of the reference, likewise
	crashed map[string]*bench.Result // of the run, those with a log, by cell
	checks  map[string]*compat.Check // by cell
	// initial holds the cells of case files that block by their distance from the
	// initial time: new baseline times do not help them.
	initial map[string]bool
}

// New counts and ranks. Rows are picked here, in one pass, so that a report
// over 100,000 cells costs no more to render than one over a hundred.
func New(in Input) Report {
	p := &in.Policy
	for _, x := range []*float64{&p.Threshold, &p.Implausible, &p.LargestLimit, &p.MinEffect, &p.FalseAlarms, &p.Drift} {
		*x = finite(*x)
	}
	r := Report{in: in, hosts: make([]host, len(in.Hosts)), total: newTally(), shown: newSelection()}
	for i := range in.Hosts {
		h := &r.hosts[i]
		*h = host{
			HostInput:     &r.in.Hosts[i],
			findingCounts: newTally(),
			metrics:       describe(&in.Hosts[i]),
			checks:        compat.ByCell(in.Hosts[i].Comparison.Checks),
			initial:       map[string]bool{},
		}
		h.Commands = h.Commands.orDefault()
		h.scan()
		h.check(h.Run.Results)
		h.crashed = crashedResults(h.Run)
		r.shown.scan(i, h)
		r.total.merge(&h.findingCounts)
	}
	r.shown.action.settle()
	r.attachAxes()
	r.addBlocks()
	r.attach()
	return r
}

func describe(h *HostInput) map[string]*bench.Metric {
	metrics := map[string]*bench.Metric{}
	for _, run := range []*bench.Run{h.Run, h.Reference} {
		if run == nil {
			continue
		}
		for i := range run.Metrics {
			metrics[run.Metrics[i].Name] = &run.Metrics[i]
		}
	}
	return metrics
}

// attach looks up the results of the cells that are shown, and only of those:
// an id is built for each result that is passed over.
func (r *Report) attach() {
	wanted := make([]map[string]bool, len(r.hosts))
	for i := range wanted {
		wanted[i] = map[string]bool{}
	}
	s := &r.shown
	for _, rows := range [][]finding{s.action.rows, s.undecided.rows, s.excused.rows, s.untracked.rows} {
		for _, f := range rows {
			wanted[f.host][f.Cell] = true
		}
	}
	for _, rows := range [][]finding{s.speeds.rows, s.better.rows, s.unjudged.rows} {
		for _, f := range rows {
			if ref := r.hosts[f.host].Reference; r.in.Links.Cell != nil || ref != nil && len(ref.Earlier) > 0 {
				wanted[f.host][f.Cell] = true
			}
		}
	}
	for i := range r.hosts {
		h := &r.hosts[i]
		h.results = lookup(h.Run, wanted[i])
		h.olds = lookup(h.Reference, wanted[i])
	}
}

func lookup(run *bench.Run, wanted map[string]bool) map[string]*bench.Result {
	if run == nil || len(wanted) == 0 {
		return nil
	}
	found := make(map[string]*bench.Result, len(wanted))
	for i := range run.Results {
		if id := run.Results[i].Cell.ID(); wanted[id] {
			found[id] = &run.Results[i]
		}
	}
	return found
}

// finite keeps a number that no format can hold out of all of them.
func finite(x float64) float64 { return bench.FiniteOrZero(x) }
