package history

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// Fail notes which metrics of which cells the gate failed in a run of the branch whose runs are the history; the
// metric of a cell that failed as a whole is "". Its numbers are no part of the history. It
// reports whether the run is newer than all others. A newer run that is added ends it.
func (f *File) Fail(from *bench.Run, failed map[string][]string) bool {
	r := run{header: header{Schema: schema, Revision: from.Revision, Started: from.Started.UTC(), Failed: failed}}
	if f.newest(&r) && len(failed) > 0 {
		f.failing = &r
		return true
	}
	return false
}

// Empty reports a file with nothing in it.
func (f *File) Empty() bool { return len(f.runs) == 0 && f.failing == nil }

// Failing returns the commit of the newest run of the branch, and what the gate failed in it; nil if it did not
// fail it.
func (f *File) Failing() (revision string, failed map[string][]string) {
	if f.failing == nil {
		return "", nil
	}
	return f.failing.Revision, f.failing.Failed
}

// newest reports whether no other run started after a run, which is not there yet.
func (f *File) newest(r *run) bool {
	if n := len(f.runs); n > 0 && f.runs[n-1].Started.After(r.Started) || f.Has(r.Revision, r.Started) {
		return false
	}
	last := f.failing
	return last == nil || !last.Started.After(r.Started) && (last.Revision != r.Revision || !last.Started.Equal(r.Started))
}

// passed ends what an older run failed.
func (f *File) passed(r *run) {
	if f.failing != nil && !f.failing.Started.After(r.Started) {
		f.failing = nil
	}
}

// failedLine takes a line that says what the gate failed.
func (f *File) failedLine(r *run) {
	for _, metrics := range r.Failed {
		slices.Sort(metrics)
	}
	if f.newest(r) {
		f.failing = r
	}
}
