package flashinfer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/text"
)

// reader turns the values of one file into our types and collects complaints.
type reader struct {
	path     string
	problems Problems
	count    int            // of all complaints
	lines    map[string]int // of JSON paths, for Lint; nil where they are not kept
}

// fail records a complaint; the format ends in the next step.
func (r *reader) fail(v value, path, format string, args ...any) {
	if r.count++; r.count <= maxProblemsOfFile {
		r.problems = append(r.problems, Problem{Place{r.path, v.Line}, path, fmt.Sprintf(format, args...)})
	}
}

// finish returns the complaints in the order of lines, and says if there were
// more.
func (r *reader) finish() Problems {
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
	if more := r.count - maxProblemsOfFile; more > 0 {
		r.problems = append(r.problems,
			Problem{Place{Path: r.path}, "", "has " + text.Plural(more, "more problem") + "; correct those above first"})
		r.count = 0
	}
	return r.problems
}

// object is a JSON object whose keys are known.
type object struct {
	r     *reader
	at    value
	path  string
	given map[string]value
}

// object reads an object that may have the given keys. Keys that are not among
// them are complaints, in a loose object only those of an older format.
func (r *reader) object(v value, path string, loose bool, keys ...string) object {
	o := object{r, v, path, make(map[string]value, len(v.Members))}
	for _, m := range r.members(v, path) {
		if !slices.Contains(keys, m.Key) && !o.superseded(m, keys) && !loose {
			hint := "remove it"
			if word := text.Nearest(m.Key, keys); word != "" {
				hint = "write " + quote(word)
			}
			r.fail(m.Value, join(path, m.Key), "is not a key of the format; %s", hint)
		}
		if m.Kind != 'n' { // null is as good as absent
			o.given[m.Key] = m.Value
		}
	}
	return o
}

// members returns the members of an object in order, each key once.
func (r *reader) members(v value, path string) []member {
	if v.Kind != '{' {
		r.fail(v, path, "want an object, got %s; write it in braces", describe(v))
		return nil
	}
	seen := make(map[string]bool, len(v.Members))
	once := v.Members[:0:0]
	for _, m := range v.Members {
		if r.lines != nil {
			r.lines[join(path, m.Key)] = m.Line
		}
		if seen[m.Key] {
			r.fail(m.Value, join(path, m.Key), "occurs twice; remove one of the two")
			continue
		}
		seen[m.Key] = true
		once = append(once, m)
	}
	return once
}

// former are keys of the format of July 2025 and what took their place, "" if
// nothing did.
var former = map[string]struct{ now, advice string }{
	"build_commands": {"", "remove it, the binding decides how a solution is built"},
	"build":          {"", "remove it, the binding decides how a solution is built"},
	"log_file":       {"log", `write "log" with the text itself, or ""`},
	"device":         {"hardware", `rename it to "hardware"`},
}

// superseded complains about a key of an older format, and reports whether it
// is one. The key that replaced it is then not missed.
func (o *object) superseded(m member, keys []string) bool {
	f, ok := former[m.Key]
	if !ok || f.now != "" && !slices.Contains(keys, f.now) {
		return false
	}
	o.r.fail(m.Value, join(o.path, m.Key), "is of the format of 2025-07, which is no longer read; %s", f.advice)
	if _, both := o.given[f.now]; !both && f.now != "" {
		o.given[f.now] = value{Kind: '"', Line: m.Line, Text: "?"}
	}
	return true
}

// required returns the member, and complains if there is none.
func (o object) required(key string) (value, bool) {
	v, ok := o.given[key]
	if !ok && o.at.Kind == '{' {
		o.r.fail(o.at, join(o.path, key), "is missing; add it")
	}
	return v, ok
}

// name returns a required text that is shown to people and becomes a part of
// ids and paths: not empty, at most 200 bytes, printable.
func (o object) name(key string) string {
	v, ok := o.required(key)
	if !ok {
		return ""
	}
	s := o.r.text(v, join(o.path, key))
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if v.Kind == '"' && (s == "" || len(s) > maxName || strings.ContainsFunc(s, odd)) {
		o.r.fail(v, join(o.path, key), "want 1 to %d printable bytes, got %s; write a shorter, plain name", maxName, quote(s))
	}
	return s
}

const maxName = 200

// text returns an optional text, "" if there is none.
func (o object) text(key string) string {
	if v, ok := o.given[key]; ok {
		return o.r.text(v, join(o.path, key))
	}
	return ""
}

func (r *reader) text(v value, path string) string {
	if v.Kind != '"' {
		r.fail(v, path, "want a text, got %s; write it in quotes", describe(v))
	}
	return v.Text
}

// texts returns an optional list of texts.
func (o object) texts(key string) (all []string) {
	v, ok := o.given[key]
	if !ok {
		return nil
	}
	path := join(o.path, key)
	for i, m := range o.r.list(v, path) {
		all = append(all, o.r.text(m.Value, index(path, i)))
		if o.r.lines != nil {
			o.r.lines[index(path, i)] = m.Line
		}
	}
	return all
}

func (r *reader) list(v value, path string) []member {
	if v.Kind != '[' {
		r.fail(v, path, "want a list, got %s; write it in brackets", describe(v))
		return nil
	}
	return v.Members
}

// oneOf returns a text that must be one of the words.
func (r *reader) oneOf(v value, path string, words []string) string {
	s := r.text(v, path)
	if v.Kind != '"' || slices.Contains(words, s) {
		return s
	}
	hint := "one of " + choices(words)
	if word := text.Nearest(s, words); word != "" {
		hint = quote(word)
	}
	r.fail(v, path, "%s is unknown; write %s", quote(s), hint)
	return s
}

// whole returns an integer of at least 0.
func (r *reader) whole(v value, path string) int {
	n, err := strconv.Atoi(v.Text)
	if v.Kind != '0' || err != nil || n < 0 {
		r.fail(v, path, "want a whole number from 0 on, got %s; write such a number", describe(v))
		return 0
	}
	return n
}

// flag returns an optional truth value.
func (o object) flag(key string, otherwise bool) bool {
	v, ok := o.given[key]
	if !ok {
		return otherwise
	}
	if v.Kind != 't' && v.Kind != 'f' {
		o.r.fail(v, join(o.path, key), "want true or false, got %s; write one of the two", describe(v))
	}
	return v.Kind == 't'
}
