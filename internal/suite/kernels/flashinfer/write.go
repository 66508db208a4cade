package flashinfer

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// DefinitionPath returns where a definition belongs in a dataset, relative to
// its root and with the system's separators. It is an error if a name cannot
// be a part of a path, here as for the other paths.
func DefinitionPath(d *Definition) (string, error) {
	return layout(definitionsFolder, ".json", d.OpType, d.Name)
}

// SolutionPath is [DefinitionPath] for a solution of a definition.
func SolutionPath(d *Definition, s *Solution) (string, error) {
	return layout(solutionsFolder, ".json", s.Author, d.OpType, d.Name, s.Name)
}

// WorkloadPath is [DefinitionPath] for the workloads of a definition.
func WorkloadPath(d *Definition) (string, error) {
	return layout(workloadsFolder, ".jsonl", d.OpType, d.Name)
}

// TracePath is [DefinitionPath] for the traces of the solutions that an author
// has for a definition.
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

// WriteDefinition writes a definition to its place below root, replacing what
// is there.
func WriteDefinition(root string, d *Definition) error {
	text, err := EncodeDefinition(d)
	if err != nil {
		return err
	}
	path, err := DefinitionPath(d)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(root, path), text)
}

// WriteSolution writes a solution of a definition to its place below root,
// replacing what is there.
func WriteSolution(root string, d *Definition, s *Solution) error {
	text, err := EncodeSolution(s)
	if err != nil {
		return err
	}
	path, err := SolutionPath(d, s)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(root, path), text)
}

// WriteWorkloads writes all workloads of a definition to their place below
// root, replacing what is there.
func WriteWorkloads(root string, d *Definition, workloads []Workload) error {
	var text bytes.Buffer
	for _, w := range workloads {
		line, err := EncodeTrace(&Trace{Definition: d.Name, Workload: w})
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	path, err := WorkloadPath(d)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(root, path), text.Bytes())
}
