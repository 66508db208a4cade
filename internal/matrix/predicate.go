package matrix

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// The bounds of a predicate. Without loops, variables and conditionals, which
// are refused, it costs at most a small multiple of its length to evaluate.
const (
	maxPredicate = 4096   // bytes of text
	maxNodes     = 1000   // of its syntax tree
	memoryBudget = 10_000 // elements of lists made by one evaluation
)

// Facts are what predicates may ask of the host.
type Facts struct {
	OS      string   // host.os, as runtime.GOOS
	Arch    string   // host.arch, as runtime.GOARCH
	Label   string   // host.label
	Vendors []string // host.vendors, of the accelerators
}

func (f Facts) values() map[string]any {
	return map[string]any{"host.os": f.OS, "host.arch": f.Arch, "host.label": f.Label, "host.vendors": f.Vendors}
}

// Predicate is a condition on combinations of axis values. It is immutable and
// may be used by several goroutines at once.
type Predicate struct {
	text    string
	program *vm.Program
	env     map[string]any // the names in use, with the values of those of the host
}

// PredicateError describes what is wrong with a predicate, and where.
type PredicateError struct {
	Line, Column int // within the text, in characters, from 1
	Message      string
	Hint         string // the next step
}

func (e *PredicateError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.Message, e.Hint)
}

// Compile reads a predicate in the language of github.com/expr-lang/expr,
// without its loops, variables, conditionals, ranges and maps. The names are
//
//	model            the id of the value of the axis "model", and so on
//	model.family     a variable of this value; "" if it has none of this name
//	tags             the list of the tags of all values
//	host.os, host.arch, host.label, host.vendors
//
// and the functions len, lower, upper, trim, int and float. The axes may have
// fewer values when the predicate is used than here, but must be there. Every
// error is a *[PredicateError].
func Compile(text string, facts Facts, axes []Axis) (p *Predicate, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, positioned(text, 0, fmt.Sprintf("cannot be compiled (%v)", r), hintSyntax)
		}
	}()
	if err := checkText(text); err != nil {
		return nil, err
	}
	config := conf.CreateNew()
	config.MaxNodes = maxNodes
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, located(text, err, hintSyntax)
	}
	r := resolver{text: text, axes: axes, facts: facts.values(), env: make(map[string]any)}
	ast.Walk(&tree.Node, &r)
	if r.err != nil {
		return nil, r.err
	}
	config.WithEnv(r.env)
	config.Expect, config.ExpectAny = reflect.Bool, false
	if _, err := checker.Check(tree, config); err != nil {
		return nil, located(text, err, hintType)
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, located(text, err, hintType)
	}
	return &Predicate{text: text, program: program, env: r.env}, nil
}

func checkText(text string) error {
	switch {
	case len(text) > maxPredicate:
		return positioned(text, 0, fmt.Sprintf("the predicate has %d bytes, more than %d", len(text), maxPredicate), "split it or use tags")
	case !utf8.ValidString(text):
		return positioned(text, 0, "the predicate is not UTF-8", "save the file as UTF-8")
	}
	return scan(text)
}

const (
	hintSyntax = `write a condition such as backend == "cuda" and model.family startsWith "qwen"`
	hintType   = `compare strings with ==, in, startsWith, endsWith, contains or matches; int() and float() make numbers`
)

// located translates an error of the expr packages; hint is the next step
// unless the message calls for another one.
func located(text string, err error, hint string) *PredicateError {
	message, from := err.Error(), 0
	var e *file.Error
	if errors.As(err, &e) {
		message, from = e.Message, e.From
	}
	switch {
	case message == "unknown name host":
		hint = "write host.os, host.arch, host.label or host.vendors"
	case strings.HasPrefix(message, "compilation failed"):
		hint = "shorten it or use tags"
	}
	return positioned(text, from, oneLine(message), hint)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// positioned makes the error at a distance of offset characters from the
// beginning of text.
func positioned(text string, offset int, message, hint string) *PredicateError {
	e := &PredicateError{Line: 1, Column: 1, Message: message, Hint: hint}
	for _, r := range text {
		if offset--; offset < 0 {
			break
		}
		e.Column++
		if r == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}

// names in use, without those of the host.
func (p *Predicate) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.env)), func(name string) bool { return strings.HasPrefix(name, "host.") })
}
