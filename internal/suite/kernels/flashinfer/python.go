package flashinfer

import (
	"strings"
)

// Signature is what the reference's run takes.
type Signature struct {
	Line        int      // of "def", from 1
	Positional  []string // names in order, without those after * and *args
	Optional    int      // how many of the last of Positional have a default
	KeywordOnly []string
	Variadic    bool // there is *args
}

// Signature returns the parameters of the function run of the reference. There
// is none if the text has no such function at its top level, or if it is no
// Python.
func (d *Definition) Signature() (Signature, bool) { return runSignature(d.Reference) }

// runSignature scans the text for the last top-level "def run(...)", which is
// the one that counts in Python. It reads strings, comments, brackets and
// continued lines, and nothing else of the language.
func runSignature(text string) (found Signature, ok bool) {
	p := python{text: text, lineStart: true}
	for p.at < len(text) {
		if p.lineStart && p.depth == 0 {
			before := p.at
			if s, is := p.definition(); is {
				found, ok = s, true
			}
			if p.at > before {
				continue
			}
		}
		p.skip()
	}
	return found, ok
}

// python is a place in a text, just before a token.
type python struct {
	text      string
	at        int
	depth     int  // of brackets
	lineStart bool // at is in column 0 of a line that goes on no other
}

// skip moves on by a comment, a string, or a byte.
func (p *python) skip() {
	c := p.text[p.at]
	p.lineStart = c == '\n' && p.depth == 0
	switch c {
	case '#':
		p.comment()
	case '"', '\'':
		p.str()
	case '\\':
		p.at += 2 // never the end of a line that counts
		if strings.HasPrefix(p.text[p.at-1:], "\r\n") {
			p.at++
		}
		p.at = min(p.at, len(p.text))
	case '(', '[', '{':
		p.depth++
		p.at++
	case ')', ']', '}':
		p.depth = max(p.depth-1, 0)
		p.at++
	default:
		p.at++
	}
}

// comment moves to the end of the line.
func (p *python) comment() {
	if end := strings.IndexByte(p.text[p.at:], '\n'); end >= 0 {
		p.at += end
	} else {
		p.at = len(p.text)
	}
}

// str moves behind a string. Its prefix does not matter: a backslash keeps the
// quote behind it from ending even a raw one.
func (p *python) str() {
	quote := p.text[p.at : p.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.text[p.at:], triple) {
		quote = triple
	}
	for p.at += len(quote); p.at < len(p.text); p.at++ {
		switch {
		case strings.HasPrefix(p.text[p.at:], quote):
			p.at += len(quote)
			return
		case p.text[p.at] == '\\':
			p.at++
		case p.text[p.at] == '\n' && len(quote) == 1:
			return // an unfinished string ends with its line
		}
	}
	p.at = len(p.text)
}

// definition reads "def run(...)" if it starts here.
func (p *python) definition() (s Signature, ok bool) {
	rest, ok := strings.CutPrefix(p.text[p.at:], "def")
	name := strings.TrimLeft(rest, " \t")
	if !ok || name == rest {
		return s, false
	}
	after, ok := strings.CutPrefix(name, "run")
	after = strings.TrimLeft(after, " \t")
	if !ok || after == "" || after[0] != '(' && after[0] != '[' {
		return s, false
	}
	s.Line = 1 + strings.Count(p.text[:p.at], "\n")
	p.lineStart = false
	p.at = len(p.text) - len(after)
	for p.at < len(p.text) && (p.text[p.at] != '(' || p.depth > 0) { // type parameters
		p.skip()
	}
	return s, p.at < len(p.text) && p.parameters(&s)
}

// parameters reads the list whose parenthesis is next, and reports whether it
// ends.
func (p *python) parameters(s *Signature) bool {
	keywords := false
	var one parameter
	for p.skip(); p.at < len(p.text) && p.depth > 0; {
		c, from := p.text[p.at], p.at
		if p.skip(); p.depth > 1 {
			continue // an annotation or a default in brackets
		}
		switch {
		case c == ',' && !one.lambda || p.depth == 0:
			keywords = s.add(one, keywords)
			one = parameter{}
		case c != '#' && c != '\\':
			one.take(p.text[from:p.at])
		}
	}
	return p.depth == 0
}

// parameter is what was read of one.
type parameter struct {
	name    string
	named   bool // the name is over
	given   bool // it has a default
	lambda  bool // in the parameters of a lambda, which have commas
	pending string
}

// take reads a byte or a string.
func (p *parameter) take(token string) {
	switch {
	case p.lambda:
		p.lambda = token != ":"
	case token == "=":
		p.named, p.given = true, true
	case token == ":":
		p.named = true
	case !p.named:
		p.name += token
		return
	}
	if p.named && len(token) == 1 && wordByte(token[0]) {
		p.pending += token
		return
	}
	p.lambda = p.lambda || p.pending == "lambda" && token != ":"
	p.pending = ""
}

// add takes over a parameter, and reports whether the next ones are given by
// keyword only.
func (s *Signature) add(p parameter, keywords bool) bool {
	switch name := strings.TrimSpace(p.name); {
	case name == "" || name == "/" || strings.HasPrefix(name, "**"):
	case name == "*":
		return true
	case name[0] == '*':
		s.Variadic = true
		return true
	case keywords:
		s.KeywordOnly = append(s.KeywordOnly, name)
	default:
		s.Positional = append(s.Positional, name)
		if p.given {
			s.Optional++
		}
	}
	return keywords
}
