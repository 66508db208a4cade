package flashinfer

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Finding is something that [Load] accepts and that goes wrong later, or
// probably does.
type Finding struct {
	Path    string `json:"path"`              // of the file, as in [Place]
	Line    int    `json:"line,omitempty"`    // 0 where the whole file is meant
	Rule    string `json:"rule"`              // such as "run-order"
	Message string `json:"message"`           // ends in the next step; foreign text is quoted
	Warning bool   `json:"warning,omitempty"` // nothing breaks
}

// Blobs returns the headers of tensor files. The path is what
// [Dataset.BlobPath] returns. An error for a file that does not exist wraps
// [io/fs.ErrNotExist].
type Blobs interface {
	Shape(path, key string) ([]int, tensor.DType, error)
}

// Elements is what [Blobs] may also be able to do: return the last element of
// a tensor of whole numbers. Without it, constraints that need it are passed
// over.
type Elements interface {
	Last(path, key string) (int64, error)
}

// Lint reports what is doubtful about a dataset: definitions first, then
// solutions, workloads and traces, each in the dataset's order. Without blobs
// it looks for the tensor files and does not open them. What is not in a
// dataset that could be read in part only is not reported as unknown.
func Lint(ds *Dataset, blobs Blobs) []Finding {
	l := linter{ds: ds, blobs: blobs, missing: map[string]bool{}, placed: map[string]bool{}, sound: map[string][]string{}}
	for _, d := range ds.Definitions {
		l.place(d.Place, definitionsFolder, ".json", d.OpType, d.Name)
		l.definition(d)
	}
	for _, s := range ds.Solutions {
		l.solution(s)
	}
	for _, w := range ds.Workloads {
		l.workload(w)
	}
	l.traces()
	l.baselines()
	return l.findings
}

type linter struct {
	ds       *Dataset
	blobs    Blobs
	missing  map[string]bool     // tensor files, and whether they are
	placed   map[string]bool     // files, with the name of their content
	sound    map[string][]string // constraints that can be evaluated, by definition
	findings []Finding
}

func (l *linter) note(at Place, rule, format string, args ...any) {
	l.findings = append(l.findings, Finding{at.Path, at.Line, rule, fmt.Sprintf(format, args...), false})
}

func (l *linter) warn(at Place, rule, format string, args ...any) {
	l.findings = append(l.findings, Finding{at.Path, at.Line, rule, fmt.Sprintf(format, args...), true})
}

// within returns the place of a part of a file.
func (l *linter) within(at Place, jsonPath string) Place {
	if line, ok := l.ds.lines[at.Path][jsonPath]; ok {
		at.Line = line
	}
	return at
}

// place compares where a file is with where its names say that it belongs.
func (l *linter) place(at Place, folder, ending string, names ...string) {
	want := folder + "/" + path.Join(names...) + ending
	known := l.placed[at.Path+want]
	l.placed[at.Path+want] = true
	if got := l.ds.relative(at.Path); got != want && !known {
		l.note(Place{at.Path, 0}, "path", "belongs at %s by its names: move it there, or correct them", plain(want))
	}
}

func (l *linter) definition(d *Definition) {
	undescribed := 0
	for _, a := range d.Axes {
		undescribed += bit(a.Description == "")
	}
	for _, t := range slices.Concat(d.Inputs, d.Outputs) {
		undescribed += bit(t.Description == "")
	}
	if d.Description == "" {
		l.warn(d.Place, "description", "has no description: say what it computes")
	}
	if all := len(d.Axes) + len(d.Inputs) + len(d.Outputs); undescribed > 0 {
		l.warn(l.within(d.Place, "axes"), "description", "%d of %d axes and tensors have no description: say what they mean", undescribed,
			all)
	}
	for i, text := range d.Constraints {
		at := l.within(d.Place, index("constraints", i))
		c, err := parseConstraint(text)
		for t := 0; err == nil && t < len(c.terms); t++ {
			err = d.checkNames(c.terms[t])
		}
		if err != nil {
			l.note(at, "constraint", "%s: %v", quote(text), err)
			continue
		}
		l.sound[d.Name] = append(l.sound[d.Name], text)
	}
	l.signature(d)
}

// signature compares the parameters of the reference with the inputs, which
// are given to it by position.
func (l *linter) signature(d *Definition) {
	s, ok := d.Signature()
	if !ok {
		return // Load refuses it
	}
	at := l.within(d.Place, "reference")
	inputs := make([]string, len(d.Inputs))
	for i, in := range d.Inputs {
		inputs[i] = in.Name
	}
	n := min(len(inputs), len(s.Positional))
	switch {
	case len(inputs) > n && !s.Variadic, len(inputs) < len(s.Positional)-s.Optional:
		l.note(at, "run-parameters", "run takes %d to %d parameters and there are %d inputs: make them agree",
			len(s.Positional)-s.Optional, len(s.Positional), len(inputs))
	case slices.Equal(inputs[:n], s.Positional[:n]):
	case slices.Equal(slices.Sorted(slices.Values(inputs)), slices.Sorted(slices.Values(s.Positional))):
		i := 0
		for inputs[i] == s.Positional[i] {
			i++
		}
		l.note(at, "run-order",
			"run takes %s as its parameter %d where the inputs have %s, and is called by position: order the inputs as run does (%s)",
			quote(s.Positional[i]), i+1, quote(inputs[i]), plain(strings.Join(s.Positional, ", ")))
	default:
		l.warn(at, "run-names", "run calls its parameters %s and the inputs are %s: use the same names",
			plain(strings.Join(s.Positional, ", ")), plain(strings.Join(inputs, ", ")))
	}
}

// unknown notes a name of nothing in the dataset.
func (l *linter) unknown(at Place, what, name string) {
	if !l.ds.partial {
		l.note(at, "unknown-"+what, "the %s %s is not in the dataset: add it, or correct the name", what, quote(name))
	}
}

func (l *linter) solution(s *Solution) {
	d := l.ds.Definition(s.Definition)
	if d == nil {
		l.unknown(l.within(s.Place, "definition"), "definition", s.Definition)
		return
	}
	l.place(s.Place, solutionsFolder, ".json", s.Author, d.OpType, d.Name, s.Name)
	if len(l.ds.WorkloadsOf(d.Name)) == 0 {
		l.warn(s.Place, "no-workload", "the definition %s has no workload, so the solution is never run: add one", quote(d.Name))
	}
}

// names writes the keys of a map for a message.
func names[V any](m map[string]V) string { return quoteAll(slices.Sorted(maps.Keys(m))) }
