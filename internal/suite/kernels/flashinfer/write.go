package flashinfer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// TracePath returns where the traces of an author's solutions of a definition
// belong in a dataset, relative to its root and with the system's separators. It
// is an error if a name cannot be a part of a path.
func TracePath(d *Definition, author string) (string, error) {
	return layout(tracesFolder, ".jsonl", author, d.OpType, d.Name)
}

func layout(folder, ending string, names ...string) (string, error) {
	path := folder
	for _, name := range names {
		if !inside(name) || strings.Contains(name, "/") {
			return "", fmt.Errorf("%s cannot name a file or folder: rename it", quote(name))
		}
		path = filepath.Join(path, name)
	}
	return path + ending, nil
}
