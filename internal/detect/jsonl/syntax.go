package jsonl

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// parser reads the JSON of one line: an object of strings, truths, and lists of
// numbers. It is several times as fast as encoding/json, says where a value
// stands, and takes neither a key twice nor one in other letters.
type parser struct {
	text   []byte
	at     int
	values []float64
	count  int // of values and runs
	err    *Error
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// peek returns the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// take goes over a byte if it is the next one.
func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) want(c byte, what string) {
	if !p.take(c) {
		p.wrong(what)
	}
}

// wrong describes the value found and the value expected.
func (p *parser) wrong(what string) {
	rest := p.text[p.at:]
	if len(rest) == 0 {
		p.fail(p.at, "the line ends where %s is expected: write it as a whole", what)
	}
	p.fail(p.at, "found %s where %s is expected: correct it", quote(string(rest[:min(len(rest), 80)])), what)
}

// object calls member for each key, with the place of the key, to read its value.
func (p *parser) object(member func(key string, at int)) {
	p.want('{', `an object, as in {"id": ...}`)
	if p.take('}') {
		return
	}
	for {
		p.space()
		at := p.at
		key := p.string()
		p.want(':', "a colon")
		p.space()
		member(key, at)
		if !p.take(',') {
			p.want('}', "a comma or the end of the object")
			return
		}
	}
}

// list calls item for each item, to read it.
func (p *parser) list(what string, item func()) {
	p.want('[', what)
	if p.take(']') {
		return
	}
	for {
		p.space()
		item()
		if !p.take(',') {
			p.want(']', "a comma or the end of the list")
			return
		}
	}
}

func (p *parser) end() {
	if p.peek() != 0 || p.at < len(p.text) {
		p.wrong("the end of the line")
	}
}

func (p *parser) word(w string) bool {
	p.space()
	if !bytes.HasPrefix(p.text[p.at:], []byte(w)) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *parser) null() bool { return p.word("null") }

func (p *parser) bool() bool {
	switch {
	case p.word("true"):
		return true
	case !p.word("false"):
		p.wrong("true or false")
	}
	return false
}

// string reads a string. encoding/json decodes escapes.
func (p *parser) string() string {
	if p.peek() != '"' {
		p.wrong("a string in quotes")
		return ""
	}
	from, escaped := p.at, false
	for p.at++; p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] >= ' '; p.at++ {
		if p.text[p.at] == '\\' {
			escaped = true
			p.at = min(p.at+1, len(p.text)-1) // what is escaped is no end
		}
	}
	if !p.take1('"') {
		p.wrong("the end of a string")
		return ""
	}
	quoted := p.text[from:p.at]
	if !utf8.Valid(quoted) {
		p.fail(from, "the string is not UTF-8: write it as UTF-8")
	}
	if !escaped {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		p.fail(from, "the string has an escape that JSON does not have: correct it")
	}
	return s
}

// number reads a number as JSON writes it, so neither NaN nor hexadecimal digits.
func (p *parser) number() float64 {
	p.space()
	from := p.at
	p.take1('-')
	switch {
	case p.take1('0'):
	case p.digits() == 0:
		p.at = from
		p.wrong("a number, or null for a missing one")
		return 0
	}
	if p.take1('.') && p.digits() == 0 || p.exponent() && p.digits() == 0 {
		p.wrong("a digit")
		return 0
	}
	v, err := strconv.ParseFloat(string(p.text[from:p.at]), 64)
	if err != nil || math.IsInf(v, 0) {
		p.fail(from, "%s is beyond what a number can be: use another unit", quote(string(p.text[from:p.at])))
	}
	return v
}

func (p *parser) exponent() bool {
	if !p.take1('e') && !p.take1('E') {
		return false
	}
	if !p.take1('+') {
		p.take1('-')
	}
	return true
}

// take1 is take without white space before.
func (p *parser) take1(c byte) bool {
	if p.at == len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) digits() (n int) {
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
		n++
	}
	return n
}
