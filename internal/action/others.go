package action

import (
	"slices"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
)

// withOthers adds to the text of a refresh what its pull request changes beside the
// files of this run: an earlier one proposed them. A branch may hold anything, so
// other files are only named.
func withOthers(body report.Refresh, others []github.Proposed) report.Refresh {
	body.Hosts = slices.Clone(body.Hosts)
	for _, o := range others {
		now, err := baseline.Parse(o.Path, o.Now)
		if o.Now == nil || err != nil || now.HostLabel == "" {
			body.Also = append(body.Also, o.Path)
			continue
		}
		before, err := baseline.Parse(o.Path, o.Base)
		if o.Base == nil || err != nil {
			before = nil
		}
		body.Hosts = append(body.Hosts, otherHost(o.Path, before, now))
	}
	return body
}

// otherHost compares two states of a baseline file; before is nil for a new one.
func otherHost(path string, before, now *baseline.File) report.HostChanges {
	h := report.HostChanges{Host: now.HostLabel, Path: path}
	if now.Fingerprint != nil {
		h.After = *now.Fingerprint
	}
	type number struct{ cell, metric string }
	old := map[number]baseline.Metric{}
	if before != nil {
		h.Before = before.Fingerprint
		for _, e := range before.Entries {
			for _, m := range e.Metrics {
				old[number{e.CaseID, m.Name}] = m
			}
		}
	}
	for _, e := range now.Entries {
		for _, m := range e.Metrics {
			was, known := old[number{e.CaseID, m.Name}]
			if known && was.Median == m.Median {
				continue
			}
			h.Changes = append(h.Changes, report.Change{Cell: e.CaseID, Metric: m.Name, Unit: m.Unit, Better: m.Better,
				Old: was.Median, New: m.Median, HasOld: known, OldN: was.N, NewN: m.N})
		}
	}
	return h
}
