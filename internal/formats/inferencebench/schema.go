package inferencebench

import (
	_ "embed" // the schema stands beside the code that it describes
	"slices"
)

//go:embed schema/envelope.v1.schema.json
var jsonSchema []byte

// Schema returns the JSON Schema (draft 2020-12) of this package's output: v1
// and the members that begin with "x_". As in v1, unknown members are allowed
// everywhere. What the schema cannot say, [Parse] does: NaN and Infinity, which
// Python writes, are no JSON, and a seed of 1.0 is no integer to Python.
func Schema() []byte { return slices.Clone(jsonSchema) }
