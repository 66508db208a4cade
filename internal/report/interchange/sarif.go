package interchange

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// The objects of SARIF 2.1.0 (sections 3.13 to 3.52) that a report fills in.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool `json:"tool"`
		Results []result  `json:"results"`

		seen map[[sha256.Size]byte]int // hashes of results
	}
	sarifTool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name           string `json:"name"`
		Version        string `json:"version,omitempty"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	rule struct {
		ID      string `json:"id"`
		Short   texts  `json:"shortDescription"`
		HelpURI string `json:"helpUri"`
	}
	result struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"` // "error" blocks, "warning" does not
		Message      texts             `json:"message"`
		Locations    []location        `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	texts struct {
		Text string `json:"text"`
	}
	location struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// maxResults is how many results of a run GitHub shows ("SARIF support for code
	// scanning"); it refuses documents of more than 25,000.
	maxResults = 5000
	decision   = "decision"
)

// rules are the classes of verdicts.
var rules = map[gate.Class]string{
	gate.Mismatch:           "The host is not the one of the baseline",
	gate.CorrectnessFailure: "The cell gives a wrong answer, or a metric that must be equal differs",
	gate.RuntimeFailure:     "The cell did not run to the end",
	gate.Missing:            "The baseline has the cell or the metric, the run does not",
	gate.Implausible:        "A metric changed by a factor that code does not make",
	gate.Regressed:          "A metric is worse than the reference by more than the limit",
	gate.OverBudget:         "The geometric mean of a group of cells lost more than its budget",
	gate.OutOfBounds:        "A metric is below its minimum or above its maximum",
	gate.Drifted:            "A metric is worse than its anchor by more than the limit",
	gate.OperatorsDiffer:    "The operators are not the recorded ones",
	gate.Skipped:            "The host cannot run the cell",
	gate.LeftOut:            "A limit kept the cell from being measured",
	gate.Traded:             "A regression that a certain gain of another metric pays for",
	gate.Waived:             "A regression that a waiver accepts",
	gate.InQuarantine:       "A flaky cell that would block, but for its quarantine",
	gate.Inconclusive:       "The metric could not be judged",
	gate.Untracked:          "The baseline does not have the cell or the metric",
	gate.Improved:           "A metric is better than the reference",
	gate.Fixed:              "A cell that failed in the baseline passes",
	gate.Unchanged:          "No metric changed by more than the limit",
	decision:                "The gate does not pass",
}

// SARIF writes a result for each verdict that blocks or warns, at the line of the
// configuration where its suite begins; those that block come first, and at most 5,000. A
// decision that does not pass without any such verdict is a result as well. Cells that the
// baseline does not have yet are none.
func SARIF(w io.Writer, r report.Report) error {
	head := r.Head()
	run := sarifRun{Results: []result{}, seen: map[[sha256.Size]byte]int{}}
	run.Tool.Driver = driver{Name: "accelgate", Version: strings.TrimPrefix(head.Tool, "accelgate "), InformationURI: "https://github.com/accelgate/accelgate", Rules: []rule{}}
	type warning struct {
		report.Finding
		cell string
	}
	var warnings []warning
	for c := range r.Cells() {
		for _, f := range c.Findings {
			switch {
			case f.Level == gate.Fail:
				run.add(head.Config, "error", f, c.ID)
			case f.Level == gate.Warn && f.Class != gate.Untracked:
				warnings = append(warnings, warning{f, c.ID})
			}
		}
	}
	if len(run.Results) == 0 && !head.Decision.Status.Passes() {
		run.add(head.Config, "error", report.Finding{Class: decision, Message: r.Title(), Line: 1}, "")
	}
	for _, f := range warnings {
		run.add(head.Config, "warning", f.Finding, f.cell)
	}
	return text.WriteJSON(w, "  ", sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func (run *sarifRun) add(config, level string, f report.Finding, cell string) {
	if len(run.Results) == maxResults {
		return
	}
	driver := &run.Tool.Driver
	index := slices.IndexFunc(driver.Rules, func(r rule) bool { return r.ID == string(f.Class) })
	if index < 0 {
		index = len(driver.Rules)
		driver.Rules = append(driver.Rules, rule{ID: string(f.Class), Short: texts{rules[f.Class]}, HelpURI: docs})
	}
	// GitHub takes results of one rule with one hash for one alert, and its action computes
	// the hash from the line, which cells share.
	hash := sha256.Sum256([]byte(strings.Join([]string{f.Host, cell, f.Metric, string(f.Class)}, "\x00")))
	run.seen[hash]++
	message := f.Message
	if about := title(f); about != "" {
		message = about + ": " + message
	}
	res := result{RuleID: string(f.Class), RuleIndex: index, Level: level, Message: texts{message},
		Fingerprints: map[string]string{"primaryLocationLineHash": fmt.Sprintf("%x:%d", hash[:8], run.seen[hash])}}
	if uri := reference(config); uri != "" {
		var at location
		at.Physical.Artifact.URI, at.Physical.Region.StartLine = uri, f.Line
		res.Locations = []location{at}
	}
	run.Results = append(run.Results, res)
}
