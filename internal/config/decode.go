package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/accelgate/accelgate/internal/text"
)

// maxValues bounds what aliases may expand to. A file without aliases cannot
// come near it, because of maxTokens.
const maxValues = 100_000

// decoder fills Go values from a document and collects every complaint
// instead of stopping at the first.
//
// It exists because the YAML package reports one unknown key at a time and
// converts between types silently.
type decoder struct {
	doc   *document
	count int
	depth int
	errs  Errors
}

func (doc *document) decoder() *decoder { return &decoder{doc: doc} }

// err returns the complaints in the order of the file, or nil.
func (d *decoder) err() error {
	if len(d.errs) == 0 {
		return nil
	}
	return d.errs.inOrder()
}

// maxErrors bounds what one hostile file can make us remember.
const maxErrors = 1000

func (d *decoder) fail(at *token.Position, message, hint string) {
	if len(d.errs) == maxErrors {
		return
	}
	d.errs = append(d.errs, &Error{Position{d.doc.name, max(at.Line, 1), max(at.Column, 1)}, message, hint})
}

// value fills v from n. It understands what [Suite.Decode] lists; other types
// are mistakes of the caller and panic.
func (d *decoder) value(n ast.Node, path string, v reflect.Value) {
	if !d.spend(n, 1) {
		return
	}
	if d.depth++; d.depth > 2*maxDepth {
		d.fail(start(n), fmt.Sprintf("%s: aliases nest too deeply", where(path)), "write the values out instead")
		d.depth--
		return
	}
	defer func() { d.depth-- }()
	n = d.resolve(n)
	switch n := n.(type) {
	case nil:
		return // resolve complained
	case *ast.NullNode:
		d.fail(start(n), where(path)+": has no value", "write one or remove the key")
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(n, path, u)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, path, v.Addr().Interface())
	case reflect.Slice:
		d.list(n, path, v)
	case reflect.Map:
		d.table(n, path, v)
	default:
		d.scalar(n, path, v)
	}
}

// spend counts values against maxValues and complains once.
func (d *decoder) spend(n ast.Node, values int) bool {
	if d.count > maxValues {
		return false
	}
	if d.count += values; d.count > maxValues {
		d.fail(start(n), fmt.Sprintf("aliases expand to more than %d values", maxValues), "write the values out instead")
		return false
	}
	return true
}

func (d *decoder) text(n ast.Node, path string, u encoding.TextUnmarshaler) {
	s, ok := scalarText(n)
	if !ok {
		d.wrongType(n, path, "text")
		return
	}
	if err := u.UnmarshalText([]byte(d.expand(n, path, s))); err != nil {
		d.fail(start(n), where(path)+": "+err.Error(), "")
	}
}

func (d *decoder) list(n ast.Node, path string, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if single(v.Type()) && item(n, v.Type().Elem()) {
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		d.value(n, path, v.Index(0))
		return
	}
	if !ok {
		d.wrongType(n, path, "a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, item := range seq.Values {
		d.value(item, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
	}
}

// resolve follows anchors and aliases. It complains and returns nil if there
// is nothing to follow to.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range 2 * maxDepth {
		switch t := n.(type) {
		case *ast.AnchorNode:
			n = t.Value
		case *ast.AliasNode:
			name := t.Value.GetToken().Value
			target, ok := d.doc.anchors[name]
			if !ok {
				d.fail(start(t), fmt.Sprintf("alias %s has no anchor", quote("*"+name)), fmt.Sprintf("define %s first or write the value out", quote("&"+name)))
				return nil
			}
			n = target
		case *ast.TagNode:
			d.fail(start(t), fmt.Sprintf("YAML tag %s is not supported", quote(t.Start.Value)), "remove it")
			return nil
		default:
			return n
		}
	}
	d.fail(start(n), "aliases refer to each other without an end", "write the value out")
	return nil
}

// scalar fills a string, boolean, number or duration. Text takes any plain
// value exactly as written, so 1.10 stays "1.10"; a number or boolean never
// takes quoted text.
func (d *decoder) scalar(n ast.Node, path string, v reflect.Value) {
	s, isScalar := scalarText(n)
	switch {
	case v.Kind() == reflect.String && isScalar:
		if strings.ContainsRune(s, 0) {
			d.fail(start(n), where(path)+": text holds a NUL character", "remove it")
			return
		}
		v.SetString(d.expand(n, path, s))
	case v.Kind() == reflect.String:
		d.wrongType(n, path, "text")
	case v.Kind() == reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			return
		}
		d.wrongType(n, path, "true or false")
	case v.Type() == reflect.TypeFor[time.Duration]():
		t, err := time.ParseDuration(s)
		if err != nil {
			d.wrongType(n, path, "a duration")
			return
		}
		v.SetInt(int64(t))
	case v.CanInt():
		d.integer(n, path, v)
	case v.CanFloat():
		f, ok := number(n)
		if !ok {
			d.wrongType(n, path, "a number")
			return
		}
		v.SetFloat(f)
	default:
		panic(fmt.Sprintf("config: cannot decode into %s", v.Type()))
	}
}

func (d *decoder) integer(n ast.Node, path string, v reflect.Value) {
	i, ok := wholeNumber(n)
	switch {
	case !ok:
		d.wrongType(n, path, "a whole number")
	case v.OverflowInt(i):
		limit := int64(1) << (v.Type().Bits() - 1)
		d.fail(start(n), fmt.Sprintf("%s: %d is out of range", path, i), fmt.Sprintf("write a number from %d to %d", -limit, limit-1))
	default:
		v.SetInt(i)
	}
}

// wholeNumber accepts plain decimal digits only: 010 is eight to some YAML
// readers and ten to others.
func wholeNumber(n ast.Node) (int64, bool) {
	if _, ok := n.(*ast.IntegerNode); !ok {
		return 0, false
	}
	s := strings.TrimPrefix(n.GetToken().Value, "+")
	i, err := strconv.ParseInt(s, 10, 64)
	return i, err == nil && strconv.FormatInt(i, 10) == s
}

func number(n ast.Node) (float64, bool) {
	if i, ok := wholeNumber(n); ok {
		return float64(i), true
	}
	f, ok := n.(*ast.FloatNode)
	if !ok || math.IsInf(f.Value, 0) || math.IsNaN(f.Value) {
		return 0, false
	}
	return f.Value, true
}

// scalarText returns the text of a scalar: of a string what it says, of any
// other plain value how it was written.
func scalarText(n ast.Node) (s string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// hints is how to write what was wanted.
var hints = map[string]string{
	"a list":         `write one item per line, each starting with "- "`,
	"a mapping":      `write one "key: value" per line, indented`,
	"text":           "write a single value",
	"true or false":  "write true or false without quotes",
	"a whole number": "write decimal digits without quotes",
	"a number":       "write decimal digits without quotes",
	"a duration":     "write a number with its unit, such as 30s or 5m",
}

func (d *decoder) wrongType(n ast.Node, path, want string) {
	r := d.resolve(n)
	got := "nothing"
	switch r := r.(type) {
	case nil:
		return // resolve complained
	case *ast.MappingNode, *ast.MappingValueNode:
		got = "a mapping"
	case *ast.SequenceNode:
		got = "a list"
	case *ast.StringNode:
		got = "the text " + quote(r.Value)
	default:
		if s, ok := scalarText(r); ok {
			got = quote(s)
			if len(s) < 30 && text.Printable(s) {
				got = s // a number or boolean needs no quotes
			}
		}
	}
	hint := hints[want]
	if name := unquoted(r); name != "" {
		hint = "put quotes around the placeholder: " + quote("{"+name+"}")
	}
	d.fail(start(n), fmt.Sprintf("%s: want %s, got %s", where(path), want, got), hint)
}

// unquoted is the name of a placeholder without quotes, which YAML takes for a mapping of
// one key; "" for all else.
func unquoted(n ast.Node) string {
	m, ok := n.(*ast.MappingNode)
	if !ok || !m.IsFlowStyle || len(m.Values) != 1 {
		return ""
	}
	name := m.Values[0].Key.String()
	if _, ok := m.Values[0].Value.(*ast.NullNode); !ok || !placeholder.MatchString("{"+name+"}") {
		return ""
	}
	return name
}
