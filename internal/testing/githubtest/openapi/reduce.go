package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object of the description.
type object = map[string]any

// Reduce cuts full, an OpenAPI 3.0 document in JSON, down to the operations
// with the given ids and to the components these refer to, and drops what only
// people read. The same input gives the same bytes. An id that full does not
// have is an error.
func Reduce(full []byte, operations []string) ([]byte, error) {
	var doc object
	decoder := json.NewDecoder(bytes.NewReader(full))
	decoder.UseNumber()
	if err := decoder.Decode(&doc); err != nil {
		return nil, fmt.Errorf("decode the full description: %w", err)
	}
	info, _ := doc["info"].(object)
	if info == nil {
		return nil, errors.New(`the full description has no "info": is it an OpenAPI document?`)
	}
	paths, err := selectPaths(doc, operations)
	if err != nil {
		return nil, err
	}
	components, err := selectComponents(doc, paths)
	if err != nil {
		return nil, err
	}
	return encode(object{
		"openapi": doc["openapi"],
		"info": object{
			"title":   info["title"],
			"version": info["version"],
			"license": info["license"],
			"x-note":  "Reduced from @octokit/openapi generated/api.github.com.json. Do not edit: see README.md.",
		},
		"paths":      paths,
		"components": components,
	})
}

// selectPaths returns the paths that have a wanted operation, with the wanted
// operations only.
func selectPaths(doc object, operations []string) (object, error) {
	missing := slices.Clone(operations)
	paths := object{}
	all, _ := doc["paths"].(object)
	for path, item := range all {
		kept := object{}
		methods, _ := item.(object)
		for method, v := range methods {
			operation, _ := v.(object)
			id, _ := operation["operationId"].(string)
			if id != "" && slices.Contains(operations, id) {
				kept[method] = prune(operation, "")
				missing = slices.DeleteFunc(missing, func(m string) bool { return m == id })
			}
		}
		if len(kept) > 0 {
			paths[path] = kept
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the full description has no operation %s", strings.Join(missing, ", "))
	}
	return paths, nil
}

// selectComponents returns every component that root refers to, directly or
// through other components, by kind and name.
func selectComponents(doc object, root any) (object, error) {
	components := object{}
	all, _ := doc["components"].(object)
	todo := references(root, nil)
	for len(todo) > 0 {
		ref := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		kind, name, _ := strings.Cut(strings.TrimPrefix(ref, refPrefix), "/")
		kept, _ := components[kind].(object)
		if kept == nil {
			kept = object{}
			components[kind] = kept
		}
		if kept[name] != nil {
			continue
		}
		named, _ := all[kind].(object)
		if named[name] == nil {
			return nil, fmt.Errorf("the full description has no %s", ref)
		}
		component, _ := prune(object{name: named[name]}, kind).(object)
		kept[name] = component[name]
		todo = references(kept[name], todo)
	}
	return components, nil
}

const refPrefix = "#/components/"

// references appends every reference in v to refs. It looks at all strings,
// because a discriminator's mapping has references without a "$ref".
func references(v any, refs []string) []string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, refPrefix) {
			refs = append(refs, v)
		}
	case []any:
		for _, child := range v {
			refs = references(child, refs)
		}
	case object:
		for _, child := range v {
			refs = references(child, refs)
		}
	}
	return refs
}

// named lists the keywords whose value maps names to things. The names are not
// keywords: a property may well be called "description".
var named = []string{"properties", "schemas", "responses", "parameters", "headers", "content", "mapping"}

// prune returns a copy of v, found under keyword, without what does not bear on
// validation.
func prune(v any, keyword string) any {
	switch v := v.(type) {
	case []any:
		if keyword == "enum" || keyword == "required" {
			return v
		}
		list := make([]any, len(v))
		for i, child := range v {
			list[i] = prune(child, "")
		}
		return list
	case object:
		if keyword == "default" {
			return v
		}
		isNamed := slices.Contains(named, keyword)
		kept := object{}
		for key, child := range v {
			switch {
			case isNamed:
				kept[key] = prune(child, "")
			case !decoration(key):
				kept[key] = prune(child, key)
			}
		}
		if keyword == "responses" {
			describe(kept)
		}
		return kept
	}
	return v
}

// decoration reports whether a keyword does not bear on validation.
func decoration(keyword string) bool {
	switch keyword {
	case "description", "summary", "title", "tags", "externalDocs", "example", "examples", "deprecated", "links":
		return true
	}
	return strings.HasPrefix(keyword, "x-") && keyword != "x-multi-segment"
}

// describe gives each response the description without which the document
// would not be valid.
func describe(responses object) {
	for _, v := range responses {
		if response, ok := v.(object); ok && response["$ref"] == nil {
			response["description"] = ""
		}
	}
}

// encode writes doc with one line per path and component, so that a new
// release of the description is readable as a diff.
func encode(doc object) ([]byte, error) {
	var b bytes.Buffer
	if err := encodeObject(&b, doc, 3); err != nil {
		return nil, fmt.Errorf("encode the reduced description: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// encodeObject writes v with its members on lines of their own, down to the
// given depth.
func encodeObject(b *bytes.Buffer, v any, depth int) error {
	members, ok := v.(object)
	if !ok || depth == 0 || len(members) == 0 {
		data, err := json.Marshal(v)
		b.Write(data)
		return err
	}
	separator := "{\n"
	for _, name := range slices.Sorted(maps.Keys(members)) {
		fmt.Fprintf(b, "%s%q: ", separator, name)
		if err := encodeObject(b, members[name], depth-1); err != nil {
			return err
		}
		separator = ",\n"
	}
	b.WriteString("\n}")
	return nil
}
