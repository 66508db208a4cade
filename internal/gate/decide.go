package gate

import "slices"

// Status is the decision in a word.
type Status string

// The statuses.
const (
	StatusPassed Status = "passed"
	StatusFailed Status = "failed"
	// StatusActionRequired: nothing is wrong, but a baseline that the policy
	// demands is missing or is of another machine, or what is checked was changed.
	StatusActionRequired Status = "action_required"
	// StatusNoEvidence: nothing blocks, and on some host not one cell passed, or
	// parts of its matrix are missing.
	StatusNoEvidence Status = "no_evidence"
	// StatusInconclusive: nothing blocks, and on some host most cells stay
	// inconclusive; see [Comparison.Inconclusive]. The exit code is that of passed.
	StatusInconclusive Status = "inconclusive"
)

// Statuses lists every status.
var Statuses = []Status{StatusPassed, StatusFailed, StatusActionRequired, StatusNoEvidence, StatusInconclusive}

// Passes reports whether a command with this decision exits with 0.
func (s Status) Passes() bool { return s == StatusPassed || s == StatusInconclusive }

// Decision sums up all comparisons of one invocation.
type Decision struct {
	Status Status        `json:"status"`
	Counts map[Class]int `json:"counts"`
	// Blocking counts the verdicts of level Fail by class.
	Blocking map[Class]int `json:"blocking"`
	Measured int           `json:"measured"` // cells
	Judged   int           `json:"judged"`   // verdicts that rest on numbers of both sides
	// SpeedCells counts the cells with a speed to decide, and Undecided those of them
	// of which one stays inconclusive.
	SpeedCells int `json:"speed_cells,omitempty"`
	Undecided  int `json:"undecided_cells,omitempty"`
	// Unjudged counts the comparisons whose speed could not be judged.
	Unjudged int `json:"unjudged"`
	// Uncompared counts the suites, over all comparisons, of which not one number
	// was compared.
	Uncompared int `json:"uncompared,omitempty"`
	// Unbuilt says that the comparisons that block are of runs of which nothing was
	// measured, because the checkout could not be built. The exit code is that of no evidence.
	Unbuilt bool `json:"unbuilt,omitempty"`
	// Unapproved says that the pull request changes what is checked, without the
	// approval that the policy demands.
	Unapproved bool `json:"unapproved,omitempty"`
	// Waivers are all of the policy, over all comparisons, and Quarantine all quarantined
	// cells.
	Waivers    []WaiverUse     `json:"waivers,omitempty"`
	Quarantine []QuarantineUse `json:"quarantine,omitempty"`
}

// Decide sums up. The worst comparison wins; a comparison without a single cell
// that passed is no evidence, however green the others are, unless something
// failed.
func Decide(comparisons []Comparison, p Policy) Decision {
	d := Decision{Counts: map[Class]int{}, Blocking: map[Class]int{}, Unapproved: p.Unapproved}
	evidence, inconclusive := len(comparisons) > 0, false
	for i := range comparisons {
		c := &comparisons[i]
		d.Measured += c.Measured
		evidence = evidence && c.Passed > 0 && (p.Part || len(c.MissingShards) == 0)
		d.Uncompared += len(c.Uncompared)
		if c.Unjudged != "" {
			d.Unjudged++
		}
		d.count(c.Verdicts)
		cells, undecided := c.undecided()
		d.SpeedCells, d.Undecided = d.SpeedCells+cells, d.Undecided+undecided
		inconclusive = inconclusive || c.Inconclusive()
	}
	d.Waivers, d.Quarantine = waiversOf(comparisons, p), quarantineOf(comparisons, p)
	d.Unbuilt = len(d.Blocking) > 0 && d.Blocking[CorrectnessFailure] == 0 && !slices.ContainsFunc(comparisons, func(c Comparison) bool { return !c.Unbuilt && c.blocks() })
	switch {
	case len(d.Blocking) > 0:
		d.Status = StatusFailed
	case !evidence:
		d.Status = StatusNoEvidence
	case d.Unjudged+d.Uncompared > 0 && p.RequireBaseline, d.Unapproved:
		d.Status = StatusActionRequired
	case inconclusive:
		d.Status = StatusInconclusive
	default:
		d.Status = StatusPassed
	}
	return d
}

// blocks reports whether a verdict of the comparison blocks.
func (c *Comparison) blocks() bool {
	return slices.ContainsFunc(c.Verdicts, func(v Verdict) bool { return v.Level == Fail })
}

func (d *Decision) count(verdicts []Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		d.Counts[v.Class]++
		if v.Level == Fail {
			d.Blocking[v.Class]++
		}
		if v.judged() {
			d.Judged++
		}
	}
}

// Inconclusive reports whether the speed of more than half of the cells that have
// one stays inconclusive: what the others show is not what the run was for.
func (c *Comparison) Inconclusive() bool {
	cells, undecided := c.undecided()
	return 2*undecided > cells
}

// undecided counts the cells with a speed to decide, and those of them of which one
// stays inconclusive. The verdicts of one cell are adjacent.
func (c *Comparison) undecided() (cells, undecided int) {
	for rest := c.Verdicts; len(rest) > 0; {
		some, open, n := false, false, 0
		for ; n < len(rest) && rest[n].Cell == rest[0].Cell; n++ {
			of, undecided := rest[n].speed()
			some, open = some || of, open || undecided
		}
		cells, undecided, rest = cells+one(some), undecided+one(open), rest[n:]
	}
	return cells, undecided
}

// speed reports whether the verdict is on a speed of a cell that was to be decided,
// and whether it stays inconclusive. One that a host has no reference for is
// unjudged, which has a status of its own.
func (v *Verdict) speed() (of, undecided bool) {
	undecided = v.Class == Inconclusive && v.Level != Off && v.Cell != "" && v.Metric != ""
	return undecided || v.Cell != "" && v.Metric != "" && (v.Evidence.Method == "evidence" || v.Evidence.Method == "threshold"), undecided
}
