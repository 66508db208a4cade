package github

import (
	"context"
	"errors"
)

// maxDescribed is how many files of earlier calls are read.
const maxDescribed = 20

// Proposed is a file that a pull request changes. Base and Now are nil where there is
// no such file, or where it is larger than a MiB.
type Proposed struct {
	Path      string
	Commit    string // of an earlier call, which wrote it; "" where others did, and Base and Now are not read
	Base, Now []byte
}

// describe brings the text up to what the branch changes beside this call's files.
func (p *proposal) describe(ctx context.Context, at position) error {
	if p.refresh.Describe == nil {
		return nil
	}
	kept, err := p.record(ctx, at)
	if err != nil {
		return err
	}
	var others []Proposed
	read := 0
	for _, f := range at.files {
		if f.GetStatus() == "renamed" {
			others = append(others, Proposed{Path: f.GetPreviousFilename()})
		}
		if p.writes(f) {
			continue
		}
		one := Proposed{Path: f.GetFilename(), Commit: kept.writer(f)}
		if one.Commit != "" && read < maxDescribed {
			read++
			if one.Base, err = p.small(ctx, at.base, one.Path); err == nil {
				one.Now, err = p.small(ctx, at.branch, one.Path)
			}
			if err != nil {
				return err
			}
		}
		others = append(others, one)
	}
	if complete := len(at.files) < maxCompared; len(others) > 0 || !complete {
		p.refresh.Title, p.refresh.Body = p.refresh.Describe(others, complete)
	}
	return nil
}

// small reads a file of up to a MiB; nil for one that is larger, or not there.
func (p *proposal) small(ctx context.Context, at tip, path string) ([]byte, error) {
	data, err := p.client.FileAt(ctx, p.repo, at.sha, path, 1<<20)
	if errors.Is(err, ErrTooLarge) {
		return nil, nil
	}
	return data, err
}
