package flashinfer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Merged describes what [Merge] wrote.
type Merged struct {
	Definitions int `json:"definitions"`
	Solutions   int `json:"solutions"`
	Workloads   int `json:"workloads"`
	Traces      int `json:"traces"`
	Blobs       int `json:"blobs"`      // tensor files
	Duplicates  int `json:"duplicates"` // traces that were there already
	// LeftOut are traces of another content than the definition, solution or
	// workload of that name now has. Each has a warning.
	LeftOut  int      `json:"left_out"`
	Warnings []string `json:"warnings,omitempty"`
}

// Merge writes the datasets below the folders as one dataset, which becomes the
// folder out as a whole or not at all. What is the same stands there once; a trace
// is the same if its text is, but for spaces. Traces of one case that differ are
// all kept, in the order of the folders, and the last one counts.
//
// An error of type [Problems] names what cannot be read, and names that stand for
// different contents: definitions, solutions, workloads and tensor files. Nothing
// is written then.
func Merge(out string, roots []string) (Merged, error) {
	if err := absent(out, "merge into"); err != nil {
		return Merged{}, err
	}
	m := merger{
		all:    newDataset(out),
		lines:  map[string][][]byte{},
		seen:   map[[32]byte]bool{},
		blobs:  map[string]blob{},
		absent: map[string]bool{},
	}
	var sources []*Dataset
	for _, root := range roots {
		ds, err := Load(root)
		if err != nil {
			return Merged{}, err
		}
		sources = append(sources, ds)
		m.names(ds)
	}
	if err := errorOf(m.problems); err != nil {
		return Merged{}, err
	}
	for _, ds := range sources {
		if err := m.contents(ds); err != nil {
			return Merged{}, err
		}
	}
	if err := errorOf(m.problems); err != nil {
		return Merged{}, err
	}
	m.warnAbsent()
	return m.Merged, atomicfile.Replace(out, m.write)
}

// absent refuses a folder for a new dataset that holds something already.
func absent(out, verb string) error {
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 || err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("%s %s: it is there already: name a new folder", verb, plain(out))
	}
	return nil
}

// merger collects datasets.
type merger struct {
	Merged
	all      *Dataset            // definitions, solutions and workloads, each name once
	lines    map[string][][]byte // of trace files, by path below the root
	seen     map[[32]byte]bool   // digests of traces
	blobs    map[string]blob     // by path below the root
	absent   map[string]bool     // tensor files
	problems Problems
}

// names takes over definitions, solutions and workloads, and complains of names
// that have another content already.
func (m *merger) names(ds *Dataset) {
	other := func(at Place, what, name string, first Place) {
		m.problems = append(m.problems, Problem{
			at,
			"",
			fmt.Sprintf("the %s %s is another one than that of %s; rename one of the two, or take the older out", what, quote(name),
				first),
		})
	}
	for _, d := range ds.Definitions {
		if known := m.all.Definition(d.Name); known == nil {
			m.all.add(&file{folder: definitionsFolder, definition: d})
		} else if known.Hash() != d.Hash() {
			other(d.Place, "definition", d.Name, known.Place)
		}
	}
	for _, s := range ds.Solutions {
		if known := m.all.Solution(s.Name); known == nil {
			m.all.add(&file{folder: solutionsFolder, solution: s})
		} else if known.Hash() != s.Hash() || known.Author != s.Author {
			other(s.Place, "solution", s.Name, known.Place)
		}
	}
	for _, w := range ds.Workloads {
		if known := m.all.Workload(w.Definition, w.Workload.UUID); known == nil {
			m.all.add(&file{folder: workloadsFolder, traces: []*Trace{w}})
		} else if known.Workload.Hash() != w.Workload.Hash() {
			other(w.Place, "workload", w.Workload.UUID, known.Place)
		}
	}
	for _, w := range ds.Warnings {
		m.Warnings = append(m.Warnings, w.Error())
	}
}

// contents takes over traces and tensor files.
func (m *merger) contents(ds *Dataset) error {
	dir, err := os.OpenRoot(ds.Root)
	if err != nil {
		return fmt.Errorf("merge %s: %s; %s", plain(ds.Root), plain(cause(err)), nameIt)
	}
	defer dir.Close()
	for i := 0; i < len(ds.Traces); {
		end := i + 1
		for end < len(ds.Traces) && ds.Traces[end].Place.Path == ds.Traces[i].Place.Path {
			end++
		}
		if err := m.traces(dir, ds, ds.Traces[i:end]); err != nil {
			return err
		}
		i = end
	}
	for _, w := range ds.Workloads {
		for _, in := range w.Workload.Inputs {
			if in.Type == Safetensors {
				m.takeBlob(dir, ds, w, in)
			}
		}
	}
	return nil
}

// traces takes over the lines of one file, byte for byte.
func (m *merger) traces(dir *os.Root, ds *Dataset, traces []*Trace) error {
	name := ds.relative(traces[0].Place.Path)
	text, err := readFile(dir, name, maxLinesBytes)
	if err != nil {
		return fmt.Errorf("merge %s: %s; put a readable file there", plain(traces[0].Place.Path), plain(cause(err)))
	}
	lines := bytes.Split(text, newline)
	for _, t := range traces {
		if t.Place.Line > len(lines) {
			return fmt.Errorf("merge %s: the file was changed just now; type the command again", t.Place)
		}
		m.trace(t, lines[t.Place.Line-1], filepath.FromSlash(name))
	}
	return nil
}

func (m *merger) trace(t *Trace, line []byte, path string) {
	if why := m.all.stale(t); why != "" {
		m.LeftOut++
		m.warn("%s: left out: it was measured with another %s than %s now has; measure again", t.Place, why, plain(t.Definition))
		return
	}
	sum := digestLine(line)
	if m.seen[sum] {
		m.Duplicates++
		return
	}
	m.seen[sum] = true
	if d, s := m.all.Definition(t.Definition), m.all.Solution(t.Solution); d != nil && s != nil {
		if own, err := TracePath(d, s.Author); err == nil {
			path = own
		}
	}
	m.Traces++
	m.lines[path] = append(m.lines[path], bytes.TrimSpace(line))
}

// maxWarnings is how many traces that are left out are named.
const maxWarnings = 20

func (m *merger) warn(format string, args ...any) {
	switch {
	case m.LeftOut <= maxWarnings:
		m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
	case m.LeftOut == maxWarnings+1:
		m.Warnings = append(m.Warnings, "more traces of other contents are left out and not named")
	}
}

// write writes all of it into a folder, and reads it once more.
func (m *merger) write(dir string) error {
	m.Definitions, m.Solutions, m.Workloads = len(m.all.Definitions), len(m.all.Solutions), len(m.all.Workloads)
	if err := m.all.writeInto(dir, m.lines); err != nil {
		return err
	}
	if err := m.writeBlobs(dir); err != nil {
		return err
	}
	back, err := Load(dir)
	if err == nil && (len(back.Traces) != m.Traces || len(back.Workloads) != m.Workloads || len(back.Solutions) != m.Solutions) {
		err = fmt.Errorf("what was written is not what was read; see what else writes to %s", plain(dir))
	}
	return err
}

// writeInto writes definitions, solutions, workloads, and these lines of traces.
func (ds *Dataset) writeInto(dir string, traces map[string][][]byte) error {
	put := func(path string, pathErr error, text []byte, err error) error {
		if pathErr != nil {
			return pathErr
		}
		if err != nil {
			return err
		}
		return atomicfile.Write(filepath.Join(dir, path), text)
	}
	for _, d := range ds.Definitions {
		path, pathErr := definitionPath(d)
		text, err := EncodeDefinition(d)
		if err := put(path, pathErr, text, err); err != nil {
			return fmt.Errorf("%s: %w", d.Place, err)
		}
		path, pathErr = workloadsPath(d)
		if text, err = encodeLines(ds.WorkloadsOf(d.Name)); len(text) > 0 || err != nil {
			if err := put(path, pathErr, text, err); err != nil {
				return fmt.Errorf("%s: %w", d.Place, err)
			}
		}
	}
	for _, s := range ds.Solutions {
		d := ds.Definition(s.Definition)
		if d == nil {
			return fmt.Errorf("%s: its definition %s is in none of the folders: add it, or take the solution out", s.Place,
				quote(s.Definition))
		}
		path, pathErr := SolutionPath(d, s)
		text, err := EncodeSolution(s)
		if err := put(path, pathErr, text, err); err != nil {
			return fmt.Errorf("%s: %w", s.Place, err)
		}
	}
	for path, lines := range traces {
		if err := atomicfile.Write(filepath.Join(dir, path), append(bytes.Join(lines, newline), '\n')); err != nil {
			return err
		}
	}
	return nil
}

func encodeLines(traces []*Trace) (text []byte, err error) {
	for _, t := range traces {
		line, err := EncodeTrace(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Place, err)
		}
		text = append(append(text, line...), '\n')
	}
	return text, nil
}
