package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/accelgate/accelgate/internal/text"
)

// functions are the builtin ones of expr that predicates may call.
var functions = []string{"len", "lower", "upper", "trim", "int", "float"}

// resolver gives the names of a syntax tree their meaning. It turns
// model.family into one identifier of that name, because expr has no name
// that is a string and has fields.
type resolver struct {
	text  string
	axes  []Axis
	facts map[string]any
	env   map[string]any // the names in use, with a value of their type
	err   *PredicateError
	from  int // where err is
}

// Visit sees the parts of a node before the node.
func (r *resolver) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		r.identifier(n)
	case *ast.MemberNode:
		base, ok := n.Node.(*ast.IdentifierNode)
		field, constant := n.Property.(*ast.StringNode)
		if ok && constant && (base.Value == "host" || r.axis(base.Value) != nil) {
			r.member(n, base.Value, field.Value)
			ast.Patch(node, &ast.IdentifierNode{Value: base.Value + "." + field.Value})
		}
	case *ast.BuiltinNode:
		if !slices.Contains(functions, n.Name) {
			r.noFunction(n, n.Name)
		}
	case *ast.CallNode:
		r.noFunction(n, called(n.Callee))
	case *ast.BinaryNode:
		if n.Operator == "matches" {
			r.pattern(n)
		}
	}
}

// fail keeps the first error in the text, and of several at one place the
// outermost.
func (r *resolver) fail(node ast.Node, hint, format string, args ...any) {
	from := node.Location().From
	if r.err == nil || from <= r.from {
		r.err, r.from = positioned(r.text, from, fmt.Sprintf(format, args...), hint), from
	}
}

func (r *resolver) axis(key string) *Axis {
	if i := slices.IndexFunc(r.axes, func(a Axis) bool { return a.Key == key }); i >= 0 {
		return &r.axes[i]
	}
	return nil
}

func (r *resolver) identifier(n *ast.IdentifierNode) {
	switch {
	case n.Value == "tags":
		r.env["tags"] = []string(nil)
	case r.axis(n.Value) != nil:
		r.env[n.Value] = ""
	case n.Value != "host": // without a field it is the type checker's
		known := []string{"tags", "host"}
		for _, a := range r.axes {
			known = append(known, a.Key)
		}
		r.fail(n, text.Instead(n.Value, known)+"; a value stands in quotes", "unknown name %q", n.Value)
	}
}

func (r *resolver) member(n *ast.MemberNode, base, field string) {
	name := base + "." + field
	if base == "host" {
		if value, ok := r.facts[name]; ok {
			r.env[name] = value
			return
		}
		r.fail(n, text.Instead(field, []string{"os", "arch", "label", "vendors"}), "host has no %q", field)
		return
	}
	var known []string
	for _, v := range r.axis(base).Values {
		if _, ok := v.Vars[field]; ok {
			r.env[name] = ""
			return
		}
		for name := range v.Vars {
			known = append(known, name)
		}
	}
	if known = sorted(known); len(known) == 0 {
		r.fail(n, "add vars to a value of "+base, "no value of %s has the variable %q", base, field)
		return
	}
	r.fail(n, text.Instead(field, known), "no value of %s has the variable %q", base, field)
}

func (r *resolver) noFunction(n ast.Node, name string) {
	hint := text.Instead(name, functions)
	if slices.Contains(permitted, name) {
		hint = fmt.Sprintf("write model %s \"gemma\"", name)
	}
	r.fail(n, hint, "%q is not a function of predicates", name)
}

// called is the name that an expression uses as a function.
func called(callee ast.Node) string {
	switch c := callee.(type) {
	case *ast.IdentifierNode:
		return c.Value[strings.LastIndexByte(c.Value, '.')+1:]
	case *ast.MemberNode:
		if field, ok := c.Property.(*ast.StringNode); ok {
			return field.Value
		}
	}
	return "this"
}

// pattern refuses regular expressions that are known only when a predicate is
// evaluated, and counted repetitions, which make a short pattern large.
func (r *resolver) pattern(n *ast.BinaryNode) {
	s, ok := n.Right.(*ast.StringNode)
	switch {
	case !ok:
		r.fail(n, "write the pattern in quotes after matches", "the pattern is not constant")
	case strings.Contains(s.Value, "{"):
		r.fail(n, "repeat what is to be repeated", "a pattern with a counted repetition")
	}
}
