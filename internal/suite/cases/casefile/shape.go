package casefile

import "strings"

// shape is the set of JSON values that a setting may have.
type shape uint8

const (
	str    shape = 1 << iota
	whole        // a whole number
	number       // any number
	flag         // true or false
	null
	list   // a list of the above instead of a single one
	orList // a list of the above as well
)

// fits checks the type and the members of a setting.
func (r *reader) fits(f field, v value) bool {
	scalar := f.shape &^ (list | orList | null)
	switch {
	case v.Kind == '[' && f.shape&(list|orList) != 0:
		before := len(r.problems)
		for _, m := range v.Members {
			r.fits(field{shape: scalar, members: f.members}, m.Value)
		}
		return len(r.problems) == before
	case f.shape&list != 0 || !f.shape.has(v):
		r.fail(v.At, "write "+f.shape.String(), "want %s, got %s", f.shape, describe(v))
		return false
	case v.Kind == '"' && f.members != nil:
		return r.oneOf(v, f.members)
	}
	return true
}

// has reports whether the set contains a single value.
func (s shape) has(v value) bool {
	switch v.Kind {
	case '"':
		return s&str != 0
	case 't', 'f':
		return s&flag != 0
	case 'n':
		return s&null != 0
	case '0':
		_, isWhole := wholeOf(v)
		_, isFloat := floatOf(v)
		return s&number != 0 && isFloat || s&whole != 0 && isWhole
	}
	return false
}

// String describes the set for a message.
func (s shape) String() string {
	var words []string
	for _, w := range []struct {
		bit  shape
		word string
	}{
		{str, "text in quotes"}, {whole, "a whole number"}, {number, "a number"},
		{flag, "true or false"}, {null, "null"}, {orList, "a list of it"},
	} {
		if s&w.bit != 0 {
			words = append(words, w.word)
		}
	}
	if s&list != 0 {
		return "a list of numbers" // there is no other
	}
	return strings.Join(words, " or ")
}
