package gate

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
)

// Decision sums up all comparisons of one invocation.
type Decision struct {
	Status Status        `json:"status"`
	Counts map[Class]int `json:"counts"`
	// Blocking counts the verdicts of level Fail by class.
	Blocking map[Class]int `json:"blocking"`
	Measured int           `json:"measured"` // cells
	Judged   int           `json:"judged"`   // verdicts that rest on numbers of both sides
	// Unjudged counts the comparisons whose speed could not be judged.
	Unjudged int `json:"unjudged"`
	// Uncompared counts the suites, over all comparisons, of which not one number
	// was compared.
	Uncompared int `json:"uncompared,omitempty"`
	// Unapproved says that the pull request changes what is checked, without the
	// approval that the policy demands.
	Unapproved bool `json:"unapproved,omitempty"`
	// Waivers are all of the policy, over all comparisons.
	Waivers []WaiverUse `json:"waivers,omitempty"`
}

// Decide sums up. The worst comparison wins; a comparison without a single cell
// that passed is no evidence, however green the others are, unless something
// failed.
func Decide(comparisons []Comparison, p Policy) Decision {
	d := Decision{Counts: map[Class]int{}, Blocking: map[Class]int{}, Unapproved: p.Unapproved}
	evidence := len(comparisons) > 0
	for i := range comparisons {
		c := &comparisons[i]
		d.Measured += c.Measured
		evidence = evidence && c.Passed > 0 && (p.Part || len(c.MissingShards) == 0)
		d.Uncompared += len(c.Uncompared)
		if c.Unjudged != "" {
			d.Unjudged++
		}
		d.count(c.Verdicts)
	}
	d.Waivers = waiversOf(comparisons, p)
	switch {
	case len(d.Blocking) > 0:
		d.Status = StatusFailed
	case !evidence:
		d.Status = StatusNoEvidence
	case d.Unjudged+d.Uncompared > 0 && p.RequireBaseline, d.Unapproved:
		d.Status = StatusActionRequired
	default:
		d.Status = StatusPassed
	}
	return d
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
