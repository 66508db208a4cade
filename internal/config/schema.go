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
// are values of the types that suites are decoded into, by their kind, and keys describes
// theirs. The schema follows the same tags as [Suite.Decode]; checks beyond types and names are not in it.
func Schema(bodies map[string]any, keys Keys) any {
	all := maps.Clone(reference)
	maps.Copy(all, keys)
	suite := reflect.TypeFor[Suite]()
	kinds := slices.Sorted(maps.Keys(bodies))
	definitions, branches := object{}, []any{}
	for _, kind := range kinds {
		definitions[kind] = all.suiteSchema(kind, bodies[kind])
		branches = append(branches, object{
			"if":   object{"properties": object{"kind": object{"const": kind}}, "required": []string{"kind"}},
			"then": object{"$ref": "#/definitions/" + kind},
		})
	}
	file := all.structSchema(reflect.TypeFor[File]())
	file["$schema"], file["$id"], file["title"] = "http://json-schema.org/draft-07/schema#", SchemaID, "accelgate.yaml"
	file["definitions"] = definitions
	every := all.structSchema(suite)
	every["properties"].(object)["kind"] = all.describe(object{"enum": kinds}, suite, "kind")
	every["allOf"] = branches
	delete(every, "additionalProperties")
	file["properties"].(object)["version"] = all.describe(object{"const": Version}, reflect.TypeFor[File](), "version")
	file["properties"].(object)["suites"] = all.describe(object{"type": "array", "minItems": 1, "items": every}, reflect.TypeFor[File](),
		"suites")
	file["required"] = []string{"version", "suites"}
	return file
}

// suiteSchema is a suite of a kind: its body with the keys of all suites.
func (keys Keys) suiteSchema(kind string, body any) object {
	all, suite := keys.structSchema(reflect.TypeOf(body)), reflect.TypeFor[Suite]()
	properties := all["properties"].(object)
	maps.Copy(properties, keys.structSchema(suite)["properties"].(object))
	properties["kind"] = keys.describe(object{"const": kind}, suite, "kind")
	return all
}

// structSchema is a mapping without unknown keys.
func (keys Keys) structSchema(t reflect.Type) object {
	fields, required := fieldsOf(t)
	properties := object{}
	for key, index := range fields {
		f := t.FieldByIndex(index)
		property := keys.typeSchema(f.Type)
		if values := oneOf(f); len(values) > 0 {
			property = object{"enum": values}
		}
		properties[key] = keys.describe(property, t, key)
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
func (keys Keys) typeSchema(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Percent]():
		return object{"type": []string{"string", "number"}, "pattern": `^[0-9.]+%?$`}
	case t == reflect.TypeFor[Bound]():
		return object{"type": []string{"string", "number"}}
	case t == reflect.TypeFor[Change]():
		return object{"type": []string{"string", "number"}}
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return textSchema
	case t == reflect.TypeFor[time.Duration]():
		return object{"type": []string{"string", "number"}, "pattern": `^[+-]?([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$`}
	}
	switch t.Kind() {
	case reflect.Struct:
		if _, ok := shorthand(t, "scalar"); ok {
			return object{"anyOf": []any{textSchema, keys.structSchema(t)}}
		}
		if index, ok := shorthand(t, "list"); ok {
			return object{"anyOf": []any{keys.typeSchema(t.FieldByIndex(index).Type), keys.structSchema(t)}}
		}
		return keys.structSchema(t)
	case reflect.Slice:
		item := keys.typeSchema(t.Elem())
		list := object{"type": "array", "items": item}
		if single(t) {
			return object{"anyOf": []any{item, list}}
		}
		return list
	case reflect.Map:
		return object{"type": "object", "additionalProperties": keys.typeSchema(t.Elem())}
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
