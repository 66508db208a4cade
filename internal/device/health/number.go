package health

import (
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// maxQuantity is beyond what any tool can mean.
const maxQuantity = 1e18

// numeral is a decimal number as tools print it: no hexadecimal, no "inf".
var numeral = lazyregexp.New(`^[+-]?[0-9]{1,19}(\.[0-9]{0,19})?`)

// quantity reads the number that a text begins with, such as "71.35 W". A tool
// that does not know it says "N/A", "[N/A]" or a sentence, which are none.
func quantity(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	digits := numeral.FindString(s)
	if digits == "" || strings.HasPrefix(s[len(digits):], "x") {
		return 0, false
	}
	v, err := strconv.ParseFloat(digits, 64)
	return v, err == nil && math.Abs(v) <= maxQuantity
}

// number reads a whole number that a list can have.
func number(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
}
