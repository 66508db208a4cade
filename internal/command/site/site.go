// Package site turns histories into static pages: an overview of all hosts, a page a host, a suite and a cell, a comparison of
// any two runs, a badge and a feed of confirmed regressions. It judges nothing: package history, and below it package detect, say what
// is a change of level, drift or a confirmed regression.
//
// The pages need no server: they open from a folder, and each loads what it shows. Names and numbers are foreign: templates escape them, files
// are named by letters, digits and a digest, and a policy in each page lets the browser run the scripts of the folder alone.
package site

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Options say what is written.
type Options struct {
	Out        string // folder of the pages; what it holds is replaced
	Repository string // address of the repository, to which commits are linked; "" links none
	URL        string // address at which the pages will stand, for the feed; "" makes its links relative
	Title      string
	Tool       string // name and version of the program, for the foot of the pages
	Now        time.Time
}

// Built is what was written.
type Built struct {
	Hosts, Cells, Pages int
	// Warnings are about what was left out.
	Warnings []string
}

// Build reads the histories, run documents and baselines that arguments name, files or folders, and replaces the
// folder Options.Out by the pages on their hosts; the old pages stay if it fails or ctx ends. A folder that holds other files is
// refused. It reads one host after the other on each processor, so that memory does not grow with their number.
func Build(ctx context.Context, arguments []string, o Options) (Built, error) {
	if err := o.check(); err != nil {
		return Built{}, err
	}
	found, err := find(arguments, o.Now)
	if err != nil {
		return Built{}, err
	}
	s := &site{Options: o, ctx: ctx, sources: found}
	err = atomicfile.Replace(behindLinks(o.Out), func(dir string) error {
		s.dir = dir
		return s.write()
	})
	built := Built{Hosts: len(s.hosts), Pages: int(s.pages.Load()), Warnings: found.warnings}
	for i := range s.hosts {
		built.Cells += s.hosts[i].Cells
	}
	return built, atomicfile.Elsewhere(err, "--out")
}

// write writes all pages: those of hosts as each is read, those of all from what hosts leave.
func (s *site) write() error {
	s.hosts = make([]summary, len(s.sources.labels))
	errs := make([]error, len(s.hosts))
	var wait sync.WaitGroup
	const maximum = 4 // hosts in memory
	tokens := make(chan struct{}, min(maximum, runtime.GOMAXPROCS(0)))
	for i, label := range s.sources.labels {
		tokens <- struct{}{}
		wait.Go(func() {
			defer func() { <-tokens }()
			s.hosts[i], errs[i] = s.host(label)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return s.shared()
}

// shared writes what is about all hosts.
func (s *site) shared() error {
	for _, write := range []func() error{s.assets, s.index, s.compare, s.badge, s.feed} {
		if err := write(); err != nil {
			return fmt.Errorf("write the pages: %w", err)
		}
	}
	return nil
}
