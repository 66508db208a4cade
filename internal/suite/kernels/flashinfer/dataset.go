package flashinfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Dataset is a folder of definitions, solutions, workloads and traces. It is
// not safe to be changed; reading it from several goroutines is.
type Dataset struct {
	Root        string        // as it was given to Load
	Definitions []*Definition // each list in the order of paths and lines
	Solutions   []*Solution
	Workloads   []*Trace // without Solution and Evaluation
	Traces      []*Trace
	// Warnings are about what was left out and is repaired by going on, such as
	// the line that a killed run has left unfinished.
	Warnings Problems

	partial     bool // some files could not be read
	definitions map[string]*Definition
	solutions   map[string]*Solution
	solutionsOf map[string][]*Solution    // by definition
	workloads   map[string][]*Trace       // by definition
	lines       map[string]map[string]int // of JSON paths, by file
	points      map[[2]string]*Trace      // by definition and uuid
}

// The folders of a dataset.
const (
	definitionsFolder = "definitions"
	solutionsFolder   = "solutions"
	workloadsFolder   = "workloads"
	tracesFolder      = "traces"
)

// Load reads the dataset below root: definitions/**.json, solutions/**.json,
// workloads/**.jsonl and traces/**.jsonl. Names inside the files count, those
// of folders do not; see [Lint]. A name that two definitions or two solutions
// have is an error, and so is a uuid that two workloads of a definition have.
//
// An error of type [Problems] is about files; the dataset then holds what is
// fine. With any other error, such as for a folder that is not there or that
// holds no definition at all, there is no dataset. Links are followed as far as
// they stay below root.
func Load(root string) (*Dataset, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("load the dataset %s: %s; %s", plain(root), plain(cause(err)), nameIt)
	}
	defer dir.Close()
	files, err := list(dir)
	if err != nil {
		return nil, fmt.Errorf("load the dataset %s: %s; correct the permissions, or name another folder", plain(root), plain(cause(err)))
	}
	if len(files) == 0 || files[0].folder != definitionsFolder {
		return nil, fmt.Errorf("load the dataset %s: it holds no definitions/**.json; %s", plain(root), nameIt)
	}
	readAll(dir, filepath.ToSlash(root), files)
	ds := newDataset(root)
	var problems Problems
	for i := range files {
		problems = append(append(problems, files[i].problems...), ds.add(&files[i])...)
	}
	ds.partial = len(problems) > 0
	return ds, errorOf(problems)
}

// newDataset returns a dataset that holds nothing.
func newDataset(root string) *Dataset {
	return &Dataset{
		Root: root, definitions: map[string]*Definition{}, solutions: map[string]*Solution{},
		solutionsOf: map[string][]*Solution{}, workloads: map[string][]*Trace{},
		lines: map[string]map[string]int{}, points: map[[2]string]*Trace{},
	}
}

const nameIt = "name the folder that holds definitions, solutions, workloads and traces"

// cause returns what is wrong with a path, without the path.
func cause(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// add takes over what a file holds, but for names that are known already.
func (ds *Dataset) add(f *file) (problems Problems) {
	ds.Warnings = append(ds.Warnings, f.warnings...)
	ds.lines[f.path] = f.lines
	twice := func(at Place, jsonPath, name string, first Place) {
		problems = append(problems,
			Problem{at, jsonPath, fmt.Sprintf("%s stands at %s already; give each a name of its own", quote(name), first)})
	}
	if d := f.definition; d != nil {
		if first := ds.definitions[d.Name]; first != nil {
			twice(d.Place, "name", d.Name, first.Place)
		} else {
			ds.definitions[d.Name] = d
			ds.Definitions = append(ds.Definitions, d)
		}
	}
	if s := f.solution; s != nil {
		if first := ds.solutions[s.Name]; first != nil {
			twice(s.Place, "name", s.Name, first.Place)
		} else {
			ds.solutions[s.Name] = s
			ds.Solutions = append(ds.Solutions, s)
			ds.solutionsOf[s.Definition] = append(ds.solutionsOf[s.Definition], s)
		}
	}
	if f.folder == tracesFolder {
		ds.Traces = append(ds.Traces, f.traces...)
		return problems
	}
	for _, w := range f.traces {
		key := [2]string{w.Definition, w.Workload.UUID}
		if first := ds.points[key]; first != nil {
			twice(w.Place, "workload.uuid", w.Workload.UUID, first.Place)
			continue
		}
		ds.points[key] = w
		ds.workloads[w.Definition] = append(ds.workloads[w.Definition], w)
		ds.Workloads = append(ds.Workloads, w)
	}
	return problems
}

// Definition returns the named definition, or nil.
func (ds *Dataset) Definition(name string) *Definition { return ds.definitions[name] }

// Solution returns the named solution, or nil: names are unique over all
// definitions.
func (ds *Dataset) Solution(name string) *Solution { return ds.solutions[name] }

// Workload returns the workload of a definition, or nil.
func (ds *Dataset) Workload(definition, uuid string) *Trace {
	return ds.points[[2]string{definition, uuid}]
}

// WorkloadsOf returns the workloads of a definition.
func (ds *Dataset) WorkloadsOf(definition string) []*Trace { return ds.workloads[definition] }

// SolutionsOf returns the solutions of a definition.
func (ds *Dataset) SolutionsOf(definition string) []*Solution { return ds.solutionsOf[definition] }

// BlobPath returns where the tensor file of an input is: below the dataset's
// root. Upstream allows absolute paths, which [Load] refuses in workloads: a
// dataset is foreign and names no files of this machine.
func (ds *Dataset) BlobPath(in Input) string {
	return filepath.Join(ds.Root, filepath.FromSlash(in.Path))
}

// relative returns the path of a file below the root, with slashes.
func (ds *Dataset) relative(p string) string {
	return strings.TrimPrefix(p, strings.TrimSuffix(path.Join(filepath.ToSlash(ds.Root), "x"), "x"))
}
