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
		Level        string            `json:"level"` // of levels
		Message      texts             `json:"message"`
		Locations    []location        `json:"locations,omitempty"`
		Suppressions []suppression     `json:"suppressions,omitempty"` // excuses
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	suppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
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

// levels are SARIF's words.
var levels = map[report.Severity]string{report.Error: "error", report.Warning: "warning", report.Notice: "note"}

// rules are the findings.
var rules = map[gate.Finding]string{
	gate.OtherHost:    "The host is not the one of the baseline",
	gate.Incorrect:    "The cell gives a wrong answer, or a number that must be equal differs",
	gate.Crashed:      "The cell did not run to its end",
	gate.Missing:      "The baseline or the configuration demands the cell or the metric, and the run does not have it",
	gate.Incomparable: "The numbers of both sides do not mean the same",
	gate.OutOfBounds:  "A metric is below its minimum or above its maximum",
	gate.Implausible:  "A metric changed by a factor that code does not make",
	gate.Regressed:    "A metric is worse than the reference by more than the limit",
	gate.OverBudget:   "The geometric mean of a group of cells lost more than its budget",
	gate.Drifted:      "A metric is worse than an older reference by more than the limit",
	gate.PartsDiffer:  "The operators are not the recorded ones",
	gate.Unrecorded:   "A gain that the baseline must record",
	gate.Skipped:      "The cell was not measured, and nothing demands it",
	gate.Untracked:    "No reference of this host has the cell or the metric",
	gate.Improved:     "A metric is better than the reference",
	gate.Fixed:        "A cell that failed in the baseline passes",
	gate.Unchanged:    "A loss beyond the limit is not excluded",
	decision:          "The gate does not pass",
}

// SARIF writes a result for each finding that is not unchanged, at the line of the
// configuration where its suite begins; the worst come first, and at most 5,000. A decision
// that does not pass without a finding that blocks is a result as well.
func SARIF(w io.Writer, r report.Report) error {
	head := r.Head()
	run := sarifRun{Results: []result{}, seen: map[[sha256.Size]byte]int{}}
	run.Tool.Driver = driver{
		Name:           "accelgate",
		Version:        strings.TrimPrefix(head.Tool, "accelgate "),
		InformationURI: "https://github.com/accelgate/accelgate",
		Rules:          []rule{},
	}
	all := listed(r)
	if head.Decision.Code() != 0 && (len(all) == 0 || !all[0].Blocks) {
		run.add(head.Config, report.Finding{Finding: decision, Blocks: true, Message: r.Title(), Line: 1})
	}
	for _, f := range all {
		run.add(head.Config, f)
	}
	return text.WriteJSON(w, "  ", sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

// listed are all findings that are not unchanged, the worst first.
func listed(r report.Report) []report.Finding {
	var all []report.Finding
	for c := range r.Cells() {
		for _, f := range c.Findings {
			if f.Listed {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, report.WorstFirst)
	return all
}

func (run *sarifRun) add(config string, f report.Finding) {
	if len(run.Results) == maxResults {
		return
	}
	driver := &run.Tool.Driver
	index := slices.IndexFunc(driver.Rules, func(r rule) bool { return r.ID == string(f.Finding) })
	if index < 0 {
		index = len(driver.Rules)
		driver.Rules = append(driver.Rules, rule{ID: string(f.Finding), Short: texts{rules[f.Finding]}, HelpURI: docs})
	}
	// GitHub takes results of one rule with one hash for one alert, and its action computes
	// the hash from the line, which cells share.
	hash := sha256.Sum256([]byte(strings.Join([]string{f.Host, f.Cell, f.Metric, string(f.Finding)}, "\x00")))
	run.seen[hash]++
	message := f.Message
	if about := title(f); about != "" {
		message = about + ": " + message
	}
	res := result{RuleID: string(f.Finding), RuleIndex: index, Level: levels[f.Severity()], Message: texts{message},
		Fingerprints: map[string]string{"primaryLocationLineHash": fmt.Sprintf("%x:%d", hash[:8], run.seen[hash])}}
	if f.Excuse != "" {
		res.Suppressions = []suppression{{Kind: "external", Justification: f.Excuse}}
	}
	if uri := reference(config); uri != "" {
		var at location
		at.Physical.Artifact.URI, at.Physical.Region.StartLine = uri, f.Line
		res.Locations = []location{at}
	}
	run.Results = append(run.Results, res)
}
