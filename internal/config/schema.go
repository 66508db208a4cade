package config

import (
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// SchemaID is where the JSON Schema of accelgate.yaml is published.
const SchemaID = "https://raw.githubusercontent.com/accelgate/accelgate/main/schema/accelgate.schema.json"

type object = map[string]any

// Schema returns the JSON Schema (draft 7, which editors read) of accelgate.yaml. Bodies
// are values of the types that suites are decoded into, by their kind. The schema follows
// the same tags as [Suite.Decode]; checks beyond types and names are not in it.
func Schema(bodies map[string]any) any {
	kinds := slices.Sorted(maps.Keys(bodies))
	definitions, branches := object{}, []any{}
	for _, kind := range kinds {
		definitions[kind] = suiteSchema(kind, bodies[kind])
		branches = append(branches, object{
			"if":   object{"properties": object{"kind": object{"const": kind}}, "required": []string{"kind"}},
			"then": object{"$ref": "#/definitions/" + kind},
		})
	}
	file := structSchema(reflect.TypeFor[File]())
	file["$schema"], file["$id"], file["title"] = "http://json-schema.org/draft-07/schema#", SchemaID, "accelgate.yaml"
	file["definitions"] = definitions
	file["properties"].(object)["version"] = object{"const": Version}
	file["properties"].(object)["suites"] = object{"type": "array", "minItems": 1, "items": object{
		"type": "object", "required": []string{"name", "kind"}, "properties": object{"kind": object{"enum": kinds}}, "allOf": branches,
	}}
	file["required"] = []string{"version", "suites"}
	return file
}

// suiteSchema is a suite of a kind: its body with the keys of all suites.
func suiteSchema(kind string, body any) object {
	all := structSchema(reflect.TypeOf(body))
	properties := all["properties"].(object)
	maps.Copy(properties, structSchema(reflect.TypeFor[Suite]())["properties"].(object))
	properties["kind"] = object{"const": kind}
	return all
}

// structSchema is a mapping without unknown keys.
func structSchema(t reflect.Type) object {
	fields, required := fieldsOf(t)
	properties := object{}
	for key, index := range fields {
		f := t.FieldByIndex(index)
		properties[key] = typeSchema(f.Type)
		if values := oneOf(f); len(values) > 0 {
			properties[key] = object{"enum": values}
		}
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// textSchema is what a field of text takes: any plain value.
var textSchema = object{"type": []string{"string", "number", "boolean"}}

// typeSchema is a value of a type that [Suite.Decode] lists.
func typeSchema(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Percent]():
		return object{"type": []string{"string", "number"}, "pattern": `^[0-9.]+%?$`}
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return textSchema
	case t == reflect.TypeFor[time.Duration]():
		return object{"type": []string{"string", "number"}, "pattern": `^[+-]?([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$`}
	}
	switch t.Kind() {
	case reflect.Struct:
		if _, ok := shorthand(t); ok {
			return object{"anyOf": []any{textSchema, structSchema(t)}}
		}
		return structSchema(t)
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.String:
		return textSchema
	}
	return object{"type": "integer"}
}

// oneOf are the values that a field of text takes, by a tag such as `oneof:"warn fail"`.
func oneOf(f reflect.StructField) []string { return strings.Fields(f.Tag.Get("oneof")) }
