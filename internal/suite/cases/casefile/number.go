package casefile

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// round keeps 12 significant digits of a time: a sum of printed times, such as
// 0.37752300000000005, has no more to say.
func round(f float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 11, 64), 64)
	return rounded + 0 // no -0
}

// repr writes a number as Python's repr writes a float, which is what the
// original's files have: the shortest text with the same value, always with a
// point or an exponent (float_repr_style "short": the latter below 1e-4 and
// from 1e16 on).
func repr(f float64) string {
	short := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, finite := strings.Cut(short, "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e >= 16 || !finite {
		return short
	}
	decimal := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.Contains(decimal, ".") {
		return decimal
	}
	return decimal + ".0"
}

// encode writes a value as JSON on one line, with non-ASCII text as it is.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// encodeText is encode for what is always possible.
func encodeText(s string) string {
	text, _ := encode(s)
	return text
}
