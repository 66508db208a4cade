package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// SuspectRange says with which commits the losses began that a run confirms: one of those
// after After, up to Suspected, made the code slower. A commit is "" where it is
// unknown.
type SuspectRange struct {
	After     string `json:"after"`     // last run on the old level
	Suspected string `json:"suspected"` // run that was suspected first
	Confirmed string `json:"confirmed"` // this run, which confirms it
	Numbers   int    `json:"numbers"`   // that are confirmed
}

// nextRun is what the newest run of the history and this run show together. nil
// looks at nothing.
type nextRun struct {
	last    int // place of the newest run among Run.Earlier
	newer   int // runs after it, which do not count
	cells   []detect.Cell
	numbers []seriesKey
}

// newNextRun returns nil where this run does not come after those of the history on
// the same branch, or where the history says too little.
func newNextRun(in *inputs) *nextRun {
	if in.ref == nil || !in.onBranch() {
		return nil
	}
	earlier := in.ref.Earlier
	last := len(earlier) - 1
	for last >= minRuns && !(earlier[last].At.Before(in.run.Started) && healthyRun(in.ref, len(earlier)-last)) {
		last--
	}
	if last < minRuns {
		return nil
	}
	return &nextRun{last: last, newer: len(earlier) - 1 - last}
}

// onBranch reports whether the run is of the branch whose runs are the history.
func (in *inputs) onBranch() bool {
	return in.policy.NextRun || in.run.Context[bench.DefaultBranch] != ""
}

// healthyRun reports whether a run of the history, counted from the end, has a number
// that counts for the level.
func healthyRun(ref *bench.Run, fromEnd int) bool {
	for i := range ref.Results {
		for j := range ref.Results[i].Samples {
			if s := &ref.Results[i].Samples[j]; fromEnd <= len(s.History) && len(s.Level()[len(s.History)-fromEnd]) > 0 {
				return true
			}
		}
	}
	return false
}

// add notes a number that one run cannot convict.
func (n *nextRun) add(samples detect.Cell, c cell, metric string) {
	if n == nil || !few(samples) {
		return
	}
	level := c.ref.Sample(metric).Level()
	samples.Base, samples.Head = detect.OneEach(level[:max(0, len(level)-n.newer)], c.got.Sample(metric).Values)
	n.cells, n.numbers = append(n.cells, samples), append(n.numbers, seriesKey{c.id, metric})
}

func (n *nextRun) any() bool { return n != nil && len(n.cells) > 0 }

// confirmed returns the evidence of both runs on losses that both show, each by itself.
func (n *nextRun) confirmed(share float64) map[seriesKey]testResult {
	of := map[seriesKey]testResult{}
	for i, e := range detect.JudgeNext(n.cells, share).Cells {
		if e.Verdict != detect.Regressed {
			continue
		}
		samples := n.cells[i]
		last := len(samples.Base) - 1
		samples.Base, samples.Head = samples.Base[:last], []float64{samples.Base[last], samples.Head[0]}
		of[n.numbers[i]] = testResult{Evidence: e, Cell: samples, confirmed: true}
	}
	return of
}

// suspectRange names the commits of both runs.
func (n *nextRun) suspectRange(in *inputs) SuspectRange {
	earlier := in.ref.Earlier
	return SuspectRange{After: earlier[n.last-1].Revision, Suspected: earlier[n.last].Revision, Confirmed: in.run.Revision}
}

// standing counts the confirmed losses among the verdicts; nil where there is none.
func (b SuspectRange) standing(verdicts []Verdict) *SuspectRange {
	for i := range verdicts {
		if v := &verdicts[i]; v.Confirmed && v.Finding == Regressed && !v.Undecided() {
			b.Numbers++
		}
	}
	if b.Numbers == 0 {
		return nil
	}
	return &b
}

// suspectedBefore is the reason of a loss that this run confirms.
func suspectedBefore(b SuspectRange) string {
	return fmt.Sprintf("suspected in the run before, of %s, and confirmed by this one", commitOf(b.Suspected))
}

func commitOf(revision string) string {
	if revision = text.Visible(revision, shortRevision); revision == "" {
		return "an unknown commit"
	}
	return revision
}
