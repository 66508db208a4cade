package formats

import (
	"errors"
	"path"
	"strings"
)

// filesRoot begins a [Path] through the files of a folder of results.
const filesRoot = "files"

// File is a file of a folder of results, with its path inside, by slashes.
type File struct {
	Name string
	Data []byte
}

// newFolder is the output of a program that wrote several files. Paths that begin with files lead into them.
func newFolder(files []File) *Document {
	d := &Document{err: errFolder}
	for _, f := range files {
		d.files = append(d.files, documentOf{f.Name, NewDocument(f.Data)})
	}
	return d
}

// errFolder is of a path that leads into no file.
var errFolder = errors.New("the program wrote a folder: begin the path with its files, as in files['*.json'].tps")

// documentOf is a file that is read.
type documentOf struct {
	name string
	*Document
}

// cutFiles takes files['GLOB'] off the beginning of a path.
func cutFiles(text string) (glob, rest, problem string, ok bool) {
	after, ok := strings.CutPrefix(text, filesRoot+"['")
	if !ok {
		return "", "", "", false
	}
	glob, rest, closed := strings.Cut(after, "']")
	if _, err := path.Match(glob, ""); err != nil || !closed || glob == "" {
		return "", "", "a glob in quotes is expected, as in files['*.json']", true
	}
	if rest = strings.TrimPrefix(rest, "."); rest == "" {
		rest = "$"
	}
	return glob, rest, "", true
}

// inFiles are the nodes of a path in the files that its glob matches.
func (d *Document) inFiles(p Path) (nodes []Node, err error) {
	inside := p
	inside.glob = ""
	for _, f := range d.files {
		if ok, _ := path.Match(p.glob, f.name); !ok {
			continue
		}
		found, err := f.Nodes(inside)
		if err != nil {
			return nil, fileError{f.name, err}
		}
		label := Label{Key: "file", Value: captured(p.glob, f.name)}
		for _, n := range found {
			n.Labels = append([]Label{label}, n.Labels...)
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// fileError is about one of the files.
type fileError struct {
	name string
	error
}

func (e fileError) Error() string { return cut(e.name, maxName) + ": " + e.error.Error() }
func (e fileError) Unwrap() error { return e.error }

// captured is the part of a name that the globs of a pattern match.
func captured(glob, name string) string {
	first, last := strings.IndexAny(glob, "*?["), strings.LastIndexAny(glob, "*?]")
	if first < 0 {
		return name
	}
	return strings.TrimSuffix(name[first:], glob[last+1:])
}
