package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var validName = lazyregexp.New(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)

// reservedNames are the folder of the history, which is beside those of names, and an
// ending that git refuses.
var reservedNames = []string{"history", "lock"}

// name checks the name of a configuration, which becomes part of paths, branches,
// artifacts and checks.
func (d *decoder) name(n ast.Node, name string) {
	if !ValidName(name) {
		d.fail(start(n), fmt.Sprintf("name: %s cannot name a configuration", quote(name)),
			`write 1 to 32 of a-z, 0-9 and "-", the first and the last a letter or digit, and none of `+strings.Join(reservedNames, ", "))
	}
}

// ValidName reports whether a configuration may have the name.
func ValidName(name string) bool {
	return validName.MatchString(name) && !slices.Contains(reservedNames, name)
}

// NameOf returns the name that a configuration gives itself, whatever else is wrong with
// it. It is "" where there is none, or none that is valid.
func NameOf(data []byte) string {
	doc, err := parse("", data)
	if err != nil {
		return ""
	}
	var file struct {
		Name string `yaml:"name"`
	}
	d := doc.decoder()
	if d.structure(doc.root, "", &file, "*"); d.err() != nil || !ValidName(file.Name) {
		return ""
	}
	return file.Name
}
