package flashinfer

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// languages are those of upstream, and after them our own.
var languages = []string{"python", "triton", "cpp", "cuda", "tilelang", "c", "go", "cutedsl", "hip"}

var bindings = []string{"tvm-ffi", "torch"}

// ParseSolution reads a solution. The path is what messages call the file. An
// error is of type [Problems]; the solution then holds what could be read.
func ParseSolution(path string, text []byte) (*Solution, error) {
	r := reader{path: path}
	var s *Solution
	if root, ok := r.document(text); ok {
		s = r.solution(root)
	}
	return s, errorOf(r.finish())
}

func (r *reader) solution(root value) *Solution {
	o := r.object(root, "", false, "name", "definition", "author", "description", "spec", "sources")
	s := &Solution{
		Name: o.name("name"), Definition: o.name("definition"), Author: o.name("author"), Description: o.text("description"),
		Place: Place{r.path, root.Line},
	}
	if v, ok := o.required("sources"); ok {
		s.Sources = r.sources(v)
	}
	if v, ok := o.required("spec"); ok {
		r.spec(v, s)
	}
	return s
}

func (r *reader) spec(v value, s *Solution) {
	o := r.object(v, "spec", false, "language", "target_hardware", "entry_point", "dependencies", "destination_passing_style", "binding")
	if v, ok := o.required("language"); ok {
		s.Language = r.language(v)
	}
	if v, ok := o.required("target_hardware"); ok {
		if s.TargetHardware = o.texts("target_hardware"); v.Kind == '[' && len(s.TargetHardware) == 0 {
			r.fail(v, "spec.target_hardware", `is empty; name at least one device, such as "cpu"`)
		}
	}
	if v, ok := o.required("entry_point"); ok {
		s.EntryPoint = r.entryPoint(v, s.Sources)
	}
	s.Dependencies = o.texts("dependencies")
	s.DestinationPassing = o.flag("destination_passing_style", true)
	if v, ok := o.given["binding"]; ok {
		s.Binding = r.oneOf(v, "spec.binding", bindings)
	}
}

func (r *reader) language(v value) string {
	if lower := strings.ToLower(v.Text); v.Kind == '"' && lower != v.Text && slices.Contains(languages, lower) {
		r.fail(v, "spec.language", "%s is spelt as in the format of 2025-07, which is no longer read; write %q", quote(v.Text), lower)
		return lower
	}
	return r.oneOf(v, "spec.language", languages)
}

func (r *reader) entryPoint(v value, sources []Source) string {
	s := r.text(v, "spec.entry_point")
	file, symbol, _ := strings.Cut(s, "::")
	switch is := func(f Source) bool { return path.Clean(f.Path) == path.Clean(file) }; {
	case v.Kind != '"':
	case file == "" || symbol == "" || strings.Contains(symbol, "::"):
		r.fail(v, "spec.entry_point", `want "<file>::<symbol>", got %s; write for example "main.py::run"`, quote(s))
	case !slices.ContainsFunc(sources, is):
		r.fail(v, "spec.entry_point", "the file %s is none of the sources; add it there, or correct its name", quote(file))
	}
	return s
}

func (r *reader) sources(v value) (sources []Source) {
	seen := map[string]bool{}
	for i, m := range r.list(v, "sources") {
		at := index("sources", i)
		o := r.object(m.Value, at, false, "path", "content")
		s := Source{Path: o.name("path")}
		if v, ok := o.required("content"); ok {
			s.Content = r.text(v, at+".content")
		}
		if s.Path != "" {
			if !inside(s.Path) {
				r.fail(m.Value, at+".path", "%s does not stay in the solution's folder; write a relative path with slashes and without ..",
					quote(s.Path))
			}
			if clean := path.Clean(s.Path); seen[clean] {
				r.fail(m.Value, at+".path", "%s occurs twice; remove one of the two", quote(s.Path))
			} else {
				seen[clean] = true
			}
		}
		sources = append(sources, s)
	}
	if v.Kind == '[' && len(sources) == 0 {
		r.fail(v, "sources", "is empty; add at least the file of the entry point")
	}
	return sources
}

// inside reports whether a relative path with slashes names a file below the
// folder that it is relative to, on every system.
func inside(p string) bool {
	return filepath.IsLocal(filepath.FromSlash(p)) && path.Clean(p) != "." &&
		!strings.ContainsAny(p, "\\:") && !slices.Contains(strings.Split(p, "/"), "..")
}
