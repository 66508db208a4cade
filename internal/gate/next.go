package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

// Began says with which commits the losses began that a run confirms: one of those
// after After, up to Suspected, made the code slower. A commit is "" where it is
// unknown.
type Began struct {
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
	numbers []numberOf
}

// newNextRun returns nil where this run does not come after those of the history on
// the same branch, or where the history says too little.
func (c *comparer) newNextRun() *nextRun {
	if c.ref == nil || !c.policy.NextRun && c.run.Context[bench.DefaultBranch] == "" {
		return nil
	}
	last := len(c.ref.Earlier) - 1
	for last >= leastRuns && !(c.ref.Earlier[last].At.Before(c.run.Started) && c.healthyRun(len(c.ref.Earlier)-last)) {
		last--
	}
	if last < leastRuns {
		return nil
	}
	return &nextRun{last: last, newer: len(c.ref.Earlier) - 1 - last}
}

// healthyRun reports whether a run of the history, counted from the end, has a number
// that counts for the level.
func (c *comparer) healthyRun(fromEnd int) bool {
	for i := range c.ref.Results {
		for j := range c.ref.Results[i].Samples {
			if s := &c.ref.Results[i].Samples[j]; fromEnd <= len(s.History) && len(s.Level()[len(s.History)-fromEnd]) > 0 {
				return true
			}
		}
	}
	return false
}

// add notes a number that one run cannot convict.
func (n *nextRun) add(cell detect.Cell, ref, got *bench.Result, metric string) {
	if n == nil || !few(cell) {
		return
	}
	level := ref.Sample(metric).Level()
	cell.Base, cell.Head = detect.OneEach(level[:max(0, len(level)-n.newer)], got.Sample(metric).Values)
	n.cells, n.numbers = append(n.cells, cell), append(n.numbers, numberOf{got.Cell.ID(), metric})
}

func (n *nextRun) any() bool { return n != nil && len(n.cells) > 0 }

// confirmNext takes the evidence of both runs on losses that both show, each by itself.
func (c *comparer) confirmNext(n *nextRun) {
	if n == nil {
		return
	}
	c.evidence.next = map[numberOf]bool{}
	for i, e := range detect.JudgeNext(n.cells, c.evidence.share).Cells {
		if e.Verdict != detect.Regressed {
			continue
		}
		cell := n.cells[i]
		last := len(cell.Base) - 1
		cell.Base, cell.Head = cell.Base[:last], []float64{cell.Base[last], cell.Head[0]}
		c.evidence.of[n.numbers[i]], c.evidence.next[n.numbers[i]] = weighed{e, cell}, true
	}
	c.evidence.began = Began{After: c.ref.Earlier[n.last-1].Revision, Suspected: c.ref.Earlier[n.last].Revision, Confirmed: c.run.Revision}
}

// began counts the confirmed losses that stand.
func (c *comparer) began() *Began {
	b := c.evidence.began
	for i := range c.out.Verdicts {
		v := &c.out.Verdicts[i]
		if v.Confirmed && v.Class == Regressed {
			b.Numbers++
		}
	}
	if b.Numbers == 0 {
		return nil
	}
	return &b
}

// tellNext says that a loss is confirmed.
func (c *comparer) tellNext(v *Verdict, n numberOf) {
	if c.evidence.next[n] {
		v.Confirmed = true
		v.Reason = fmt.Sprintf("suspected in the run before, of %s, and confirmed by this one", commitOf(c.evidence.began.Suspected))
	}
}

func commitOf(revision string) string {
	if revision = printable(revision, shortRevision); revision == "" {
		return "an unknown commit"
	}
	return revision
}
