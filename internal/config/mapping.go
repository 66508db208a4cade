package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/accelgate/accelgate/internal/text"
)

// table fills a map. Entries that it already has stay unless the file gives
// them another value: a preset's variables can be changed one by one.
func (d *decoder) table(n ast.Node, path string, v reflect.Value) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, p := range d.pairs(n, path) {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(p.node, join(path, p.key), elem)
		v.SetMapIndex(reflect.ValueOf(p.key).Convert(v.Type().Key()), elem)
	}
}

// structure fills the struct that into points to, and returns the values of
// the mapping by key. Keys named in extra are known and left alone; "*" there
// stands for any key.
func (d *decoder) structure(n ast.Node, path string, into any, extra ...string) map[string]ast.Node {
	v := reflect.ValueOf(into).Elem()
	fields, required := fieldsOf(v.Type())
	if index, ok := shorthand(v.Type(), "scalar"); ok {
		if _, scalar := scalarText(d.resolve(n)); scalar {
			d.value(n, path, v.FieldByIndex(index))
			return nil
		}
	}
	if index, ok := shorthand(v.Type(), "list"); ok {
		if _, list := d.resolve(n).(*ast.SequenceNode); list {
			d.value(n, path, v.FieldByIndex(index))
			return nil
		}
	}
	known := append(slices.Collect(maps.Keys(fields)), extra...)
	slices.Sort(known)
	found := map[string]ast.Node{}
	before := len(d.errs)
	for _, p := range d.pairs(n, path) {
		found[p.key] = p.node
		if index, ok := fields[p.key]; ok {
			d.value(p.node, join(path, p.key), v.FieldByIndex(index))
			d.choice(p.node, join(path, p.key), v.Type().FieldByIndex(index), v.FieldByIndex(index))
		} else if !slices.Contains(extra, p.key) && !slices.Contains(extra, "*") {
			d.unknownKey(p, path, known)
		}
	}
	if _, ok := d.resolve(n).(*ast.MappingNode); !ok && len(d.errs) > before {
		return found // its type is wrong: no need to list what it lacks
	}
	for _, key := range required {
		if found[key] == nil {
			d.fail(start(n), fmt.Sprintf("%s: %s is missing", where(path), key), fmt.Sprintf("add %q here", key+":"))
		} else if s, ok := d.resolve(found[key]).(*ast.StringNode); ok && s.Value == "" {
			d.fail(start(found[key]), join(path, key)+": is empty", "write a value")
		}
	}
	return found
}

func (d *decoder) unknownKey(p pair, path string, known []string) {
	hint := "known keys: " + strings.Join(known, ", ")
	if now := replaced[p.key]; now.in(path) {
		d.fail(p.at, fmt.Sprintf("unknown key %s %s", quote(p.key), in(path)), now.hint)
		return
	}
	if s := text.Nearest(p.key, known); s != "" {
		hint = fmt.Sprintf("did you mean %q? (%s)", s, hint)
	}
	d.fail(p.at, fmt.Sprintf("unknown key %s %s", quote(p.key), in(path)), hint)
}

// fieldsOf maps keys to fields, by tags of the form `yaml:"key"`,
// `yaml:"key,required"`, `yaml:"key,scalar"` or `yaml:"key,list"`. Fields of embedded structs count as the struct's own.
func fieldsOf(t reflect.Type) (fields map[string][]int, required []string) {
	fields = map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if key == "" || !f.IsExported() {
			continue
		}
		fields[key] = f.Index
		if option == "required" {
			required = append(required, key)
		}
	}
	return fields, required
}

// shorthand finds the field that a plain value or a list stands for where a mapping is
// wanted, by the tags `yaml:"key,scalar"` and `yaml:"key,list"`.
func shorthand(t reflect.Type, option string) (index []int, ok bool) {
	for _, f := range reflect.VisibleFields(t) {
		if strings.HasSuffix(f.Tag.Get("yaml"), ","+option) {
			return f.Index, true
		}
	}
	return nil, false
}

// pair is one entry of a mapping.
type pair struct {
	key  string
	at   *token.Position
	node ast.Node
}

// pairs lists the entries of a mapping and complains about what is none.
func (d *decoder) pairs(n ast.Node, path string) []pair {
	var values []*ast.MappingValueNode
	switch m := d.resolve(n).(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		d.wrongType(n, path, "a mapping")
		return nil
	}
	if !d.spend(n, len(values)) {
		return nil
	}
	list := make([]pair, 0, len(values))
	lines := make(map[string]int, len(values))
	for _, mv := range values {
		at := start(mv.Key)
		key, ok := d.key(mv.Key)
		if !ok {
			d.fail(at, "this key "+in(path)+" is not text", "write the keys out; merge keys (<<) are not supported")
			continue
		}
		if first, dup := lines[key]; dup {
			d.fail(at, fmt.Sprintf("duplicate key %s %s, first at line %d", quote(key), in(path), first), "remove one of the two")
			continue
		}
		lines[key] = at.Line
		list = append(list, pair{key, at, mv.Value})
	}
	return list
}

func (d *decoder) key(n ast.Node) (string, bool) {
	if k, ok := n.(*ast.MappingKeyNode); ok {
		n = k.Value
	}
	s, ok := scalarText(d.resolve(n))
	return s, ok
}
