package report

// status is a decision or a host's verdict: a sign for Markdown, a word for
// plain text.
type status struct {
	sign, mark string // "❌", "FAIL"
	word       string // "Failed", or empty where the sentence says it all
}

func (s status) headline(sentence inline) inline {
	if s.word == "" {
		return sentence
	}
	return append(inline{plain(s.word + ": ")}, sentence...)
}

var (
	failed         = status{"❌", "FAIL", "Failed"}
	passed         = status{"✅", "PASS", "Passed"}
	unjudged       = status{"⚠️", "WARN", ""}
	actionRequired = status{"⚠️", "ACTION REQUIRED", "Action required"}
	noEvidence     = status{"❔", "NO EVIDENCE", "No evidence"}
	inconclusive   = status{"⚠️", "INCONCLUSIVE", "Inconclusive"}
)
