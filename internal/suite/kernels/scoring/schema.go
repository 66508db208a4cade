package scoring

import (
	"maps"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// components are the schemas with names: refusals and the documents of flashinfer-bench,
// of which only the keys that must be there are listed.
var components = map[string]*jsonschema.Schema{
	"Refusal":    keyed("a refusal in FastAPI's form", "detail"),
	"Definition": keyed("what is computed, in flashinfer-bench's form", "name", "op_type", "axes", "inputs", "outputs", "reference"),
	"Workload":   keyed("sizes and inputs, in flashinfer-bench's form", "uuid", "axes", "inputs"),
	"Solution":   keyed("a program, in flashinfer-bench's form", "name", "definition", "author", "spec", "sources"),
	"Trace":      keyed("the result of a case, in flashinfer-bench's form", "definition", "workload", "solution", "evaluation"),
}

func keyed(text string, keys ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: text, Required: keys}
}

func component(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
}

func words[T ~string](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

func between(minimum, maximum float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", Minimum: &minimum, Maximum: &maximum}
}

// written are the types whose schemas are not those of their kind.
var written = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[definitionJSON](): component("Definition"),
	reflect.TypeFor[workloadJSON]():   component("Workload"),
	reflect.TypeFor[solutionJSON]():   component("Solution"),
	reflect.TypeFor[traceJSON]():      component("Trace"),
	reflect.TypeFor[Status]():         words(statuses...),
	reflect.TypeFor[kind]():           words(evaluating, watched),
	reflect.TypeFor[seconds]():        between(0, maxWait),
	reflect.TypeFor[object]():         {Type: "object"},
}

// schema is that of the JSON of a type. It refuses unknown keys of structures, as read
// does.
func (s *Server) schema(t reflect.Type) (*jsonschema.Schema, error) {
	types := maps.Clone(written)
	types[reflect.TypeFor[toolNames]()] = &jsonschema.Schema{Types: []string{"null", "array"}, Items: words(s.Tools...)}
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: types})
}
