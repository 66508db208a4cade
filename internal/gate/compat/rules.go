// Package compat holds what the rules of other tools change in the gate: a row for each tool. It compares the totals of
// cells with those of their suites' files, in msmodeling's words, by the gate's own rules as well. It decides nothing.
package compat

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// Tool is the tool whose rules are applied in place of the gate's own.
type Tool string

// The tools.
const (
	None        Tool = "" // the gate's own rules
	TensorSharp Tool = "tensorsharp"
	MSModeling  Tool = "msmodeling" // its checker at commit 21de24d3
	// InferenceBench compares two documents.
	InferenceBench Tool = "inferencebench"
	// MSModeling84 has no groups and no largest increase: those came after commit 84fec85.
	MSModeling84 Tool = "msmodeling@84fec85"
)

// Rules are what the gate does by a tool's rules. The zero value judges only the outcomes of cells, and speeds by the
// threshold.
type Rules struct {
	Statistics  bool // tests of pairs, history and sessions judge speeds, and counts are judged without noise
	Entries     bool // the configuration's entries about cells count, and so does its rule on gains
	Context     bool // a loss is compared with the host's state, with covariates and with the losses of other cells
	Hosts       bool // hosts of one kind are distinguished
	AnyHost     bool // a reference without a host is of this one
	Implausible bool // a change by a large factor blocks
	Unguarded   bool // numbers without a reference are counted
	Complete    bool // cells and metrics that the run lacks are missing, and values that a metric cannot have fail a cell
	RawIDs      bool // the values in names of cells are as the tool writes them
	// Judge judges the outcome and the speed of a cell; nil leaves both to the gate's own rules, which judge the outcome of
	// any cell. ref is nil where the reference does not have the cell; threshold is in percent.
	Judge func(ref, got *bench.Result, threshold float64) Judgement
	// Metrics are the ones that are judged; nil for all that the run does not call informational.
	Metrics []string
	// Order sorts verdicts by the names of their findings, and by cell; nil keeps the gate's own order.
	Order []string
	// Totals are the rules for the recorded totals of cells.
	Totals Totals
	// Change judges a number of two documents; nil leaves it to the gate's own rules. A nil number is none, tolerance is a
	// fraction.
	Change func(old, now *float64, better bench.Direction, tolerance float64) Change
}

var own = Rules{Statistics: true, Entries: true, Context: true, Hosts: true, Implausible: true, Unguarded: true, Complete: true,
	Totals: Totals{Groups: true, Written: true}}

var tools = map[Tool]*Rules{
	None:           &own,
	TensorSharp:    &tensorSharp,
	InferenceBench: &inferenceBench,
	MSModeling:     {Complete: true, Totals: Totals{Judge: judgeTwoSided, Mean: meanDistance, Groups: true, Written: true, Implied: true}},
	MSModeling84:   {Complete: true, Totals: Totals{Judge: judgeTwoSided}},
}

// Rules returns the rules of the tool. An unknown tool has the gate's own.
func (t Tool) Rules() *Rules {
	if r := tools[t]; r != nil {
		return r
	}
	return &own
}

// Judges reports whether the metric is judged.
func (r *Rules) Judges(metric string, informational bool) bool {
	if r.Metrics == nil {
		return !informational
	}
	return slices.Contains(r.Metrics, metric)
}
