package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Pairing describes how the base of pairs is made.
type Pairing struct {
	// FromHead are globs of files that the base gets from the code under test.
	FromHead []string `yaml:"from_head,required"`
	// Position is where from_head stands in its file.
	Position Position `json:"-"`
}

// maxFromHead bounds the globs, each of which git is asked about.
const maxFromHead = 100

// pairing complains about globs that lead out of the configuration's folder.
func (d *decoder) pairing(p *Pairing, n ast.Node) {
	list := d.at(n, "ab.from_head")
	at := start(list)
	p.Position = Position{d.doc.name, at.Line, at.Column}
	if len(p.FromHead) == 0 || len(p.FromHead) > maxFromHead {
		d.fail(at, fmt.Sprintf("ab.from_head: has %d globs", len(p.FromHead)),
			fmt.Sprintf("list 1 to %d globs of files, as in [bench/**], or remove ab", maxFromHead))
		return
	}
	for i, glob := range p.FromHead {
		if why := wrongGlob(glob); why != "" {
			d.fail(start(child(d, list, "", i)), fmt.Sprintf("ab.from_head[%d]: %s %s", i, quote(glob), why),
				"write a path below the configuration's folder, as in bench/** or scripts/bench.py")
		}
	}
}

// wrongGlob returns why a glob cannot name files of the configuration's folder; "" if it can.
func wrongGlob(glob string) string {
	parts := strings.Split(glob, "/")
	switch {
	case glob == "" || path.Clean(glob) == ".":
		return "names no file"
	case path.IsAbs(glob) || strings.ContainsAny(glob, `\`) || len(glob) > 1 && glob[1] == ':':
		return "is not a relative path with slashes"
	case slices.Contains(parts, ".."):
		return "leaves the folder"
	case slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") }):
		return "is git's own folder"
	}
	return ""
}
