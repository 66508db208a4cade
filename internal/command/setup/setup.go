// Package setup writes the first configuration of a repository: it looks for benchmarks,
// inference programs, servers and devices, asks a few questions, and writes accelgate.yaml,
// the workflow and entries of .gitignore. Names that it finds are hostile.
package setup

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/formats/sources"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Options are what Look takes from the command. All fields but Server and Label are required.
type Options struct {
	Dir     string // root of the repository
	Server  string // address of an OpenAI-compatible server; "" if not given
	Label   string // of this host; "" to derive it
	Getenv  func(string) string
	Environ []string
	Note    func(string) // reports what Look is about to run
}

// Found is what a repository and its host have.
type Found struct {
	Host     bench.Host
	Remote   string // owner/name on GitHub; "" without one
	Branch   string // default branch
	Suites   []Suite
	Warnings []string

	look *repository
}

// Suite is a suite to write. A suite with a reason in Missing is written as a comment,
// so that the first run passes.
type Suite struct {
	Name    string
	Title   string   // what it measures, for a comment and a line of output
	Prefix  string   // of ids, so that they stay as they are when another suite gets a benchmark of the same name; "" for none
	Body    []string // lines of YAML below the name
	Missing string   // what to do before it can run; "" if it runs
	Build   string   // shell command that builds the program; "" if there is nothing to build
	Notes   []string // what it leaves out, and why
	Model   *Model   // set if the suite lacks nothing but a model
}

// Model asks for the model of a suite.
type Model struct {
	Question string
	With     func(model string) Suite // the suite with the model
}

// repository is what the detectors look at.
type repository struct {
	Options
	files  *sources.Files
	worker worker.Worker
	host   bench.Host
	left   []string // warnings about places beyond limits
}

// Look examines a repository and the host. It runs the repository's benchmarks briefly,
// because their harness alone has all names. An error means that it cannot go on.
func Look(ctx context.Context, o Options) (*Found, error) {
	r := &repository{Options: o, worker: &worker.Isolated{Environ: o.Environ}}
	var err error
	if r.files, err = sources.Walk(o.Dir, sources.MaxFiles); err != nil {
		return nil, fmt.Errorf("read the repository: %w: run accelgate init in its root", err)
	}
	defer r.files.Close()
	f := &Found{look: r}
	if r.host, f.Warnings, err = device.Detect(ctx, device.Options{Label: o.Label, Worker: r.worker}); err != nil {
		return nil, err
	}
	f.Host = r.host
	if r.files.Cut {
		f.Warnings = append(f.Warnings,
			fmt.Sprintf("the repository has more than %d files: looked at those nearest to its root; add other suites to %s by hand",
				sources.MaxFiles, ConfigFile))
	}
	if f.Remote, f.Branch, err = r.git(ctx); err != nil {
		return nil, err
	}
	for _, detect := range []func(context.Context) ([]Suite, error){r.goBenchmarks, r.pytest, r.googleBenchmark, r.llamaBench,
		r.servingPrograms, r.server} {
		found, err := detect(ctx)
		if err != nil {
			return nil, err
		}
		f.Suites = append(f.Suites, found...)
	}
	f.Warnings = append(f.Warnings, r.left...)
	f.rename()
	return f, nil
}

// leaveOut names the places beyond the number of suites that are written.
func (r *repository) leaveOut(what string, places []string) {
	if len(places) > maxSuites {
		r.left = append(r.left, fmt.Sprintf("%s in more than %d places: not those in %s; add suites for them to %s by hand",
			what, maxSuites, strings.Join(text.First(places[maxSuites:], maxNotes), ", "), ConfigFile))
	}
}

// rename gives each suite a name of its own.
func (f *Found) rename() {
	for i := range f.Suites {
		s := &f.Suites[i]
		name := s.Name
		for n := 2; slices.ContainsFunc(f.Suites[:i], func(other Suite) bool { return other.Name == s.Name }); n++ {
			s.Name = fmt.Sprintf("%s-%d", name, n)
		}
	}
}

// runs returns the suites that can run.
func (f *Found) runs() (all []Suite) {
	for _, s := range f.Suites {
		if s.Missing == "" {
			all = append(all, s)
		}
	}
	return all
}

// has reports whether a program is in PATH.
func (r *repository) has(program string) bool {
	_, err := worker.Find(program, r.Environ)
	return err == nil
}

// accelerated reports whether the host has an accelerator of one of the vendors.
func (r *repository) accelerated(vendors ...string) bool {
	return slices.ContainsFunc(r.host.Accelerators, func(a bench.Accelerator) bool { return slices.Contains(vendors, a.Vendor) })
}

// plain makes a name of suites and models: letters, digits, points and dashes.
func plain(name, otherwise string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
			return c
		case 'A' <= c && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, name)
	name = strings.Trim(name[:min(len(name), 40)], "-._")
	if name == "" {
		return otherwise
	}
	return name
}

// local is a path of the repository as a program takes it.
func local(name string) string {
	if name = path.Clean(name); path.IsAbs(name) || name == "." {
		return name
	}
	return "./" + strings.TrimPrefix(name, "./")
}
