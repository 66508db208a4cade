package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text"
)

// Position returns where in the file the value at path starts. The path is
// relative to the suite and reads like Go: names joined with dots, indexes in
// brackets, and names that hold other characters quoted in brackets, as in
// `models["qwen2.5"].args[0]`; "" is the suite. Index 0 of a mapping is the mapping. Where the path leads nowhere,
// as for a missing key, the position is that of the last value on the way.
func (s *Suite) Position(path string) Position { return s.doc.position(s.node, path) }

// Source returns the key at path, from the top of the file, with its file and line:
// "accelgate.yaml:4: policy.levels[0]". The name of the file is without folders.
func (f *File) Source(path string) string {
	if f.doc == nil { // it was read from no file
		return path
	}
	at := f.doc.position(f.doc.root, path)
	return fmt.Sprintf("%s:%d: %s", filepath.Base(at.File), at.Line, path)
}

// PositionIn is Position for any YAML document, from its top; the zero value if data is none.
func PositionIn(name string, data []byte, path string) Position {
	doc, err := parse(name, data)
	if err != nil {
		return Position{}
	}
	return doc.position(doc.root, path)
}

// position is where the value at path, from a node on, starts.
func (doc *document) position(n ast.Node, path string) Position {
	d := doc.decoder()
	for path != "" {
		key, index, rest := step(path)
		next := child(d, n, key, index)
		if next == nil {
			break
		}
		n, path = next, rest
	}
	at := start(n)
	return Position{doc.name, max(at.Line, 1), max(at.Column, 1)}
}

// step splits the first element off a path: a key, or an index if it is not
// negative.
func step(path string) (key string, index int, rest string) {
	if path[0] != '[' {
		end := strings.IndexAny(path, ".[")
		if end <= 0 {
			end = len(path)
		}
		return path[:end], -1, strings.TrimPrefix(path[end:], ".")
	}
	if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
		key, _ = strconv.Unquote(quoted)
		rest = strings.TrimPrefix(path[1+len(quoted):], "]")
		return key, -1, strings.TrimPrefix(rest, ".")
	}
	inside, rest, _ := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(inside)
	if err != nil {
		index = -1
	}
	return "", index, strings.TrimPrefix(rest, ".")
}

func child(d *decoder, n ast.Node, key string, index int) ast.Node {
	n = d.resolve(n)
	if seq, ok := n.(*ast.SequenceNode); ok {
		if index < 0 || index >= len(seq.Values) {
			return nil
		}
		return seq.Values[index]
	}
	if _, ok := n.(*ast.MappingNode); !ok || index > 0 {
		return nil
	}
	if index == 0 { // of a [List] for whose only item the mapping stands
		return n
	}
	for _, p := range d.pairs(n, "") {
		if p.key == key {
			return p.node
		}
	}
	return nil
}

// join writes path.key the way [Suite.Position] reads it.
func join(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\"") || !text.Printable(key) || len(key) > 60 {
		return path + "[" + quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// where names a path at the start of a message, in names it inside of one.
func where(path string) string {
	if path == "" {
		return "file"
	}
	return path
}

func in(path string) string {
	if path == "" {
		return "at the top level"
	}
	return "in " + path
}
