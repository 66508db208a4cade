package inferencebench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// ContentHash returns the SHA-256, in hex, of an envelope without its
// signature, in the form that Python's json.dumps(body, sort_keys=True,
// separators=(",", ":")) writes. The first 12 digits are the name of the
// original's files, and what it signs.
func ContentHash(data []byte) (string, error) {
	v, err := read(data)
	if err != nil {
		return "", fmt.Errorf("envelope: %w", err)
	}
	if v.kind != object {
		return "", errors.New("envelope is not an object: see whether this is the right file")
	}
	if i := slices.Index(v.keys, "signature"); i >= 0 {
		v.keys, v.items = slices.Delete(v.keys, i, i+1), slices.Delete(v.items, i, i+1)
	}
	return v.hash(), nil
}

func (v value) fingerprint() string {
	var of value
	for _, name := range []string{"dmi_uuid", "gpus", "cpu", "memory", "bios", "numa", "driver", "cuda", "nccl"} {
		member, ok := v.get(name)
		switch {
		case ok:
		case name == "gpus":
			member.kind = array
		case name == "numa":
			member.set("nodes", value{kind: array})
		case name == "nccl":
			member.kind = str
		default:
			continue // v1 demands it, so there is no hash to agree with
		}
		if name == "gpus" {
			member.items = slices.SortedStableFunc(slices.Values(member.items), byPCI)
		}
		of.add(name, member)
	}
	return of.hash()
}

func byPCI(a, b value) int {
	x, _ := a.get("pci_id")
	y, _ := b.get("pci_id")
	return strings.Compare(x.text, y.text)
}

func (v value) hash() string {
	sum := sha256.Sum256(v.canonical())
	return hex.EncodeToString(sum[:])
}

// canonical writes v as Python's json.dumps does with sorted keys and without
// white space.
func (v value) canonical() []byte { return v.append(nil, -1) }

// indented writes v for people, with its keys in the order in which they were
// added.
func (v value) indented() []byte { return append(v.append(nil, 0), '\n') }

// append writes v at this level of indentation, or canonically at level -1.
func (v value) append(out []byte, level int) []byte {
	switch v.kind {
	case null:
		return append(out, "null"...)
	case boolean:
		return append(out, v.text...)
	case number:
		return append(out, pythonNumber(v.text)...)
	case str:
		return appendText(out, v.text)
	}
	open, closing, inner := byte('['), byte(']'), level
	if v.kind == object {
		open, closing = '{', '}'
	}
	if level >= 0 {
		inner++
	}
	out = append(out, open)
	for n, i := range v.order(level < 0) {
		if n > 0 {
			out = append(out, ',')
		}
		out = newline(out, inner)
		if v.kind == object {
			out = append(appendText(out, v.keys[i]), ':')
			if level >= 0 {
				out = append(out, ' ')
			}
		}
		out = v.items[i].append(out, inner)
	}
	if len(v.items) > 0 {
		out = newline(out, level)
	}
	return append(out, closing)
}

func newline(out []byte, level int) []byte {
	if level < 0 {
		return out
	}
	return append(append(out, '\n'), strings.Repeat("  ", level)...)
}

// order returns the indices of the items in the order in which they are
// written.
func (v value) order(sorted bool) []int {
	order := make([]int, len(v.items))
	for i := range order {
		order[i] = i
	}
	if sorted && v.kind == object {
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(v.keys[a], v.keys[b]) })
	}
	return order
}

// appendText writes a string as Python does with ensure_ascii.
func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	for len(s) > 0 {
		c, size := codePoint(s)
		s = s[size:]
		switch i := strings.IndexRune("\"\\\b\f\n\r\t", c); {
		case i >= 0:
			out = append(out, '\\', `"\bfnrt`[i])
		case c >= ' ' && c <= '~':
			out = append(out, byte(c))
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
	}
	return append(out, '"')
}

var integer = lazyregexp.New(`^-?(0|[1-9][0-9]*)$`)

// pythonNumber spells a number of JSON as Python does after reading it:
// integers have any size, everything else is a float64.
func pythonNumber(lit string) string {
	switch {
	case lit == "-0":
		return "0"
	case integer.MatchString(lit):
		return lit
	}
	f, _ := strconv.ParseFloat(lit, 64) // out of range is infinite or 0, as in Python
	return pythonFloat(f)
}

// pythonFloat spells f as Python's repr does: the shortest digits that read
// back as f, with an exponent below 1e-4 and from 1e16 on; always with a
// point or an exponent. Infinities and NaN are spelled as json.dumps does.
func pythonFloat(f float64) string {
	switch s := strconv.FormatFloat(f, 'g', -1, 64); s {
	case "NaN":
		return s
	case "+Inf":
		return "Infinity"
	case "-Inf":
		return "-Infinity"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(s, "e")
	if e, _ := strconv.Atoi(exponent); f != 0 && (e < -4 || e >= 16) {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
