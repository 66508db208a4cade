package setup

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
	maxFiles   = 20_000    // files and folders
	maxDepth   = 8         // folders below each other
	maxContent = 256 << 10 // bytes of one file
	maxRead    = 32 << 20  // bytes of all files
)

// skipped are folders of other projects' files, and of results.
var skipped = []string{"node_modules", "vendor", "third_party", "testdata", "site-packages", "__pycache__", "venv"}

// files are the regular files of a repository, those nearest to the root first. Links are not followed.
type files struct {
	root    *os.Root
	all     []file
	maximum int
	cut     bool // there are more
	read    int
}

// file is a regular file. Its path is from the root, with slashes.
type file struct {
	path       string
	executable bool
}

// walk lists the files of a folder, at most so many.
func walk(dir string, maximum int) (*files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &files{root: root, maximum: maximum}
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

func (f *files) close() { f.root.Close() }

// list adds the files of a folder and returns its folders. A folder that cannot be read is empty.
func (f *files) list(folder string) (folders []string) {
	d, err := f.root.Open(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	room := f.maximum - len(f.all)
	if room <= 0 {
		f.cut = true
		return nil
	}
	entries, _ := d.ReadDir(room + 1)
	if f.cut = f.cut || len(entries) > room; f.cut {
		entries = entries[:min(room, len(entries))]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case !usable(name):
		case e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(skipped, e.Name()):
			folders = append(folders, name)
		case e.Type().IsRegular():
			info, err := e.Info()
			f.all = append(f.all, file{path: name, executable: err == nil && info.Mode()&0o111 != 0})
		}
	}
	return folders
}

// usable reports whether a path can be written into a configuration: YAML is UTF-8, braces
// are placeholders in commands, and three points are all packages of Go below a folder.
func usable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsAny(name, "{}\\\x00") && !strings.Contains(name, "...")
}

// content is the beginning of a file; "" if it cannot be read.
func (f *files) content(name string) string {
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

// has reports whether the repository has a file of this path.
func (f *files) has(name string) bool {
	return slices.ContainsFunc(f.all, func(one file) bool { return one.path == name })
}

// named returns the files whose base name passes.
func (f *files) named(is func(base string) bool) (all []string) {
	for _, one := range f.all {
		if is(path.Base(one.path)) {
			all = append(all, one.path)
		}
	}
	return all
}
