package measure

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// declare notes the digest of the artifacts that a suite declares for a cell.
func (s *measuring) declare(of *suite.Plan, cell bench.Cell) error {
	if of.Artifacts == nil {
		return nil
	}
	digest, err := of.Artifacts(cell)
	if digest != "" {
		s.declared[cell.ID()] = digest
	}
	return err
}

// attach says of each result what it is of.
func (s *measuring) attach(results []bench.Result) {
	for i := range results {
		results[i].Artifacts = s.declared[results[i].Cell.ID()]
	}
}

// unchanged notes the cells whose artifacts are those of the reference: nothing
// in them can have become slower, so they are measured once, for their answers, unless --repeats says otherwise.
func (s *measuring) unchanged(ref *bench.Run) {
	if ref == nil || len(s.declared) == 0 || s.Plan.Options.Repeats > 0 {
		return
	}
	if same, _ := s.Plan.Host.Comparable(ref.Host.Fingerprint); !same {
		return
	}
	s.same = map[string]bool{}
	for i := range ref.Results {
		r := &ref.Results[i]
		if id := r.Cell.ID(); r.Outcome == bench.Passed && r.Artifacts != "" && r.Artifacts == s.declared[id] {
			s.same[id] = true
		}
	}
	if len(s.same) > 0 {
		fmt.Fprintf(s.Stderr, "accelgate: %s of which no artifact has changed since the baseline: measured once, for the answers\n",
			text.Plural(len(s.same), "cell"))
	}
}
