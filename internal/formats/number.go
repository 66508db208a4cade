package formats

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var (
	errNaN      = errors.New("it is NaN, not a number")
	errInfinite = errors.New("it is infinite")
)

// finite reads a decimal number that a float64 can hold. Numbers that would
// become infinite, or zero without being zero, are errors: a measurement must
// never turn into another one silently.
func finite(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case math.IsNaN(v):
		return 0, errNaN
	case math.IsInf(v, 0) && err != nil:
		return 0, fmt.Errorf("%q is too large for a number", cut(s, 40))
	case math.IsInf(v, 0):
		return 0, errInfinite
	case err != nil || strings.ContainsAny(s, "xXpP_"):
		return 0, fmt.Errorf("%q is not a number", cut(s, 40))
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	if v == 0 && strings.ContainsAny(mantissa, "123456789") {
		return 0, fmt.Errorf("%q is too small for a number", cut(s, 40))
	}
	return v, nil
}
