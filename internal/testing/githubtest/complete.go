package githubtest

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// object and list are JSON values as encoding/json decodes them.
type (
	object = map[string]any
	list   = []any
)

// completion adds to a response what GitHub always sends and no client of ours
// reads: nulls, addresses, flags, counts and empty lists that the schema
// requires. It makes up no other text or object, so a handler that forgets
// something of meaning still breaks the contract.
type completion struct {
	base string // scheme and host of the server
}

// complete returns value as plain JSON with its missing required members added.
func (c completion) complete(schema *openapi3.Schema, value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		return nil, err
	}
	if schema == nil {
		return plain, nil
	}
	return c.fill(schema, plain), nil
}

func (c completion) fill(schema *openapi3.Schema, value any) any {
	for _, alternatives := range []openapi3.SchemaRefs{schema.OneOf, schema.AnyOf} {
		if len(alternatives) > 0 {
			return c.fillOne(alternatives, value)
		}
	}
	for _, part := range schema.AllOf {
		value = c.fill(part.Value, value)
	}
	switch value := value.(type) {
	case list:
		if schema.Items == nil {
			return value
		}
		filled := make(list, len(value))
		for i, item := range value {
			filled[i] = c.fill(schema.Items.Value, item)
		}
		return filled
	case object:
		return c.fillObject(schema, value)
	}
	return value
}

// fillOne fills value as the first alternative that it then matches.
func (c completion) fillOne(alternatives openapi3.SchemaRefs, value any) any {
	for _, alternative := range alternatives {
		filled := c.fill(alternative.Value, value)
		if alternative.Value.VisitJSON(filled) == nil {
			return filled
		}
	}
	return value
}

func (c completion) fillObject(schema *openapi3.Schema, value object) object {
	filled := maps.Clone(value)
	for name, child := range value {
		if property := schema.Properties[name]; property != nil {
			filled[name] = c.fill(property.Value, child)
		}
	}
	for _, name := range schema.Required {
		if _, there := value[name]; there || schema.Properties[name] == nil {
			continue
		}
		if made, ok := c.unset(name, schema.Properties[name].Value); ok {
			filled[name] = made
		}
	}
	return filled
}

// unset returns the value of a member that nobody set. Addresses lead to a
// route that does not exist, so that following one is noticed.
func (c completion) unset(name string, schema *openapi3.Schema) (value any, ok bool) {
	address := schema.Format == "uri" || strings.HasSuffix(name, "url") || strings.HasSuffix(name, "href")
	switch {
	case schema.Nullable:
		return nil, true
	case name == "_links":
		return c.fillObject(schema, object{}), true
	case schema.Properties["href"] != nil:
		return object{"href": c.base + "/not-served/" + name}, true
	case schema.Type.Is("string") && address:
		return c.base + "/not-served/" + name, true
	case name == "node_id":
		return "NODE", true
	case schema.Type.Is("boolean"):
		return false, true
	case schema.Type.Is("integer"):
		return 0, true
	case schema.Type.Is("array"):
		return list{}, true
	}
	return nil, false
}
