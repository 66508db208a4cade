package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Difference is a value that two configurations have differently. Old is "" where
// only the new one has it, New where only the old one does.
type Difference struct {
	Path     string // such as suites[s].metrics[decode_tps].better
	Old, New string // as written; a list of plain values in one piece
}

// Differences lists what the values of two configurations differ in, by path.
// Comments, layout, the order of keys and that of named items do not count. It
// reports YAML alone: that the keys are known is for [Parse]. Nil data is a file
// without values. Errors are of type [Errors].
func Differences(name string, old, new []byte) ([]Difference, error) {
	before, err := flatten(name, old)
	if err != nil {
		return nil, err
	}
	after, err := flatten(name, new)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	var list []Difference
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if before[path] != after[path] {
			list = append(list, Difference{path, before[path], after[path]})
		}
	}
	return list, nil
}

// flatten returns the plain values of a file by their paths.
func flatten(name string, data []byte) (map[string]string, error) {
	values := map[string]string{}
	if data == nil {
		return values, nil
	}
	doc, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	f := flattener{doc.decoder(), values}
	f.node(doc.root, "", 0)
	return values, f.err()
}

type flattener struct {
	*decoder
	values map[string]string
}

// node adds the values at and below n. A value that is empty has a spelling.
func (f *flattener) node(n ast.Node, path string, depth int) {
	if depth > 2*maxDepth {
		f.fail(start(n), where(path)+": aliases nest too deeply", "write the values out instead")
		return
	}
	if !f.spend(n, 1) {
		return
	}
	switch r := f.resolve(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		entries := f.pairs(r, path)
		if len(entries) == 0 {
			f.values[path] = "{}"
		}
		for _, e := range entries {
			f.node(e.node, strings.TrimPrefix(path+"."+simple(e.key), "."), depth+1)
		}
	case *ast.SequenceNode:
		f.list(r, path, depth)
	case nil:
	default:
		f.values[path] = plainText(r)
	}
}

// list adds a list of plain values as one value, and others item by item, by
// their names where each has one of its own.
func (f *flattener) list(list *ast.SequenceNode, path string, depth int) {
	texts, plain := make([]string, len(list.Values)), true
	for i, item := range list.Values {
		text, ok := f.scalarItem(item)
		texts[i], plain = text, plain && ok
	}
	if plain {
		if f.spend(list, len(texts)) {
			f.values[path] = "[" + strings.Join(texts, ", ") + "]"
		}
		return
	}
	names := f.names(list)
	for i, item := range list.Values {
		key := fmt.Sprint(i)
		if names != nil {
			key = simple(names[i])
		}
		f.node(item, path+"["+key+"]", depth+1)
	}
}

// names returns the names of a list's items; nil unless each has another one.
func (f *flattener) names(list *ast.SequenceNode) []string {
	names := make([]string, 0, len(list.Values))
	for _, item := range list.Values {
		name := f.name(item)
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// name is what an item is called by, by one of the keys that name things.
func (f *flattener) name(item ast.Node) string {
	entries := f.resolve(item)
	switch entries.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		text, _ := scalarText(entries) // a value may be written as its name alone
		return text
	}
	for _, e := range f.pairs(entries, "") {
		if text, ok := scalarText(f.resolve(e.node)); ok && (e.key == "name" || e.key == "id" || e.key == "env" || e.key == "host") {
			return text
		}
	}
	return ""
}

func (f *flattener) scalarItem(n ast.Node) (string, bool) {
	r := f.resolve(n)
	if r == nil {
		return "", false
	}
	if _, ok := scalarText(r); !ok {
		return "", false
	}
	return plainText(r), true
}

// plainText is a value as it is compared.
func plainText(n ast.Node) string {
	s, ok := scalarText(n)
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return simple(s)
	}
	if !ok {
		return "null"
	}
	return s
}

// simple quotes a text that could be taken for another value, or for a part of a
// path.
func simple(s string) string {
	if s == "" || s == "null" || strings.ContainsAny(s, "\"\\,.[]{}\n ") {
		return fmt.Sprintf("%q", s)
	}
	return s
}
