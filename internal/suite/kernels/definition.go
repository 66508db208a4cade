package kernels

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const maxDefinition = 16 << 20 // bytes, as in datasets

// ReadDefinition reads a definition from its JSON file.
func ReadDefinition(path string) (*flashinfer.Definition, error) {
	text, err := suite.ReadResult(path, path, maxDefinition)
	if err != nil {
		return nil, fmt.Errorf("%w: name the JSON file of a definition", err)
	}
	return flashinfer.ParseDefinition(path, text)
}

// FindDefinition returns a definition by its JSON file, or by its name in the dataset of
// a folder.
func FindDefinition(name, folder string) (*flashinfer.Definition, error) {
	if folder == "" && strings.HasSuffix(name, ".json") {
		return ReadDefinition(name)
	}
	if folder == "" {
		return nil, fmt.Errorf("%q is not a JSON file: name the definition's, or add --local with the folder of its dataset", name)
	}
	ds, err := flashinfer.Load(folder)
	if ds == nil {
		return nil, err
	}
	if d := ds.Definition(name); d != nil {
		return d, nil
	}
	if err != nil { // it may be in a file that cannot be read
		return nil, err
	}
	return nil, fmt.Errorf("%s has no definition %q%s: write a name that is in definitions/", folder, name, nearDefinition(ds, name))
}

func nearDefinition(ds *flashinfer.Dataset, name string) string {
	var names []string
	for _, d := range ds.Definitions {
		names = append(names, d.Name)
	}
	if word := text.Nearest(name, names); word != "" {
		return fmt.Sprintf(" (did you mean %s?)", word)
	}
	return ""
}
