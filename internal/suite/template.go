package suite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Lookup returns what the placeholder {NAME} stands for. Its errors say what
// to write instead.
type Lookup func(name string) (string, error)

// Fill replaces the placeholders of a template. "{{" and "}}" stand for braces;
// a brace that stands alone is an error.
func Fill(template string, lookup Lookup) (string, error) {
	if !strings.ContainsAny(template, "{}") {
		return template, nil
	}
	var b strings.Builder
	for rest := template; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		if doubled := rest[i:]; strings.HasPrefix(doubled, "{{") || strings.HasPrefix(doubled, "}}") {
			b.WriteByte(doubled[0])
			rest = doubled[2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if rest[i] == '}' || end < 0 {
			return "", errors.New("a brace stands alone: write {{ or }} for a brace")
		}
		value, err := lookup(rest[i+1 : i+end])
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		rest = rest[i+end+1:]
	}
	return b.String(), nil
}

// FillAll is Fill for a list of templates.
func FillAll(templates []string, lookup Lookup) ([]string, error) {
	filled := make([]string, 0, len(templates))
	for _, t := range templates {
		text, err := Fill(t, lookup)
		if err != nil {
			return nil, err
		}
		filled = append(filled, text)
	}
	return filled, nil
}

var placeholder = lazyregexp.New(`\{[A-Za-z_][A-Za-z0-9_.-]*\}`)

// FillNames replaces placeholders and leaves all other braces alone, for text
// that holds JSON or the like.
func FillNames(text string, lookup Lookup) (string, error) {
	var errs []error
	filled := placeholder.ReplaceAllStringFunc(text, func(name string) string {
		value, err := lookup(name[1 : len(name)-1])
		errs = append(errs, err)
		return value
	})
	return filled, errors.Join(errs...)
}

// FillCommand fills in a command, which has at least one argument. Each item is one argument; splice may return
// a list in place of an item, and false for an item that is a template.
func FillCommand(template []string, splice func(item string) ([]string, bool, error), lookup Lookup) ([]string, error) {
	args := make([]string, 0, len(template))
	for i, t := range template {
		list, spliced, err := splice(t)
		if !spliced && err == nil {
			var arg string
			arg, err = Fill(t, lookup)
			list = []string{arg}
		}
		if err != nil {
			return nil, fmt.Errorf("command[%d] %q: %w", i, t, err)
		}
		args = append(args, list...)
	}
	if len(args) == 0 {
		return nil, errors.New("the command has no program: make its first item one")
	}
	return args, nil
}

// Replaced returns the arguments with another path in place of one.
func Replaced(args []string, path, by string) []string {
	typed := make([]string, len(args))
	for i, a := range args {
		typed[i] = strings.ReplaceAll(a, path, by)
	}
	return typed
}
