package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	referenceBegin = "<!-- written by TestSchemaIsFresh -->\n"
	referenceEnd   = "<!-- end of keys -->\n"
)

// node is the part of a schema that the pages show.
type node struct {
	Description, Pattern string
	Type, Const, Default any
	Enum                 []any
	Required             []string
	Properties           map[string]node
	Items                *node
	AnyOf                []node
	AdditionalProperties json.RawMessage // a node or false
	Definitions          map[string]node
}

// referencePages are the pages with lists of keys.
var referencePages = map[string]string{"models": "models.md", "cases": "cases.md", "endpoint": "endpoints.md", "exec": "exec.md", "kernels": "kernels.md", "analysis": "analysis.md"}

// TestSchemaIsFreshInReference: the pages' lists of keys are what the schema says, and the schema describes each of them.
func TestSchemaIsFreshInReference(t *testing.T) {
	var root node
	if err := json.Unmarshal(printed(t, "schema", "config"), &root); err != nil {
		t.Fatal(err)
	}
	checkPage(t, "keys.md", root)
	frame := root.Properties["suites"].Items.Properties
	for kind, body := range root.Definitions {
		maps.DeleteFunc(body.Properties, func(key string, _ node) bool { return frame[key].Description != "" })
		checkPage(t, referencePages[kind], body)
	}
}

// checkPage compares a page's list of keys with a mapping, or writes it.
func checkPage(t *testing.T, name string, n node) {
	file := "../../docs/" + name
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), referenceBegin)
	_, after, found := strings.Cut(rest, referenceEnd)
	if !found {
		t.Fatalf("%s has no %s", file, referenceEnd)
	}
	p := page{t, name, map[string]string{}}
	fresh := before + referenceBegin + p.section(n, "") + "\n" + referenceEnd + after
	if *update {
		if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if fresh != string(data) {
		t.Errorf("%s is not what the schema has: run go test ./internal/cli -run TestSchemaIsFresh -update", file)
	}
}

// page is a page of docs whose list is written.
type page struct {
	*testing.T
	name  string
	lists map[string]string // the path of the first mapping with these keys
}

// section lists the plain keys of an object, then the objects among them as sections of their own.
func (p page) section(n node, path string) string {
	var keys, sections strings.Builder
	for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
		value, at := n.Properties[key], path+key
		if value.Description == "" {
			p.Errorf("%s of %s has no description: add one to reference.go of package config, or keys.go of the kind", at, p.name)
		}
		if inner, suffix := value.mapping(); inner.Properties != nil {
			fmt.Fprintf(&sections, "\n### `%s`\n\n%s\n%s", at+suffix, p.text(value), p.once(inner, at+suffix))
			continue
		}
		fmt.Fprintf(&keys, "- `%s`%s: %s\n", at, value.facts(slices.Contains(n.Required, key)), p.text(value))
	}
	if keys.Len() > 0 {
		return "\n" + keys.String() + sections.String()
	}
	return sections.String()
}

// once is the section of a mapping, or where the page has the same keys already.
func (p page) once(n node, path string) string {
	keys, err := json.Marshal(n.Properties)
	if err != nil {
		p.Fatal(err)
	}
	same := string(keys)
	if first, ok := p.lists[same]; ok {
		return fmt.Sprintf("\nKeys as in `%s`.\n", first)
	}
	p.lists[same] = path
	return p.section(n, path+".")
}

// text is a description with the page's own links.
func (p page) text(n node) string {
	text := strings.ReplaceAll(n.Description, "](https://github.com/accelgate/accelgate/blob/main/docs/", "](")
	return strings.ReplaceAll(text, "]("+p.name+"#", "](#")
}

// mapping is the one that is in a value: the value itself, its items, or what stands under its names.
func (n node) mapping() (inner node, suffix string) {
	var named node
	switch {
	case n.Items != nil:
		inner, suffix = n.Items.mapping()
		return inner, "[]" + suffix
	case len(n.AnyOf) > 0: // text or a mapping
		return n.AnyOf[1], ""
	case n.Properties == nil && json.Unmarshal(n.AdditionalProperties, &named) == nil:
		return named, ".NAME"
	}
	return n, ""
}

// facts are what a page has in parentheses behind a key: its values, unless it takes any text, or a default or another key shows them.
func (n node) facts(required bool) string {
	var facts []string
	kind := n.kind()
	if listed := n.Enum != nil && !n.describesAll() || n.Enum == nil && kind != "text" && n.Default == nil; listed && !strings.HasPrefix(n.Description, "As in") {
		facts = append(facts, kind)
	}
	if required {
		facts = append(facts, "required")
	}
	if n.Default != nil && n.Default != false { // the description has what true does
		facts = append(facts, fmt.Sprintf("default `%s`", strings.ReplaceAll(fmt.Sprint(n.Default), " ", ", ")))
	}
	if len(facts) == 0 {
		return ""
	}
	return " (" + strings.Join(facts, "; ") + ")"
}

// describesAll reports whether the description names each value that the key takes.
func (n node) describesAll() bool {
	return !slices.ContainsFunc(n.Enum, func(word any) bool { return !strings.Contains(n.Description, fmt.Sprintf("`%v`", word)) })
}

// kind names the values that a key takes.
func (n node) kind() string {
	switch {
	case n.Const != nil:
		return fmt.Sprintf("`%v`", n.Const)
	case n.Enum != nil:
		words := make([]string, len(n.Enum))
		for i, word := range n.Enum {
			words[i] = fmt.Sprintf("`%v`", word)
		}
		return strings.Join(words, ", ")
	case n.Items != nil:
		return "list"
	case strings.Contains(n.Pattern, "%"):
		return "percentage"
	case n.Pattern != "":
		return "duration"
	case n.Type == "object":
		return "map"
	case n.Type == "integer", n.Type == "boolean", n.Type == "number":
		return n.Type.(string)
	}
	return "text"
}
