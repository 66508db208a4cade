package text

import (
	"fmt"
	"slices"
)

// First returns at most so many lines, and one more that says how many are left out.
func First(lines []string, most int) []string {
	if more := len(lines) - most; more > 0 {
		return append(slices.Clip(lines[:most]), fmt.Sprintf("and %d more", more))
	}
	return lines
}
