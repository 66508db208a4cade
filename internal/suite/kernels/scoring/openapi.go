package scoring

import (
	"net/http"
	"reflect"

	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// object is JSON.
type object map[string]any

// openapi describes the routes as OpenAPI 3.1 does: https://spec.openapis.org/oas/v3.1.1.html
func (s *Server) openapi(*http.Request) (object, error) {
	paths := map[string]object{}
	for _, r := range s.routes() {
		o, err := s.operation(r)
		if err != nil {
			return nil, err
		}
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		paths[r.path][strings.ToLower(r.method)] = o
	}
	components := object{"schemas": components}
	document := object{
		"openapi":    "3.1.0",
		"info":       object{"title": "accelgate kernels serve", "version": "1"},
		"paths":      paths,
		"components": components,
	}
	if s.Token != "" {
		components["securitySchemes"] = object{"token": object{"type": "http", "scheme": "bearer"}}
		document["security"] = []object{{"token": []string{}}}
	}
	return document, nil
}

func (s *Server) operation(r route) (object, error) {
	answer, err := s.content(r.result, nil)
	if err != nil {
		return nil, err
	}
	refusal := object{"application/json": object{"schema": component("Refusal")}}
	o := object{"summary": r.text, "responses": object{
		"200":     object{"description": "The answer", "content": answer},
		"default": object{"description": "Why the request is refused", "content": refusal}}}
	if list := s.parametersOf(r); len(list) > 0 {
		o["parameters"] = list
	}
	if r.body != nil {
		body, err := s.content(reflect.TypeOf(r.body), r.body)
		if err != nil {
			return nil, err
		}
		o["requestBody"] = object{"required": true, "content": body}
	}
	return o, nil
}

// content is the content of a body of a type. The example is nil for none.
func (s *Server) content(t reflect.Type, example any) (object, error) {
	if t == reflect.TypeFor[page]() {
		return object{"text/html": object{"schema": &jsonschema.Schema{Type: "string"}}}, nil
	}
	schema, err := s.schema(t)
	if err != nil {
		return nil, err
	}
	media := object{"schema": schema}
	if example != nil {
		media["example"] = example
	}
	return object{"application/json": media}, nil
}

var braces = lazyregexp.New(`\{(\w+)\}`)

// parametersOf are those of a path, and of the query behind it.
func (s *Server) parametersOf(r route) (list []object) {
	known := s.parameters()
	for _, found := range braces.FindAllStringSubmatch(r.path, -1) {
		p := known[found[1]]
		list = append(list, object{
			"name":        found[1],
			"in":          "path",
			"required":    true,
			"description": p.text,
			"example":     p.example,
			"schema":      &jsonschema.Schema{Type: "string"},
		})
	}
	if r.query != "" {
		list = append(list, object{"name": r.query, "in": "query", "description": known[r.query].text, "schema": between(0, maxWait)})
	}
	return list
}
