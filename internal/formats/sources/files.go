// Package sources finds what the files of a repository show without running anything: programs, and Go packages with
// benchmarks. Names and contents are hostile.
package sources

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits on what is read of a repository.
const (
	MaxFiles   = 20_000    // files and folders
	maxDepth   = 8         // folders below each other
	maxContent = 256 << 10 // bytes of one file
	maxRead    = 32 << 20  // bytes of all files
)

// skipped are folders of other projects' files, and of results.
var skipped = []string{"node_modules", "vendor", "third_party", "testdata", "site-packages", "__pycache__", "venv"}

// Files are the regular files of a repository, those nearest to the root first. Links are not followed.
type Files struct {
	All     []File
	Cut     bool // there are more
	root    *os.Root
	maximum int
	read    int
}

// File is a regular file. Its path is from the root, with slashes.
type File struct {
	Path       string
	Executable bool
}

// Walk lists the files of a folder, at most so many.
func Walk(dir string, maximum int) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Files{root: root, maximum: maximum}
	level := []string{"."}
	for depth := 0; depth <= maxDepth && len(level) > 0; depth++ {
		var below []string
		for _, folder := range level {
			below = append(below, f.list(folder)...)
		}
		level = below
	}
	return f, nil
}

// Close gives the folder back.
func (f *Files) Close() { f.root.Close() }

// list adds the files of a folder and returns its folders. A folder that cannot be read is empty.
func (f *Files) list(folder string) (folders []string) {
	d, err := f.root.Open(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	room := f.maximum - len(f.All)
	if room <= 0 {
		f.Cut = true
		return nil
	}
	entries, _ := d.ReadDir(room + 1)
	if f.Cut = f.Cut || len(entries) > room; f.Cut {
		entries = entries[:min(room, len(entries))]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case !Usable(name):
		case e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(skipped, e.Name()):
			folders = append(folders, name)
		case e.Type().IsRegular():
			info, err := e.Info()
			f.All = append(f.All, File{Path: name, Executable: err == nil && info.Mode()&0o111 != 0})
		}
	}
	return folders
}

// Usable reports whether a path can be written into a configuration: YAML is UTF-8, braces
// are placeholders in commands, and three points are all packages of Go below a folder.
func Usable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsAny(name, "{}\\\x00") && !strings.Contains(name, "...")
}

// Content is the beginning of a file; "" if it cannot be read.
func (f *Files) Content(name string) string {
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || f.read > maxRead {
		return ""
	}
	file, err := f.root.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	data, _ := io.ReadAll(io.LimitReader(file, maxContent))
	f.read += len(data)
	return string(data)
}

// Has reports whether the repository has a file of this path.
func (f *Files) Has(name string) bool {
	return slices.ContainsFunc(f.All, func(one File) bool { return one.Path == name })
}

// Named returns the files whose base name passes.
func (f *Files) Named(is func(base string) bool) (all []string) {
	for _, one := range f.All {
		if is(path.Base(one.Path)) {
			all = append(all, one.Path)
		}
	}
	return all
}
