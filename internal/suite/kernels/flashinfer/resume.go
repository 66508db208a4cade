package flashinfer

// Key describes what a result depends on, as digests. A result holds for as long as
// none of them changes.
type Key struct {
	Definition  string `json:"definition"`  // [Definition.Hash]
	Solution    string `json:"solution"`    // [Solution.Hash]
	Workload    string `json:"workload"`    // [Workload.Hash]
	Config      string `json:"config"`      // of the configuration that holds for the definition
	Environment string `json:"environment"` // of host, device, driver and libraries
}

// NewKey returns the key of a case. The digests of configuration and
// environment are the caller's.
func NewKey(d *Definition, s *Solution, w *Workload, config, environment string) Key {
	return Key{d.Hash(), s.Hash(), w.Hash(), config, environment}
}

// Case is a solution with a workload, under a key. Two solutions of one
// content are two cases.
type Case struct {
	Definition, Solution, UUID string // names, and the workload's uuid
	Key                        Key
}

// Case returns what the trace is the result of. Traces of other tools have no
// key.
func (t *Trace) Case() Case {
	c := Case{Definition: t.Definition, Solution: t.Solution, UUID: t.Workload.UUID}
	if t.Evaluation != nil && t.Evaluation.Gate != nil {
		c.Key = t.Evaluation.Gate.Key
	}
	return c
}

// Results are the latest traces of cases.
type Results map[Case]*Trace

// Index returns the last trace of each case. Traces without a key, as upstream
// writes them, are none: their settings are unknown.
func Index(traces []*Trace) Results {
	results := make(Results, len(traces))
	for _, t := range traces {
		if c := t.Case(); c.Key != (Key{}) {
			results[c] = t
		}
	}
	return results
}

// Done returns the trace of a case that need not be measured again: the last
// one, if it passed. A failure is measured again, because its cause may be
// gone.
func (r Results) Done(c Case) (*Trace, bool) {
	t := r[c]
	if t == nil || t.Evaluation == nil || t.Evaluation.Status != Passed {
		return nil, false
	}
	return t, true
}
