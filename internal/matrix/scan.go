package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

// permitted are the operators and brackets of predicates. Of those that expr
// has besides, "let" and closures let a short text make a huge value or loop,
// and the parser uses one node twice for "?:", so that nesting doubles the
// time of everything that walks over the tree.
var permitted = []string{"==", "!=", "<", "<=", ">", ">=", "in", "not", "!", "and", "&&", "or", "||",
	"contains", "startsWith", "endsWith", "matches", ".", ",", "+", "-", "*", "/", "%", "(", ")", "[", "]"}

// scan refuses what no later step must see.
func scan(text string) error {
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return located(text, err, hintSyntax)
	}
	var c chain
	for _, t := range tokens {
		switch {
		case t.Kind == lexer.Bytes:
			return positioned(text, t.From, "bytes cannot be used in a predicate", "write a string in quotes")
		case t.Kind != lexer.Operator && t.Kind != lexer.Bracket:
			continue
		case !slices.Contains(permitted, t.Value):
			return positioned(text, t.From, fmt.Sprintf("%q cannot be used in a predicate", t.Value), hintOperator(t.Value))
		case !c.accept(t.Value):
			return positioned(text, t.From, fmt.Sprintf("%q follows another comparison", t.Value), `write "and" between two comparisons`)
		}
	}
	return nil
}

func hintOperator(operator string) string {
	switch operator {
	case "=":
		return "compare with =="
	case "&", "|":
		return "write and, or"
	}
	return "use " + strings.Join(permitted[:17], ", ")
}

// chain finds comparisons like a < b < c: the parser uses b in two places.
type chain struct {
	outer    []bool // of the brackets around
	compared bool   // since the last and, or, comma
}

// accept reports whether the operator or bracket may come next.
func (c *chain) accept(token string) bool {
	switch token {
	case "(", "[":
		c.outer, c.compared = append(c.outer, c.compared), false
	case ")", "]":
		if n := len(c.outer); n > 0 {
			c.outer, c.compared = c.outer[:n-1], c.outer[n-1]
		}
	case "and", "&&", "or", "||", ",":
		c.compared = false
	case "<", "<=", ">", ">=":
		if c.compared {
			return false
		}
		c.compared = true
	}
	return true
}
