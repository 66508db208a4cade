package config

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Artifact is a file that suites use and that the checkout does not have, such as a
// model. Exactly one of URL and Hub is set.
type Artifact struct {
	URL    string `yaml:"url"`
	SHA256 string `yaml:"sha256"` // of the file at URL, 64 digits
	Size   int    `yaml:"size"`   // bytes of the file at URL; 0 if unknown
	// Hub is an id on the Hugging Face hub, Revision a commit of 40 digits.
	Hub      string `yaml:"hub"`
	Revision string `yaml:"revision"`
	// File is a file on the hub, or the name that the file at URL gets.
	File string `yaml:"file"`
	// Files are globs of files on the hub. Without File and Files it is all of them.
	Files []string `yaml:"files"`
	// Position is where the artifact stands in its file.
	Position Position `json:"-"`
}

var (
	hexDigits   = lazyregexp.New(`^[0-9a-f]+$`)
	placeholder = lazyregexp.New(`\{artifact\.([^{}]*)\}`)
)

const (
	digitsOfSHA256 = 64
	digitsOfCommit = 40
)

// artifacts checks each artifact.
func (d *decoder) artifacts(f *File, n ast.Node) {
	if n == nil || len(d.errs) > 0 {
		return
	}
	for _, p := range d.pairs(n, "artifacts") {
		a, at := f.Artifacts[p.key], join("artifacts", p.key)
		d.label(p.node, at, p.key)
		a.Position = Position{d.doc.name, p.at.Line, p.at.Column}
		f.Artifacts[p.key] = a
		if key, why, hint := a.wrong(); why != "" {
			node := p.node
			if key != "" {
				node = d.at(p.node, "."+key)
				at += "." + key
			}
			d.fail(start(node), at+": "+why, hint)
		}
	}
}

// artifactNames are the keys under artifacts, sorted.
func (d *decoder) artifactNames() (names []string) {
	look := d.doc.decoder() // decoding complains
	if _, ok := look.resolve(d.doc.root).(*ast.MappingNode); !ok {
		return nil
	}
	for _, p := range look.pairs(d.doc.root, "") {
		if p.key != "artifacts" {
			continue
		}
		if _, ok := look.resolve(p.node).(*ast.MappingNode); ok {
			for _, entry := range look.pairs(p.node, "") {
				names = append(names, entry.key)
			}
		}
	}
	slices.Sort(names)
	return names
}

// wrong returns which key is wrong, why, and what to write.
func (a *Artifact) wrong() (key, why, hint string) {
	switch {
	case a.URL == "" && a.Hub == "":
		return "", "has no source", "write url, or hub"
	case a.URL != "" && a.Hub != "":
		return "hub", "excludes url", "keep one of them"
	case a.URL != "":
		return a.wrongURL()
	}
	return a.wrongHub()
}

func (a *Artifact) wrongURL() (key, why, hint string) {
	u, err := url.Parse(a.URL)
	switch {
	case err == nil && u.User != nil:
		return "url", "holds a user name or a password", "use an address that needs no login"
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "url", fmt.Sprintf("%s is not a URL of a file", quote(a.URL)), "write one such as https://example.com/model.gguf"
	case a.SHA256 == "":
		return "", "has no digest", "add sha256, which sha256sum prints of the file that you mean"
	case len(a.SHA256) != digitsOfSHA256 || !hexDigits.MatchString(a.SHA256):
		return "sha256", fmt.Sprintf("%s is not a SHA-256", quote(a.SHA256)), "write 64 digits from 0 to f, in lower case"
	case a.Size < 0:
		return "size", fmt.Sprintf("is %d", a.Size), "write the bytes of the file, or leave it out"
	case a.Revision != "":
		return "revision", "belongs to hub", "leave it out"
	case a.Files != nil:
		return "files", "belongs to hub", "leave it out"
	case strings.ContainsAny(a.File, `/\`):
		return "file", fmt.Sprintf("%s is a path", quote(a.File)), "write the name that the file is to have"
	}
	return "", "", ""
}

func (a *Artifact) wrongHub() (key, why, hint string) {
	switch {
	case len(a.Revision) != digitsOfCommit || !hexDigits.MatchString(a.Revision):
		key := ""
		if a.Revision != "" {
			key = "revision"
		}
		return key, fmt.Sprintf("revision %s is not a commit, and a branch would change the artifact unseen",
			quote(a.Revision)), fmt.Sprintf("write the 40 digits that https://huggingface.co/%s/commits/main shows", strings.Trim(a.Hub, "/"))
	case a.SHA256 != "":
		return "sha256", "belongs to url", "leave it out, the hub lists the digests of a commit"
	case a.Size != 0:
		return "size", "belongs to url", "leave it out, the hub lists the sizes of a commit"
	case a.File != "" && a.Files != nil:
		return "files", "excludes file", "keep one of them"
	case a.Files != nil && len(a.Files) == 0:
		return "files", "is empty", "write globs of files, or remove the key"
	}
	for _, glob := range a.Files {
		if _, err := path.Match(glob, ""); err != nil {
			return "files", fmt.Sprintf("%s is not a glob", quote(glob)), "a [ needs its ]"
		}
	}
	return "", "", ""
}

// Wants reports whether a file on the hub belongs to the artifact. A glob without a
// slash matches names in every folder.
func (a *Artifact) Wants(name string) bool {
	if a.File != "" {
		return name == a.File
	}
	return a.Files == nil || slices.ContainsFunc(a.Files, func(glob string) bool {
		of := name
		if !strings.Contains(glob, "/") {
			of = path.Base(name)
		}
		ok, _ := path.Match(glob, of)
		return ok
	})
}

// expand replaces placeholders of artifacts, {artifact.NAME}, by the paths that
// [File.Place] gave; before that it leaves them, and complains about unknown names. A
// file without artifacts has no such placeholders.
func (d *decoder) expand(n ast.Node, at, s string) string {
	if d.doc.artifacts == nil || !strings.Contains(s, "{artifact.") {
		return s
	}
	return placeholder.ReplaceAllStringFunc(s, func(found string) string {
		name := placeholder.FindStringSubmatch(found)[1]
		switch {
		case at == "artifacts" || strings.HasPrefix(at, "artifacts.") || strings.HasPrefix(at, "artifacts["):
			d.fail(start(n), fmt.Sprintf("%s: an artifact cannot name another one", where(at)), "write the value out")
		case !slices.Contains(d.doc.artifacts, name):
			d.fail(start(n), fmt.Sprintf("%s: no artifact is called %s", where(at), quote(name)),
				"use one of "+strings.Join(d.doc.artifacts, ", ")+", or add it under artifacts")
		case strings.Contains(s, "{"+found+"}"):
			d.fail(start(n), fmt.Sprintf("%s: %s has too many braces", where(at), quote("{"+found+"}")), "write "+found)
		case d.doc.places != nil:
			return d.doc.places[name]
		}
		return found
	})
}

// Place returns the file with the paths of its artifacts, by name, in place of their
// placeholders. The error is of type [Errors].
func (f *File) Place(paths map[string]string) (*File, error) {
	doc := *f.doc
	doc.places = paths
	placed, err := read(&doc)
	if err != nil {
		return nil, err
	}
	placed.Dir, placed.Digest = f.Dir, f.Digest
	return placed, nil
}

// Uses returns the names of the artifacts that suites, which wanted selects by their
// index, and the build of all suites name, sorted.
func (f *File) Uses(wanted func(i int) bool) []string {
	found := map[string]bool{}
	d := f.doc.decoder()
	for _, p := range d.pairs(f.doc.root, "") {
		seq, ok := d.resolve(p.node).(*ast.SequenceNode)
		switch {
		case p.key == "build":
			d.uses(p.node, 0, found)
		case p.key == "suites" && ok:
			for i, item := range seq.Values {
				if wanted(i) {
					d.uses(item, 0, found)
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(name string) bool { _, ok := f.Artifacts[name]; return !ok })
}

// uses collects the names in the placeholders at and below n.
func (d *decoder) uses(n ast.Node, depth int, found map[string]bool) {
	if depth > 2*maxDepth || !d.spend(n, 1) {
		return // decoding has complained
	}
	switch r := d.resolve(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		for _, p := range d.pairs(r, "") {
			d.uses(p.node, depth+1, found)
		}
	case *ast.SequenceNode:
		for _, item := range r.Values {
			d.uses(item, depth+1, found)
		}
	case nil:
	default:
		s, _ := scalarText(r)
		for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
			found[m[1]] = true
		}
	}
}
