package casefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// texts reads a list of text, each of which must be fine.
func (r *reader) texts(v value, example string, fine func(value) bool) []string {
	if v.Kind != '[' {
		r.fail(v.At, fmt.Sprintf("write a list, such as [%q]", example), "want a list, got %s", describe(v))
		return nil
	}
	list := make([]string, 0, len(v.Members))
	for _, m := range v.Members {
		if s, ok := r.textOf(m.Value); ok && fine(m.Value) {
			list = append(list, s)
		}
	}
	return list
}

// oneOf checks a text against the members of an enumeration.
func (r *reader) oneOf(v value, members []string) bool {
	if slices.Contains(members, v.Text) {
		return true
	}
	if r.full() {
		r.dropped = true
		return false
	}
	hint := "write one of " + strings.Join(members, ", ")
	if near := text.Nearest(v.Text, members); near != "" {
		hint = fmt.Sprintf("write %s, or another of %s", near, strings.Join(members, ", "))
	}
	r.fail(v.At, hint, "unknown value %s", quote(v.Text))
	return false
}

// textOf returns the text of a string.
func (r *reader) textOf(v value) (s string, ok bool) {
	if v.Kind != '"' {
		r.fail(v.At, "write text in quotes", "want text, got %s", describe(v))
		return "", false
	}
	return v.Text, true
}

// named returns the text of a string that must not be blank.
func (r *reader) named(v value, hint string) (s string, ok bool) {
	s, ok = r.textOf(v)
	if ok && strings.TrimSpace(s) == "" {
		r.fail(v.At, hint, "is empty")
		ok = false
	}
	return s, ok
}

// amount returns a time or a tolerance.
func (r *reader) amount(v value) float64 {
	f, ok := floatOf(v)
	switch {
	case v.Kind != '0':
		r.fail(v.At, "write a number of 0 or more without quotes", "want a number, got %s", describe(v))
	case !ok:
		r.fail(v.At, "write a smaller number", "%s is out of range", describe(v))
	case f < 0:
		r.fail(v.At, "write 0 or more", "%s is negative", describe(v))
	default:
		return f
	}
	return 0
}

// count returns a whole number of 0 or more.
func (r *reader) count(v value) int64 {
	n, ok := wholeOf(v)
	switch {
	case v.Kind != '0' || !ok:
		r.fail(v.At, "write a whole number of 0 or more", "want a whole number, got %s", describe(v))
	case n < 0:
		r.fail(v.At, "write 0 or more", "%d is negative", n)
	default:
		return n
	}
	return 0
}
