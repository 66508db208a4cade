package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// models returns the explicit models and those found in the folder, sorted by
// id without letter case, and what looks wrong in the folder. The id of a found
// model is the name of its file in lower case and without its extension; its
// variables are path, family and companion, "" where there is none. Of a model
// in several files (-00001-of-00003.gguf) the first is the model.
//
// Explicit models win: a file that has the id of one, or that is the path of
// one, is not taken again. No file is opened. Names are foreign text; they
// reach commands through variables, never as templates.
func (d *discover) models(resolve func(string) string, explicit []value) ([]value, []string, error) {
	if d.Dir == "" {
		return explicit, nil, nil
	}
	f := folder{discover: d, path: resolve(d.Dir)}
	if err := f.list(); err != nil {
		return nil, nil, err
	}
	f.explicit(resolve, explicit)
	all := slices.Clone(explicit)
	for _, name := range f.files {
		if v, ok := f.model(name); ok {
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b value) int { return cmp.Compare(strings.ToUpper(a.ID), strings.ToUpper(b.ID)) })
	return all, f.warnings, nil
}

// folder is the folder of models while it is searched.
type folder struct {
	*discover
	path       string // as this process opens it
	files      []string
	companions []string
	ids        map[string]string // in lower case -> file that has it; "" for an explicit model
	taken      []fs.FileInfo     // files of explicit models
	warnings   []string
}

func (f *folder) warn(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

// list finds files and companions, sorted by name.
func (f *folder) list() error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of models %q does not exist: create it, or name another one with --model-dir", f.path)
	}
	if err != nil {
		return fmt.Errorf("list the folder of models: %w: name another one with --model-dir", err)
	}
	glob, companion := strings.ToLower(f.Glob), strings.ToLower(f.Companion)
	for _, e := range entries {
		lower := strings.ToLower(e.Name())
		switch {
		case e.IsDir() || !matrix.Glob(glob, lower) || !f.regular(e):
		case companion != "" && strings.Contains(lower, companion):
			f.companions = append(f.companions, e.Name())
		default:
			f.files = append(f.files, e.Name())
		}
	}
	return nil
}

// regular reports whether the entry is a file or a link to one: caches of
// models are full of links.
func (f *folder) regular(e fs.DirEntry) bool {
	if e.Type() != fs.ModeSymlink {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(filepath.Join(f.path, e.Name()))
	if err != nil {
		f.warn("%q leads nowhere and is left out: fix the link or remove it", filepath.Join(f.path, e.Name()))
		return false
	}
	return info.Mode().IsRegular()
}

func (f *folder) explicit(resolve func(string) string, models []value) {
	f.ids = make(map[string]string, len(models))
	for _, m := range models {
		f.ids[strings.ToLower(m.ID)] = ""
		if path := m.Vars["path"]; path != "" {
			if info, err := os.Stat(resolve(path)); err == nil {
				f.taken = append(f.taken, info)
			}
		}
	}
}

// model makes a value of a file; ok is false where the file is none or not to
// be measured again.
func (f *folder) model(name string) (v value, ok bool) {
	lower := strings.ToLower(name)
	id := strings.TrimSuffix(lower, filepath.Ext(lower))
	if f.laterPart(name) || f.isTaken(name) {
		return value{}, false
	}
	if id == "" {
		f.warn("%q is left out because nothing stands before its extension: rename it", filepath.Join(f.path, name))
		return value{}, false
	}
	if other, known := f.ids[id]; known {
		if other != "" {
			f.warn("%q is left out because its id is that of %q: rename one of the two", filepath.Join(f.path, name), other)
		}
		return value{}, false
	}
	f.ids[id] = name
	fam := f.family(lower)
	v = value{
		ID:       id,
		Provides: slices.Clone(fam.Provides),
		Vars:     map[string]string{"path": filepath.Join(f.Dir, name), "family": fam.Name, "companion": ""},
	}
	if companion := f.companion(fam); companion != "" {
		v.Vars["companion"] = filepath.Join(f.Dir, companion)
		v.Provides = append(v.Provides, f.Provides...)
	}
	v.Args = f.args(v.Vars["companion"] != "")
	return v, true
}

var part = lazyregexp.New(`(?i)-(\d{5})-of-(\d{5})(\.\w+)$`)

// laterPart reports whether the file is a part of a model but its first.
func (f *folder) laterPart(name string) bool {
	m := part.FindStringSubmatchIndex(name)
	if m == nil || name[m[2]:m[3]] == "00001" {
		return false
	}
	first := name[:m[2]] + "00001" + name[m[3]:]
	if !slices.ContainsFunc(f.files, func(other string) bool { return strings.EqualFold(other, first) }) {
		f.warn("%q is a part of a model whose first part, %q, is missing, so it is left out: put that there", filepath.Join(f.path, name),
			first)
	}
	return true
}

func (f *folder) isTaken(name string) bool {
	if len(f.taken) == 0 {
		return false
	}
	info, err := os.Stat(filepath.Join(f.path, name))
	return err == nil && slices.ContainsFunc(f.taken, func(t fs.FileInfo) bool { return os.SameFile(t, info) })
}

// family returns the first family that the name, in lower case, belongs to.
func (f *folder) family(name string) family {
	contains := func(part string) bool { return strings.Contains(name, strings.ToLower(part)) }
	for _, fam := range f.Families {
		if (len(fam.Contains) == 0 || slices.ContainsFunc(fam.Contains, contains)) &&
			!slices.ContainsFunc(fam.With, func(part string) bool { return !contains(part) }) &&
			!slices.ContainsFunc(fam.Without, contains) {
			return fam
		}
	}
	return family{}
}

// companion returns the first companion, by name, that has the first of the
// family's parts that any has.
func (f *folder) companion(fam family) string {
	for _, part := range fam.Companions {
		for _, name := range f.companions {
			if strings.Contains(strings.ToLower(name), strings.ToLower(part)) {
				return name
			}
		}
	}
	return ""
}

// args returns the template of a model's arguments. Paths come into it by way
// of variables, because they may hold braces.
func (f *folder) args(companion bool) []string {
	needs := slices.ContainsFunc(f.Args, func(a string) bool { return strings.Contains(a, "{companion}") })
	if needs && !companion {
		return nil
	}
	args := make([]string, 0, len(f.Args))
	for _, a := range f.Args {
		args = append(args, strings.NewReplacer("{path}", "{model.path}", "{companion}", "{model.companion}").Replace(a))
	}
	return args
}
