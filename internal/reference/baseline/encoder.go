package baseline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
)

// encoder appends JSON. With an indent, an item starts on its own line; with
// an empty one it follows on the same line.
type encoder struct {
	b         []byte
	described map[string]*bench.Metric // what the file says of metrics, by name
}

func (e *encoder) open(bracket byte)  { e.b = append(e.b, bracket) }
func (e *encoder) close(bracket byte) { e.b = append(e.b, bracket) }

// closeLine closes what was written with indented items.
func (e *encoder) closeLine(indent string, bracket byte) {
	if !e.first() {
		e.b = append(e.b, '\n')
		e.b = append(e.b, indent...)
	}
	e.close(bracket)
}

// first reports whether nothing was written since the last opening bracket. A
// string cannot be mistaken for one, because it ends with a quote.
func (e *encoder) first() bool {
	last := e.b[len(e.b)-1]
	return last == '{' || last == '['
}

func (e *encoder) item(indent string) *encoder {
	first := e.first()
	if !first {
		e.b = append(e.b, ',')
	}
	if indent != "" {
		e.b = append(e.b, '\n')
		e.b = append(e.b, indent...)
	} else if !first {
		e.b = append(e.b, ' ')
	}
	return e
}

func (e *encoder) key(indent, name string) *encoder {
	e.item(indent).string(name)
	e.b = append(e.b, ": "...)
	return e
}

func (e *encoder) extra(indent string, members []unknown) {
	for _, m := range sorted(members, func(a, b unknown) int { return strings.Compare(a.key, b.key) }) {
		e.key(indent, m.key).raw(m.text)
	}
}

func (e *encoder) optional(name, value string) {
	if value != "" {
		e.key("", name).string(value)
	}
}

func (e *encoder) optionalNumber(indent, name string, value float64) {
	if value != 0 {
		e.key(indent, name).float(value)
	}
}

func (e *encoder) optionalFlag(name string, value bool) {
	if value {
		e.key("", name).bool(true)
	}
}

func (e *encoder) optionalString(s *string) {
	if s == nil {
		e.raw([]byte("null"))
		return
	}
	e.string(*s)
}

func (e *encoder) string(s string)  { e.b = appendString(e.b, s) }
func (e *encoder) bool(v bool)      { e.b = strconv.AppendBool(e.b, v) }
func (e *encoder) int(v int64)      { e.b = strconv.AppendInt(e.b, v, 10) }
func (e *encoder) float(v float64)  { e.b = appendFloat(e.b, v) }
func (e *encoder) raw(text []byte)  { e.b = append(e.b, text...) }
func (e *encoder) time(t time.Time) { e.string(t.UTC().Format(timeLayout)) }

// appendFloat writes the shortest digits that read back as v, without an
// exponent from 1e-6 up to maxNumber.
func appendFloat(b []byte, v float64) []byte {
	switch abs := math.Abs(v); {
	case v == 0:
		return append(b, '0') // a negative zero as well
	case abs >= 1e-6 && abs < maxNumber:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// appendString quotes s. Letters of all scripts and HTML stay readable;
// invisible characters are escaped, so that a diff cannot hide any, and what
// is not UTF-8 is replaced.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if bad := r == utf8.RuneError && size == 1; bad || r == '"' || r == '\\' || !unicode.IsPrint(r) {
			b = append(b, s[done:i]...)
			b = appendEscape(b, r)
			done = i + size
		}
		i += size
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}

func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case utf8.RuneError:
		return utf8.AppendRune(b, r)
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
