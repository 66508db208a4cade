package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// ToJSON converts a YAML document, or a JSON one, that is one mapping to JSON
// with the keys in its order, for readers of JSON only. It is as strict
// as [Parse]: keys are text and stand once, and numbers are decimal. The name
// stands in positions. Every error is of type [Errors].
func ToJSON(name string, data []byte) ([]byte, error) {
	doc, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	d := doc.decoder()
	var out bytes.Buffer
	if _, ok := d.resolve(doc.root).(*ast.MappingNode); !ok {
		d.wrongType(doc.root, "", "a mapping")
	}
	d.json(doc.root, "", &out)
	if err := d.err(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// json writes a value. Where it complains, what it writes is of no use.
func (d *decoder) json(n ast.Node, path string, out *bytes.Buffer) {
	if !d.spend(n, 1) {
		return
	}
	if d.depth++; d.depth > 2*maxDepth {
		d.fail(start(n), fmt.Sprintf("%s: aliases nest too deeply", where(path)), "write the values out instead")
		d.depth--
		return
	}
	defer func() { d.depth-- }()
	switch n := d.resolve(n).(type) {
	case nil: // resolve complained
	case *ast.MappingNode, *ast.MappingValueNode:
		d.jsonObject(n, path, out)
	case *ast.SequenceNode:
		out.WriteByte('[')
		for i, item := range n.Values {
			if i > 0 {
				out.WriteByte(',')
			}
			d.json(item, fmt.Sprintf("%s[%d]", path, i), out)
		}
		out.WriteByte(']')
	case *ast.NullNode:
		out.WriteString("null")
	default:
		d.jsonScalar(n, path, out)
	}
}

func (d *decoder) jsonObject(n ast.Node, path string, out *bytes.Buffer) {
	out.WriteByte('{')
	for i, p := range d.pairs(n, path) {
		if i > 0 {
			out.WriteByte(',')
		}
		writeText(out, p.key)
		out.WriteByte(':')
		d.json(p.node, join(path, p.key), out)
	}
	out.WriteByte('}')
}

func (d *decoder) jsonScalar(n ast.Node, path string, out *bytes.Buffer) {
	s, _ := scalarText(n)
	switch n := n.(type) {
	case *ast.BoolNode:
		fmt.Fprint(out, n.Value)
	case *ast.StringNode, *ast.LiteralNode:
		// The parser takes 1e-3, which both languages have as a number, for text.
		if tk := n.GetToken(); tk.Type == token.StringType && jsonNumber.MatchString(s) {
			out.WriteString(s)
			return
		}
		writeText(out, s)
	default:
		if !jsonNumber.MatchString(s) { // hexadecimal, infinite, with underscores, ...
			d.wrongType(n, path, "a number")
			return
		}
		out.WriteString(s)
	}
}

var jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func writeText(out *bytes.Buffer, s string) {
	data, err := json.Marshal(s)
	if err != nil { // a string always marshals
		data = []byte(`""`)
	}
	out.Write(data)
}
