package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// message is a text that a user may read.
type message struct {
	at   string // path:line
	kind string // usage, error, finding, flag, help or sentence
	text string // the literals of one argument; what is computed is …
}

// makers are functions whose arguments are messages, by their name.
var makers = []struct {
	name *regexp.Regexp
	kind string
}{
	{regexp.MustCompile(`^Usagef$`), "usage"},
	{regexp.MustCompile(`^([a-zA-Z]*[eE]rrorf|New)$`), "error"},
	{regexp.MustCompile(`^([a-zA-Z]*[wW]arnf?|add|ok)$`), "finding"},
	{regexp.MustCompile(`^(Bool|Count|Duration|Float64|Int|Int64|String|StringArray|StringSlice|Uint64)?VarP?F?$`), "flag"},
}

// helpKeys are the fields of a command that its help shows.
var helpKeys = []string{"Short", "Long", "Example", "Use"}

// style is what a kind of message must not match.
type style struct {
	kinds   string // "" for all
	pattern *regexp.Regexp
	instead string
}

// styles are what a program can check of the style of messages.
var styles = []style{
	{"usage error", regexp.MustCompile(`(?i)\b(failed|unable) to\b`), "cannot X, or the cause itself"},
	{"usage error finding flag", regexp.MustCompile(`(?i)\b(please|sorry|oops|invalid argument)\b`), "leave it out"},
	{"usage error finding", regexp.MustCompile(`([^.]\.|!|\n)$`), "no full stop at the end"},
	{"usage error finding", regexp.MustCompile(`^(?i)(error|warning)\b:`), "leave the word out, it is printed before"},
	{"flag", regexp.MustCompile(`\.$`), "no full stop at the end"},
	{"flag", regexp.MustCompile("`[^`]*`[^`]*`"), "one placeholder in backquotes"},
	{"usage", regexp.MustCompile(`^[^:;,]*$`), "end in a next step: cause: what to do"},
	{"", regexp.MustCompile(`\bstands? twice\b`), "occurs twice"},
	{"", regexp.MustCompile(`(?i)\bmend(s|ed)?\b`), "fix, correct or repair"},
	{"", regexp.MustCompile(`(?i)\b(does|do) not say\b|\bsays (so|that|how|which|when|why|what)\b`), "state, report, name"},
	{"", regexp.MustCompile(`(?i)\b(an?|this|the|another|other|new|each|of|one)\s+machines?\b`), "host"},
	{"", regexp.MustCompile(`(?i)\bcomputers?\b`), "host"},
	{"", regexp.MustCompile(`(?i)\b(second look|least effect|infrastructural)\b`), "the word of the glossary"},
	{"", regexp.MustCompile(`\bis no [a-km-z]`), "is not a"},
}

// exempt are parts of texts in which a rule does not hold.
var exempt = regexp.MustCompile(`(?i)there is no |virtual machines?|the machine id`)

// names may begin an error with a capital letter, beside words with two of them.
var names = []string{"Prometheus", "Infinity", "Python", "Markdown"}

// TestMessagesFollowTheirRules prints all messages with -v: make messages.
func TestMessagesFollowTheirRules(t *testing.T) {
	all := messages(t)
	for _, m := range all {
		if testing.Verbose() {
			t.Logf("%s\t%s\t%q", m.kind, m.at, m.text)
		}
		for _, r := range styles {
			if found := r.breaks(m); found != "" {
				t.Errorf("%s: %s %q: %q: %s", m.at, m.kind, m.text, found, r.instead)
			}
		}
		if strings.Contains("usage error flag", m.kind) && capital(m.text) {
			t.Errorf("%s: %s %q: begin in lower case", m.at, m.kind, m.text)
		}
	}
	if len(all) < 3000 {
		t.Errorf("%d messages were found, want 3000 or more", len(all))
	}
}

// TestMessageRulesFindWhatTheyAreFor breaks each rule once, so that none is a pattern that matches nothing.
func TestMessageRulesFindWhatTheyAreFor(t *testing.T) {
	wrong := []message{
		{kind: "error", text: "failed to open"}, {kind: "error", text: "please give one"}, {kind: "error", text: "it broke."},
		{kind: "finding", text: "warning: x"}, {kind: "flag", text: "the label."}, {kind: "flag", text: "`a` of `b` c"}, {kind: "usage", text: "bad flag"},
		{kind: "sentence", text: "key a stands twice"}, {kind: "help", text: "how to mend it"}, {kind: "error", text: "the file does not say which"},
		{kind: "error", text: "this machine is slow"}, {kind: "error", text: "the computer"}, {kind: "error", text: "the least effect"}, {kind: "error", text: "x is no number"},
	}
	for i, r := range styles {
		if r.breaks(wrong[i]) == "" {
			t.Errorf("%q passes %v", wrong[i].text, r.pattern)
		}
	}
	for _, fine := range []string{"there is no token: set GITHUB_TOKEN", "it is no longer there: restore it", "on virtual machines: use a host"} {
		for _, r := range styles {
			if r.breaks(message{kind: "usage", text: fine}) != "" {
				t.Errorf("%q breaks %v", fine, r.pattern)
			}
		}
	}
	if !capital("The label is wrong") || capital("GITHUB_REF is wrong") || capital("%s is wrong") {
		t.Error("capital letters are judged wrongly")
	}
}

// breaks returns the part of a message that breaks the rule.
func (r style) breaks(m message) string {
	if r.kinds != "" && !slices.Contains(strings.Fields(r.kinds), m.kind) {
		return ""
	}
	return r.pattern.FindString(exempt.ReplaceAllString(m.text, ""))
}

// capital reports whether a text begins with a capital letter that is not of a name.
func capital(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	if word == "" || !unicode.IsUpper(rune(word[0])) || slices.Contains(names, strings.TrimRight(word, ":,'s")) {
		return false
	}
	return len(word) > 1 && strings.ToLower(word[1:]) == word[1:]
}

// messages are those of the programs, by path and line.
func messages(t *testing.T) (all []message) {
	t.Helper()
	for _, name := range programSources(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, content(t, name), 0)
		if err != nil {
			t.Fatal(err)
		}
		c := collector{fset: fset, name: name, seen: map[token.Pos]bool{}}
		ast.Inspect(file, c.visit)
		all = append(all, c.all...)
	}
	return all
}

// collector gathers the messages of one file.
type collector struct {
	fset *token.FileSet
	name string
	seen map[token.Pos]bool // literals
	all  []message
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if kind := made(n); kind != "" {
			for _, arg := range n.Args {
				c.add(kind, arg)
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(helpKeys, key.Name) {
			c.add("help", n.Value)
		}
	case *ast.ImportSpec, *ast.Field:
		return false
	case ast.Expr:
		c.add("sentence", n)
	}
	return true
}

// add keeps a text of several words.
func (c *collector) add(kind string, e ast.Expr) {
	if s, ok := c.literal(e); ok && strings.Contains(strings.TrimSpace(s), " ") {
		c.all = append(c.all, message{fmt.Sprintf("%s:%d", c.name, c.fset.Position(e.Pos()).Line), kind, s})
	}
}

// literal joins the strings of a literal or a sum; ok is false where there is none, or it was seen.
func (c *collector) literal(e ast.Expr) (s string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING || c.seen[e.Pos()] {
			return "", false
		}
		c.seen[e.Pos()] = true
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		left, a := c.literal(e.X)
		right, b := c.literal(e.Y)
		if !a {
			left = "…"
		}
		if !b {
			right = "…"
		}
		return left + right, a || b
	case *ast.ParenExpr:
		return c.literal(e.X)
	}
	return "", false
}

// made is the kind of the messages that a call is given, "" if they are none.
func made(call *ast.CallExpr) string {
	var name string
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); name == "New" && (!ok || x.Name != "errors") {
			return ""
		}
	}
	for _, m := range makers {
		if m.name.MatchString(name) {
			return m.kind
		}
	}
	return ""
}

// notOurs are rooms that only tests run.
var notOurs = regexp.MustCompile(`^internal/testing/`)

// programSources are the Go files of the program, without those whose words are data.
func programSources(t *testing.T) (found []string) {
	t.Helper()
	for name := range proses(t, 0) {
		ours := strings.HasPrefix(name, "cmd/accelgate/") || strings.HasPrefix(name, "internal/") && !notOurs.MatchString(name)
		if ours && filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
