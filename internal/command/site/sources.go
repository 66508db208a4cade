package site

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/text"
)

// sources are the files that pages are made of, by host.
type sources struct {
	labels    []string // sorted
	histories map[string][]string
	baselines map[string]string
	documents map[string]*documents
	warnings  []string
	now       time.Time
}

// documents are the run documents of a host.
type documents struct {
	file     history.File
	failures []failure         // the oldest first
	suites   map[string]string // of cells, by id
}

// failure is a cell that did not pass in a run.
type failure struct {
	At                              time.Time
	Revision, Cell, Outcome, Reason string
	Page                            string // of the cell, from the root
}

// manyRuns is how many runs of a host documents may add up to.
const manyRuns = 5000

// find reads the documents and notes the paths of all other files. Folders are searched below.
func find(arguments []string, now time.Time) (*sources, error) {
	s := &sources{now: now, histories: map[string][]string{}, baselines: map[string]string{}, documents: map[string]*documents{}}
	for _, argument := range arguments {
		paths := []string{argument}
		if info, err := os.Stat(argument); err != nil {
			return nil, exit.Usagef("%w: name the folder of histories", err)
		} else if !info.IsDir() && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
			return nil, exit.Usagef("%s is neither a file nor a folder: name the folder of histories", text.OneLine(argument))
		} else if info.IsDir() {
			if real, err := filepath.EvalSymlinks(argument); err == nil {
				argument = real // a link to a folder is not walked into
			}
			if paths, err = measure.FindFiles(argument, math.MaxInt, func(name string) bool { return kindOf(name) != "" }); err != nil {
				return nil, exit.AsUsage(err)
			}
		}
		for _, path := range paths {
			if err := s.add(path); err != nil {
				return nil, err
			}
		}
	}
	if len(s.histories)+len(s.documents) == 0 {
		return nil, exit.Usagef(
			"no %s and no run.json in %s: record runs with 'accelgate history record RUN.json', or check out the history branch",
			history.Name("LABEL"), text.OneLine(strings.Join(arguments, ", ")))
	}
	slices.Sort(s.labels)
	s.labels = slices.Compact(s.labels)
	return s, nil
}

// kindOf is what a file is by its name; "" if it is none of those that are read.
func kindOf(name string) string {
	if _, is := history.Label(name); is {
		return "history"
	}
	if _, is := baseline.Label(name); is {
		return "baseline"
	}
	if name == "run.json" {
		return "run"
	}
	return ""
}

func (s *sources) add(path string) error {
	switch kindOf(filepath.Base(path)) {
	case "history":
		label, _ := history.Label(path)
		s.histories[label] = append(s.histories[label], path)
		s.labels = append(s.labels, label)
	case "baseline":
		label, _ := baseline.Label(path)
		if other := s.baselines[label]; other != "" && other != path {
			return exit.Usagef("host %s has two baselines, %s and %s: name one of them", label, other, path)
		}
		s.baselines[label] = path
		s.labels = append(s.labels, label)
	default:
		return s.document(path)
	}
	return nil
}

// document keeps the numbers of a run document, and what did not pass in it.
func (s *sources) document(path string) error {
	run, err := measure.ReadRun(path)
	if err != nil {
		return err
	}
	if err := record.Recordable(run, s.now); err != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("%s is left out: %v", path, err))
		return nil
	}
	label := run.Host.Label
	d := s.documents[label]
	if d == nil {
		d = &documents{file: history.File{Keep: manyRuns}, suites: map[string]string{}}
		s.documents[label] = d
	}
	s.labels = append(s.labels, label)
	if _, err := d.file.Add(run); err != nil && !errors.Is(err, history.ErrNothing) {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i := range run.Results {
		r := &run.Results[i]
		d.suites[r.Cell.ID()] = r.Cell.Suite
		if r.Outcome != bench.Passed && r.Outcome != bench.Skipped {
			d.failures = append(d.failures,
				failure{At: run.Started, Revision: run.Revision, Cell: r.Cell.ID(), Outcome: string(r.Outcome), Reason: r.Reason})
		}
	}
	return nil
}

// load reads the history of a host with its documents' runs.
func (s *sources) load(label string) (*history.File, error) {
	file := &history.File{}
	for i, path := range s.histories[label] {
		next, err := history.Load(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, exit.Usagef("%w: name a file that exists", err)
		case err != nil:
			return nil, err
		case i == 0:
			file = next
			file.Keep = manyRuns
			continue
		}
		if err := join(file, next, label); err != nil {
			return nil, err
		}
	}
	file.Keep = manyRuns
	if d := s.documents[label]; d != nil {
		return file, join(file, &d.file, label)
	}
	return file, nil
}

func join(file, more *history.File, label string) error {
	for run := range more.All(label) {
		if _, err := file.Add(run); err != nil {
			return err
		}
	}
	return nil
}
