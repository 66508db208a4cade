package action

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// otherHostFiles names what a pull request of ours changes that no run of ours wrote. It
// stands above the text, which is not about them.
func otherHostFiles(others []github.Proposed, complete bool) string {
	const maximum = 20
	var names []string
	for _, o := range others {
		if o.Commit == "" {
			names = append(names, quoteCode(o.Path))
		}
	}
	more := max(len(names)-maximum, 0)
	list := strings.Join(names[:len(names)-more], ", ")
	if more > 0 {
		list += " and " + text.Plural(more, "more file")
	}
	switch {
	case !complete && len(names) == 0:
		return "> [!WARNING]\n> GitHub lists 300 of the files that this pull request changes: " +
			"others may have pushed more, which accelgate does not see.\n\n"
	case !complete:
		list += "; GitHub does not list all files"
	case len(names) == 0:
		return ""
	}
	return "> [!WARNING]\n> **Not from accelgate**: " + list +
		". Others pushed these changes to this branch, or GitHub does not confirm that accelgate did. The text below is not about them: " +
		"review each one. To drop them, close this pull request, delete its branch, and start again.\n\n"
}

// after puts a note above a text.
func after(note string, body github.Ladder) github.Ladder {
	return func(limit int) string {
		note := text.Cut(note, limit)
		return note + body(limit-len(note))
	}
}

// withOthers adds to the text of a refresh what its pull request changes beside the
// files of this run and earlier runs proposed.
func withOthers(body report.Refresh, others []github.Proposed) report.Refresh {
	body.Hosts = slices.Clone(body.Hosts)
	for _, o := range others {
		if o.Commit == "" {
			continue
		}
		now, err := baseline.Parse(o.Path, o.Now)
		if o.Now == nil || err != nil || now.HostLabel == "" {
			body.Also = append(body.Also, o.Path)
			continue
		}
		before, err := baseline.Parse(o.Path, o.Base)
		if o.Base == nil || err != nil {
			before = nil
		}
		host := otherHost(o.Path, before, now)
		host.Earlier = o.Commit
		body.Hosts = append(body.Hosts, host)
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
