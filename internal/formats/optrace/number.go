package optrace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/accelgate/accelgate/internal/text"
)

// The limits bound what a hostile program can make a report carry.
const (
	maxSeconds = 1e9 // some 32 years
	maxCount   = 1 << 53
)

var errMissing = errors.New("it is missing")

// number reads a JSON number. Python's words for numbers that are not finite
// are errors, as everything else is.
func number(raw []byte) (float64, error) {
	if len(raw) == 0 {
		return 0, errMissing
	}
	if !json.Valid(raw) || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, fmt.Errorf("%s is not a finite number", quote(raw))
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a finite number", quote(raw))
	}
	return v, nil
}

// lastDigit returns what one step of a number's last digit is worth: 0.01 of
// "1.25", 1 of "3", 0.001 of "1.5e-2".
func lastDigit(raw []byte) float64 {
	mantissa, exponent, _ := bytes.Cut(bytes.ToLower(raw), []byte("e"))
	_, fraction, _ := bytes.Cut(mantissa, []byte("."))
	power, _ := strconv.Atoi(string(exponent)) // "" is 0
	return math.Pow10(power - len(fraction))
}

// count reads a JSON number that is whole and 0 or more.
func count(raw []byte) (int64, error) {
	if n, ok := digits(raw); ok {
		return n, nil
	}
	v, err := number(raw)
	if err == errMissing {
		return 0, err
	}
	if err != nil || v < 0 || v > maxCount || v != math.Trunc(v) {
		return 0, fmt.Errorf("%s is not a count", quote(raw))
	}
	return int64(v), nil
}

// digits reads up to 15 digits, as which nearly all counts are written.
func digits(raw []byte) (n int64, ok bool) {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(raw) > 0 && len(raw) <= 15
}

// decimal reads a printed number.
func decimal(text []byte) (float64, error) {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, fmt.Errorf("%s is not a finite number", quote(text))
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a finite number", quote(text))
	}
	return v, nil
}

// printedTime reads a time such as "884.004ms" or "0.192 s" in seconds.
func printedTime(text []byte) (float64, error) {
	digits, scale := cutUnit(text)
	if scale == 0 {
		return 0, fmt.Errorf("%s is not a time in ns, us, ms or s", quote(text))
	}
	v, err := decimal(bytes.TrimRight(digits, " \t"))
	if err != nil {
		return 0, err
	}
	v *= scale
	return v, inRange(v)
}

// cutUnit returns what stands before the unit of a time and what to multiply it
// by, or 0. The factors are those of msmodeling's checker, since 1e-3 times 3.1
// is not 3.1 over 1e3.
func cutUnit(text []byte) (digits []byte, scale float64) {
	n := len(text)
	switch {
	case n == 0 || text[n-1] != 's':
		return nil, 0
	case bytes.HasSuffix(text, []byte("ms")):
		return text[:n-2], 1e-3
	case bytes.HasSuffix(text, []byte("us")):
		return text[:n-2], 1e-6
	case bytes.HasSuffix(text, []byte("ns")):
		return text[:n-2], 1e-9
	case bytes.HasSuffix(text, []byte("\u00b5s")), bytes.HasSuffix(text, []byte("\u03bcs")): // micro sign, Greek mu
		return text[:n-3], 1e-6
	}
	return text[:n-1], 1
}

// inRange returns what is wrong with a time in seconds.
func inRange(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v s is not finite", v)
	case v < 0:
		return fmt.Errorf("%v s is negative", v)
	case v > maxSeconds:
		return fmt.Errorf("%v s is above %v s", v, maxSeconds)
	}
	return nil
}

// quote writes a part of an output for a message.
func quote(part []byte) string { return text.Quote(string(part[:min(len(part), 300)]), 60) }
