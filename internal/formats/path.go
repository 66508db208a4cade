package formats

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxSteps = 64

// Path leads to a value inside a JSON document, or to several ([Path.Several]). It is a
// small subset of JSONPath:
//
//	$                      the document
//	$.timing.decode_tps    members by name; the leading "$." may be left out
//	runs[0].ms             elements by index
//	runs[-1].ms            the last element
//	$['tokens/s']["a b"]   names that hold other characters than letters,
//	                       digits, "_" and "-"; there are no escapes
//	runs[*].ms             of every element of an array, or member of an object
//	lines[step].ms         of every line that is an object with a member step, which names it
//	lines[a=b, step].ms    of these, the ones whose a is b
//	files['*.json'].ms     of every file of a folder of results
//
// The zero Path leads to the document. Paths come from [ParsePath].
type Path struct {
	text  string
	glob  string // of the files that it leads into; "" for the output itself
	lines bool   // it begins at the lines
	steps []step
}

// step is one element of a Path: a member's name, an element's index, or several elements.
type step struct {
	name  string
	index int
	named bool
	each  *selector // nil for one
}

// ParsePath reads a path. Its errors say what may be written instead.
func ParsePath(text string) (Path, error) {
	if text == "" {
		return Path{}, pathError(text, "it is empty")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return Path{}, pathError(text, "it holds a character that cannot be printed")
	}
	p := Path{text: text}
	whole := text
	if glob, inside, problem, ok := cutFiles(text); problem != "" {
		return Path{}, pathError(whole, problem)
	} else if ok {
		p.glob, text = glob, inside
	}
	rest, rooted := strings.CutPrefix(text, "$")
	if !rooted && text[0] != '[' {
		rest = "." + text
	}
	if after, ok := strings.CutPrefix(text, linesRoot+"["); ok {
		p.lines, rest = true, "["+after
	}
	for rest != "" {
		var s step
		var problem string
		if s, rest, problem = parseStep(rest); problem != "" {
			return Path{}, pathError(whole, problem)
		}
		if p.steps = append(p.steps, s); len(p.steps) > maxSteps {
			return Path{}, pathError(whole, fmt.Sprintf("it has more than %d steps", maxSteps))
		}
	}
	return p, nil
}

func pathError(text, problem string) error {
	return fmt.Errorf("JSON path %q: %s; write for example $.timing.decode_tps, runs[-1].ms or ['tokens/s']", cut(text, 100), problem)
}

// parseStep reads the first step of text, which is not empty.
func parseStep(text string) (s step, rest, problem string) {
	switch {
	case text[0] == '.':
		end := 1
		for end < len(text) && nameByte(text[end]) {
			end++
		}
		if end == 1 {
			return s, "", "a name is expected after a dot"
		}
		return step{name: text[1:end], named: true}, text[end:], ""
	case strings.HasPrefix(text, "['"), strings.HasPrefix(text, `["`):
		name, rest, ok := strings.Cut(text[2:], text[1:2]+"]")
		if !ok {
			return s, "", "a quoted name is not closed"
		}
		return step{name: name, named: true}, rest, ""
	case text[0] == '[':
		inside, rest, ok := strings.Cut(text[1:], "]")
		if !ok || inside == "" || inside[0] == '+' {
			return s, "", "an index or a quoted name is expected in brackets"
		}
		if index, err := strconv.Atoi(inside); err == nil {
			return step{index: index}, rest, ""
		}
		each, problem := parseSelector(inside)
		return step{each: each}, rest, problem
	}
	return s, "", fmt.Sprintf("%q is not expected", cut(text, 20))
}

func nameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c >= 0x80
}

// UnmarshalText makes a Path to one value a field of a configuration; see [ParsePath].
func (p *Path) UnmarshalText(text []byte) error {
	parsed, err := ParsePath(string(text))
	if err != nil {
		return err
	}
	if parsed.Several() {
		return pathError(string(text), "it names several values, and one is expected here")
	}
	*p = parsed
	return nil
}

// String returns the path as it was written.
func (p Path) String() string {
	if p.text == "" {
		return "$"
	}
	return p.text
}

func field(name string) Path { return Path{text: name, steps: []step{{name: name, named: true}}} }

// index names an element of the array at p, for messages.
func (p Path) index(i int) Path { return Path{text: fmt.Sprintf("%s[%d]", p, i)} }
