package casefile

import (
	"strconv"
	"strings"
)

// percent writes a fraction with at most one decimal.
func percent(f float64) string {
	if f >= 1e6 {
		return strconv.FormatFloat(f*100, 'g', 3, 64) + " %"
	}
	return strings.TrimSuffix(strconv.FormatFloat(f*100, 'f', 1, 64), ".0") + " %"
}

// signed is percent with its sign.
func signed(f float64) string {
	if f >= 0 {
		return "+" + percent(f)
	}
	return percent(f)
}

// ms writes seconds as milliseconds with the original's three decimals.
func ms(seconds float64) string {
	if seconds >= 1e9 {
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	return strconv.FormatFloat(seconds*1000, 'f', 3, 64) + "ms"
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
