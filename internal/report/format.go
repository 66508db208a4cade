package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text"
)

// number writes x with four significant digits, and whole numbers in full up
// to a billion.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not a number"
	}
	if a := math.Abs(x); a >= 1e4 && a < 1e9 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// zero is how a change is shown that rounds to 0.
const zero = "0.0 %"

// percent writes a change with its sign. It takes more than one decimal where
// rounding would show a change beyond the limit as equal to it.
func percent(x, limit float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not a number"
	}
	if math.Abs(x) >= 1e5 {
		return fmt.Sprintf("%+.3g %%", x)
	}
	if math.Abs(x) < 0.05 {
		return zero
	}
	s := ""
	for decimals := 1; decimals <= 4; decimals++ {
		s = fmt.Sprintf("%+.*f", decimals, x)
		shown, _ := strconv.ParseFloat(s, 64)
		if math.Abs(x) == limit || math.Abs(shown) != limit {
			break
		}
	}
	return s + " %"
}

// bare writes a percentage without a sign.
func bare(x float64) string { return number(x) + " %" }

// rough writes a percentage that is an estimate.
func rough(x float64) string {
	if math.Abs(x) >= 10 {
		return fmt.Sprintf("%.0f %%", x)
	}
	return fmt.Sprintf("%.2g %%", x)
}

// enumerate writes "a", "a and b" or "a, b and c".
func enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

func age(then, now time.Time) string {
	if then.IsZero() || now.IsZero() {
		return "unknown age"
	}
	days := int(now.Sub(then).Hours() / 24)
	if days < 1 {
		return "today"
	}
	return text.Plural(days, "day")
}

// commit shortens a full hash as git does.
func commit(revision string) string {
	if len(revision) == 40 && strings.Trim(revision, "0123456789abcdef") == "" {
		return revision[:7]
	}
	return revision
}
