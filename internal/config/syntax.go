package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/accelgate/accelgate/internal/text"
)

// The limits keep a hostile file from costing more than about a second and a
// few hundred MiB: the YAML parser is quadratic in the number of tokens and
// stores the full path of every value.
const (
	maxBytes  = 1 << 20
	maxTokens = 30_000
	maxDepth  = 32
	maxKey    = 128
)

// document is a parsed file: one mapping, and the anchors it defines.
type document struct {
	name    string
	root    ast.Node
	anchors map[string]ast.Node
	// artifacts are the names that placeholders may have, sorted; nil without artifacts.
	artifacts []string
	places    map[string]string // their paths; nil before they are placed
}

// parse turns bytes into a document that holds exactly one mapping.
func parse(name string, data []byte) (*document, error) {
	doc := &document{name: name}
	fail := func(line, column int, message, hint string) (*document, error) {
		return nil, Errors{{Position{name, line, column}, message, hint}}
	}
	if len(data) > maxBytes {
		return fail(1, 1, fmt.Sprintf("file is larger than %d bytes", maxBytes), "move long lists into files of their own")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if i := badByte(data); i >= 0 {
		before := data[:i]
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		return fail(bytes.Count(before, []byte("\n"))+1, column, fmt.Sprintf("byte %#02x is not text", data[i]),
			"save the file as UTF-8 without control characters")
	}
	tokens := lexer.Tokenize(string(data))
	if at, message, hint := tooLarge(tokens); at != nil {
		return fail(at.Position.Line, at.Position.Column, message, hint)
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Errors{syntaxError(name, err)}
	}
	for _, d := range file.Docs {
		switch {
		case d.Body == nil:
		case doc.root != nil:
			at := start(d.Body)
			return fail(at.Line, at.Column, "a second YAML document starts here", `remove it and the line "---" before it`)
		default:
			doc.root = d.Body
		}
	}
	if doc.root == nil {
		return fail(1, 1, "file is empty", fmt.Sprintf(`write at least "version: %d" and "suites:" with one suite`, Version))
	}
	return doc, doc.collectAnchors()
}

// badByte returns the index of the first byte that is not part of UTF-8 text,
// or -1. A lone carriage return counts as one, since editors disagree on
// whether it ends a line.
func badByte(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return i
		}
		i += size
	}
	return -1
}

// tooLarge finds the token at which the file exceeds a limit, or nil.
func tooLarge(tokens token.Tokens) (at *token.Token, message, hint string) {
	var blocks []int // columns of the open block collections
	flow, count, line := 0, 0, 0
	for _, tk := range tokens {
		if tk.Type == token.CommentType {
			continue
		}
		if count++; count > maxTokens {
			return tk, fmt.Sprintf("file has more than %d YAML tokens", maxTokens), "move long lists into files of their own"
		}
		if tk.Type == token.MappingValueType && tk.Prev != nil && len(tk.Prev.Value) > maxKey {
			return tk.Prev, fmt.Sprintf("key is longer than %d bytes", maxKey), "shorten it"
		}
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(flow-1, 0)
		}
		if flow == 0 {
			blocks = open(blocks, tk, tk.Position.Line != line)
		}
		line = tk.Position.Line
		if flow+len(blocks) > maxDepth {
			return tk, fmt.Sprintf("values nest deeper than %d levels", maxDepth), "flatten the file"
		}
	}
	return nil, "", ""
}

// open updates the stack of columns at which block collections start: the
// first token of a line closes what is indented as far or further, and it
// opens a level, as does whatever follows a "-" or "?".
func open(blocks []int, tk *token.Token, first bool) []int {
	column := tk.Position.Column
	if first {
		for len(blocks) > 0 && blocks[len(blocks)-1] >= column {
			blocks = blocks[:len(blocks)-1]
		}
		return append(blocks, column)
	}
	if tk.Prev != nil && (tk.Prev.Type == token.SequenceEntryType || tk.Prev.Type == token.MappingKeyType) {
		return append(blocks, column)
	}
	return blocks
}

func syntaxError(name string, err error) *Error {
	e := &Error{Position{name, 1, 1}, "not valid YAML", "check the indentation and the quotes here"}
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return e
	}
	if tk := ye.GetToken(); tk != nil && tk.Position != nil {
		e.Line, e.Column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	}
	message := ye.GetMessage()
	if strings.ContainsRune(message, '\t') {
		e.Message, e.Hint = "a tab cannot indent YAML", "indent with spaces"
		return e
	}
	e.Message = "not valid YAML: " + text.Line(message, 300)
	return e
}

// anchorVisitor records where each anchor is defined.
type anchorVisitor struct {
	doc *document
	err *Error
}

func (v *anchorVisitor) Visit(n ast.Node) ast.Visitor {
	a, ok := n.(*ast.AnchorNode)
	if !ok {
		return v
	}
	name := a.Name.GetToken().Value
	if _, dup := v.doc.anchors[name]; dup && v.err == nil {
		at := start(a)
		v.err = &Error{
			Position{v.doc.name, at.Line, at.Column},
			fmt.Sprintf("anchor %s is defined twice", quote("&"+name)),
			"rename one of them",
		}
	}
	v.doc.anchors[name] = a.Value
	return v
}

func (doc *document) collectAnchors() error {
	doc.anchors = map[string]ast.Node{}
	v := &anchorVisitor{doc: doc}
	ast.Walk(v, doc.root)
	if v.err != nil {
		return Errors{v.err}
	}
	return nil
}

// start returns where the text of a node begins. The YAML parser places a
// block mapping at its first colon.
func start(n ast.Node) *token.Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if n.Start.Type != token.MappingStartType && len(n.Values) > 0 {
			return start(n.Values[0])
		}
	case *ast.MappingValueNode:
		return start(n.Key)
	}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return tk.Position
	}
	return &token.Position{Line: 1, Column: 1}
}
