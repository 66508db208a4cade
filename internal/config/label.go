package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// label checks the name of a suite, which becomes part of file names.
func (d *decoder) label(n ast.Node, path, name string) {
	ok := len(name) <= 64 && !strings.ContainsAny(name[:1], "._-")
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("._-", c) >= 0
	}
	if !ok {
		d.fail(start(n), fmt.Sprintf("%s: %s cannot be part of a file name", path, quote(name)),
			`write 1 to 64 letters, digits, ".", "-" or "_", the first a letter or digit`)
	}
}
