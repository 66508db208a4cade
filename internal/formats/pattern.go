package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Pattern finds one piece of a text by a regular expression in RE2 syntax,
// with (?m) for ^ and $ to mean lines. Its first match counts, and of that the
// group named value, else the first group.
//
// The zero Pattern finds nothing. Patterns come from [ParsePattern] and may be
// used by several goroutines at once.
type Pattern struct {
	re    *regexp.Regexp
	group int
}

// ParsePattern reads a regular expression, which must have a group. Its errors
// say what to write instead.
func ParsePattern(text string) (Pattern, error) {
	re, err := regexp.Compile(text)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad):
		return Pattern{}, fmt.Errorf("regular expression %q: %s at %q; see https://pkg.go.dev/regexp/syntax", cut(text, 100), bad.Code,
			cut(bad.Expr, 40))
	case err != nil:
		return Pattern{}, err
	case re.NumSubexp() < 1:
		return Pattern{}, fmt.Errorf("regular expression %q has no group; put parentheses around what it should find", cut(text, 100))
	}
	return Pattern{re, max(re.SubexpIndex("value"), 1)}, nil
}

// UnmarshalText makes a Pattern a field of a configuration; see
// [ParsePattern].
func (p *Pattern) UnmarshalText(text []byte) error {
	parsed, err := ParsePattern(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// Find returns what the group matched, which shares memory with text. It
// reports ok == false where the expression, or the branch of it that holds the
// group, matches nothing.
func (p Pattern) Find(text []byte) (found []byte, ok bool) {
	if p.re == nil {
		return nil, false
	}
	m := p.re.FindSubmatchIndex(text)
	if m == nil || m[2*p.group] < 0 {
		return nil, false
	}
	from, to := m[2*p.group], m[2*p.group+1]
	return text[from:to:to], true
}

// String returns the expression as it was written.
func (p Pattern) String() string {
	if p.re == nil {
		return ""
	}
	return p.re.String()
}

// Keys are the names of the groups that name a match among several: all but value and step.
func (p Pattern) Keys() (keys []string) {
	if p.re == nil {
		return nil
	}
	for _, name := range p.re.SubexpNames() {
		if name != "" && name != "value" && name != "step" {
			keys = append(keys, name)
		}
	}
	return keys
}

// nodes are all that the expression finds, with what its groups name them by.
func (p Pattern) nodes(text []byte) (nodes []Node) {
	for _, m := range p.re.FindAllSubmatchIndex(text, maxNodes) {
		if m[2*p.group] < 0 {
			continue
		}
		n := Node{value: json.Number(text[m[2*p.group]:m[2*p.group+1]])}
		for _, key := range p.Keys() {
			l := Label{Key: key}
			if at := 2 * p.re.SubexpIndex(key); m[at] >= 0 {
				l.Value = string(text[m[at]:m[at+1]])
			}
			n.Labels = append(n.Labels, l)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// Matches are all values that an expression finds, in the log if there are none in the output.
func (d *Document) Matches(p Pattern) []Node {
	if nodes := p.nodes(d.text); len(nodes) > 0 {
		return nodes
	}
	return p.nodes(d.Log)
}
