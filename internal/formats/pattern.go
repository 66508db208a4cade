package formats

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Pattern finds one piece of a text by a regular expression in RE2 syntax,
// with (?m) for ^ and $ to mean lines. Its first match counts, and of that the
// group named value, else the first group.
//
// The zero Pattern finds nothing. Patterns come from [ParsePattern] and may be
// used by several goroutines at once.
type Pattern struct {
	re    *regexp.Regexp
	group int
}

// ParsePattern reads a regular expression, which must have a group. Its errors
// say what to write instead.
func ParsePattern(text string) (Pattern, error) {
	re, err := regexp.Compile(text)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad):
		return Pattern{}, fmt.Errorf("regular expression %q: %s at %q; see https://pkg.go.dev/regexp/syntax", cut(text, 100), bad.Code,
			cut(bad.Expr, 40))
	case err != nil:
		return Pattern{}, err
	case re.NumSubexp() < 1:
		return Pattern{}, fmt.Errorf("regular expression %q has no group; put parentheses around what it should find", cut(text, 100))
	}
	return Pattern{re, max(re.SubexpIndex("value"), 1)}, nil
}

// UnmarshalText makes a Pattern a field of a configuration; see
// [ParsePattern].
func (p *Pattern) UnmarshalText(text []byte) error {
	parsed, err := ParsePattern(string(text))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// Find returns what the group matched, which shares memory with text. It
// reports ok == false where the expression, or the branch of it that holds the
// group, matches nothing.
func (p Pattern) Find(text []byte) (found []byte, ok bool) {
	if p.re == nil {
		return nil, false
	}
	m := p.re.FindSubmatchIndex(text)
	if m == nil || m[2*p.group] < 0 {
		return nil, false
	}
	from, to := m[2*p.group], m[2*p.group+1]
	return text[from:to:to], true
}

// String returns the expression as it was written.
func (p Pattern) String() string {
	if p.re == nil {
		return ""
	}
	return p.re.String()
}
