package flashinfer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The limits of a constraint. The longest real one has 53 bytes.
const (
	maxConstraint = 2000 // bytes
	maxNesting    = 100  // of parentheses and signs
)

// term is a number that depends on a workload.
type term struct {
	op          string // "int", "axis", "shape", "last", "neg", or a binary operator
	value       int64  // of an int; of a shape the index, from the end if below 0
	name        string // of an axis or a tensor
	left, right *term
}

// comparison is what a constraint says: each neighbouring pair of terms
// compares as its operator demands, as chains do in Python.
type comparison struct {
	terms     []*term
	operators []string // between the terms
}

// parseConstraint reads the part of Python's expressions that constraints of
// definitions are written in: whole numbers, names of axes, + - * // % and
// parentheses, T.shape[i], T[-1].item(), and a comparison of such terms.
func parseConstraint(text string) (*comparison, error) {
	if len(text) > maxConstraint {
		return nil, fmt.Errorf("has more than %d bytes: split it into several", maxConstraint)
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := expression{tokens: tokens}
	c := &comparison{terms: []*term{p.sum()}}
	for p.err == nil && comparisons[p.peek()] {
		c.operators = append(c.operators, p.next())
		c.terms = append(c.terms, p.sum())
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case p.peek() != "":
		p.want("a comparison or the end")
		return nil, p.err
	case len(c.operators) == 0:
		return nil, errors.New("compares nothing: write a comparison, such as a == b")
	}
	return c, nil
}

var comparisons = map[string]bool{"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true}

// token is a word or a symbol, and the column that it starts at.
type token struct {
	text   string
	column int // from 1
}

// symbols are in an order in which none hides a longer one.
var symbols = []string{"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "%", "(", ")", "[", "]", ".", "<", ">"}

func scan(text string) (tokens []token, err error) {
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		length := 0
		for i+length < len(text) && wordByte(text[i+length]) {
			length++
		}
		for _, s := range symbols {
			if length == 0 && strings.HasPrefix(text[i:], s) {
				length = len(s)
			}
		}
		if length == 0 {
			return nil, fmt.Errorf("column %d: %s is not understood: use + - * // %%, a comparison, T.shape[i] and T[-1].item()", i+1,
				quote(text[i:]))
		}
		tokens = append(tokens, token{text[i : i+length], i + 1})
		i += length
	}
	return append(tokens, token{"", len(text) + 1}), nil
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// expression parses by recursive descent; after an error it makes no progress.
type expression struct {
	tokens []token // the last is empty
	at     int
	depth  int
	err    error
}

func (p *expression) peek() string { return p.tokens[p.at].text }

func (p *expression) next() string {
	t := p.tokens[p.at].text
	if p.at < len(p.tokens)-1 {
		p.at++
	}
	return t
}

func (p *expression) want(what string) *term {
	if t := p.tokens[p.at]; p.err == nil {
		got := quote(t.text)
		if t.text == "" {
			got = "the end"
		}
		p.err = fmt.Errorf("column %d: want %s, got %s: correct the constraint", t.column, what, got)
	}
	return &term{op: "int"}
}

// accept skips the tokens if they are the next ones.
func (p *expression) accept(tokens ...string) bool {
	for i, t := range tokens {
		if p.at+i >= len(p.tokens)-1 || p.tokens[p.at+i].text != t {
			return false
		}
	}
	p.at += len(tokens)
	return true
}

func (p *expression) sum() *term {
	left := p.product()
	for p.err == nil && (p.peek() == "+" || p.peek() == "-") {
		left = &term{op: p.next(), left: left, right: p.product()}
	}
	return left
}

func (p *expression) product() *term {
	left := p.signed()
	for p.err == nil && (p.peek() == "*" || p.peek() == "//" || p.peek() == "%") {
		left = &term{op: p.next(), left: left, right: p.signed()}
	}
	return left
}

func (p *expression) signed() *term {
	if p.depth++; p.depth > maxNesting {
		return p.want(fmt.Sprintf("at most %d parentheses and signs within each other", maxNesting))
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("-"):
		return &term{op: "neg", left: p.signed()}
	case p.accept("+"):
		return p.signed()
	}
	return p.single()
}

func (p *expression) single() *term {
	switch t := p.peek(); {
	case p.accept("("):
		inner := p.sum()
		if p.err == nil && !p.accept(")") {
			return p.want(`")"`)
		}
		return inner
	case t == "" || !wordByte(t[0]):
		return p.want("a number, a name or a parenthesis")
	case t[0] <= '9':
		return p.number()
	}
	return p.named(p.next())
}

// number reads digits. Python has no leading zeros.
func (p *expression) number() *term {
	t := p.peek()
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil || t != strconv.FormatInt(n, 10) {
		return p.want("a whole number below 2^63")
	}
	p.next()
	return &term{op: "int", value: n}
}

// named reads what may follow a name.
func (p *expression) named(name string) *term {
	switch {
	case p.accept("[", "-", "1", "]", ".", "item", "(", ")"):
		return &term{op: "last", name: name}
	case p.accept(".", "shape", "["):
		sign := int64(1)
		if p.accept("-") {
			sign = -1
		}
		if t := p.peek(); t == "" || t[0] < '0' || t[0] > '9' {
			return p.want("the index of an axis")
		}
		n := p.number()
		if p.err == nil && !p.accept("]") {
			return p.want(`"]"`)
		}
		return &term{op: "shape", name: name, value: sign * n.value}
	case p.peek() == "." || p.peek() == "[" || p.peek() == "(":
		return p.want("T.shape[i] or T[-1].item(), the only properties of tensors")
	}
	return &term{op: "axis", name: name}
}
