package formats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// linesRoot begins a [Path] through the lines of an output that are JSON objects.
const linesRoot = "lines"

// maxNodes bounds the values that a path names.
const maxNodes = 1 << 20

// selector is a step that names several values: all elements of an array or members of an object.
type selector struct {
	by    []string    // members that name an element; none: its index or its name does
	equal [][2]string // members that an element must have, with their values
}

// parseSelector reads what stands in brackets: "*", or names and NAME=VALUE, separated by commas.
func parseSelector(text string) (*selector, string) {
	s := &selector{}
	if text == "*" {
		return s, ""
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, equal := strings.Cut(strings.TrimSpace(part), "=")
		if name == "" || strings.IndexByte("-0123456789", name[0]) >= 0 || strings.ContainsFunc(name, odd) {
			return nil, "an index, *, a quoted name or names of members are expected in brackets"
		}
		if equal {
			s.equal = append(s.equal, [2]string{name, value})
		} else {
			s.by = append(s.by, name)
		}
	}
	return s, ""
}

// odd reports whether a character cannot stand in a name without quotes.
func odd(r rune) bool { return r < 0x80 && !nameByte(byte(r)) }

// Label is what names a value among several: a member of its element, or the place of the element.
type Label struct{ Key, Value string }

// Node is one of the values that a path names.
type Node struct {
	Labels []Label
	// Lacks is the member that the path fixes and the element of the value lacks; "" if it has them all.
	Lacks string
	value any // nil where the path leads nowhere, and for null
}

// Name joins the labels, for messages and as the name of a step.
func (n *Node) Name() string {
	values := make([]string, 0, len(n.Labels))
	for _, l := range n.Labels {
		values = append(values, l.Value)
	}
	return strings.Join(values, "/")
}

// Number returns the number of a node of p; ok is false where there is none.
func (n *Node) Number(p Path) (v float64, ok bool, err error) {
	if n.value == nil {
		return 0, false, nil
	}
	v, err = numberOf(n.value, p)
	if err != nil {
		err = fmt.Errorf("%s: %w", cut(n.Name(), maxName), err)
	}
	return v, true, err
}

// Several reports whether the path names several values.
func (p Path) Several() bool {
	return p.glob != "" || slices.ContainsFunc(p.steps, func(s step) bool { return s.each != nil })
}

// Keys are those of the labels of all values that the path names.
func (p Path) Keys() (keys []string) {
	if p.glob != "" {
		keys = append(keys, "file")
	}
	key := ""
	for i, s := range p.steps {
		switch {
		case s.each == nil:
			key = s.name
		case len(s.each.by) > 0:
			keys, key = append(keys, s.each.by...), ""
		default:
			keys = append(keys, cmp.Or(key, p.root(i)))
			key = ""
		}
	}
	return keys
}

// Fixed are the members that all elements on the path have, with their values.
func (p Path) Fixed() (members [][2]string) {
	for _, s := range p.steps {
		if s.each != nil {
			members = append(members, s.each.equal...)
		}
	}
	return members
}

// root names the elements of the document itself.
func (p Path) root(step int) string {
	if p.lines && step == 0 {
		return "line"
	}
	return "item"
}

// Nodes returns the values that a path names, of an object in the order of its keys, and those of elements that lack a
// fixed member, see [Node.Lacks]. It returns none where the path leads to nothing to choose from.
func (d *Document) Nodes(p Path) ([]Node, error) {
	if p.glob != "" {
		return d.inFiles(p)
	}
	root, err := d.start(p)
	if err != nil || root == nil {
		return nil, err
	}
	nodes := []Node{{value: root}}
	key := ""
	for at, s := range p.steps {
		if s.each == nil {
			key = s.name
			for i := range nodes {
				nodes[i].value = s.follow(nodes[i].value)
			}
			continue
		}
		var chosen []Node
		for i := range nodes {
			if chosen, err = s.each.choose(chosen, &nodes[i], cmp.Or(key, p.root(at))); err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			if len(chosen) > maxNodes {
				return nil, fmt.Errorf("%s names more than %d values: print fewer", p, maxNodes)
			}
		}
		nodes, key = chosen, ""
	}
	return nodes, nil
}

// start is where a path begins; nil where the output has no JSON.
func (d *Document) start(p Path) (any, error) {
	if !p.lines {
		if d.err != nil {
			return nil, nil
		}
		return d.root, d.twice
	}
	d.once.Do(func() { d.lines, d.linesErr = jsonLines(d.text) })
	if len(d.lines) == 0 {
		return nil, d.linesErr
	}
	return d.lines, d.linesErr
}

// lined holds the lines of a document, read when a path asks for them.
type lined struct {
	once     sync.Once
	lines    []any
	linesErr error
}

// jsonLines reads the lines that are JSON objects. Others are log, but for one that begins as
// an object with members does.
func jsonLines(text []byte) (lines []any, err error) {
	n, size := 0, 0
	for line := range strings.Lines(string(text)) {
		n++
		data := []byte(strings.TrimSpace(line))
		root, read, err := decode(data, "{")
		if err == nil {
			err = jsonkey.Check(read)
		} else if err != errTooLarge && !strings.HasPrefix(string(data), `{"`) {
			continue
		}
		if size += values(data); err == nil && size > maxValues {
			err = errTooLarge
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the output is no JSON object: %w", n, err)
		}
		lines = append(lines, root)
	}
	return lines, nil
}

// choose appends what the selector names below a node. key is the member that holds it.
func (s *selector) choose(chosen []Node, n *Node, key string) ([]Node, error) {
	add := func(label Label, value any) error {
		labels, lacks, ok, err := s.labels(label, value)
		if ok && err == nil {
			chosen = append(chosen, Node{slices.Concat(n.Labels, labels), cmp.Or(n.Lacks, lacks), value})
		}
		return err
	}
	switch v := n.value.(type) {
	case []any:
		for i, item := range v {
			if err := add(Label{key, strconv.Itoa(i)}, item); err != nil {
				return nil, fmt.Errorf("element %d %w", i, err)
			}
		}
	case map[string]any:
		for _, name := range slices.SortedFunc(maps.Keys(v), byStep) {
			if err := add(Label{key, name}, v[name]); err != nil {
				return nil, fmt.Errorf("%s %w", cut(name, maxName), err)
			}
		}
	}
	return chosen, nil
}

// labels name an element by its members, or as place does, with a fixed member that it lacks; ok is false for an element of
// another sort.
func (s *selector) labels(place Label, value any) (labels []Label, unfixed string, ok bool, err error) {
	members, _ := value.(map[string]any)
	for _, e := range s.equal {
		switch text, ok := written(members[e[0]]); {
		case !ok:
			unfixed = cmp.Or(unfixed, e[0])
		case text != e[1]:
			return nil, "", false, nil
		}
	}
	if len(s.by) == 0 {
		return []Label{place}, unfixed, true, nil
	}
	lacks := ""
	for _, name := range s.by {
		text, ok := written(members[name])
		switch {
		case !ok && name == unfixed:
			continue
		case !ok:
			lacks = cmp.Or(lacks, name)
			continue
		}
		labels = append(labels, Label{name, text})
	}
	if lacks != "" && len(labels) > 0 && unfixed == "" {
		return nil, "", false, fmt.Errorf("has %s and no %s: print both, or remove one from the path", labels[0].Key, lacks)
	}
	return labels, unfixed, lacks == "", nil
}

// written is a text, number or truth value as it is written.
func written(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// byStep orders numbers by size before other names.
func byStep(a, b string) int {
	x, xErr := strconv.ParseFloat(a, 64)
	y, yErr := strconv.ParseFloat(b, 64)
	switch {
	case xErr == nil && yErr == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case (xErr == nil) != (yErr == nil):
		if xErr == nil {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}
