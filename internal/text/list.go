package text

import (
	"fmt"
	"slices"
)

// First returns at most so many lines, and one more that says how many are left out.
func First(lines []string, maximum int) []string {
	if more := len(lines) - maximum; more > 0 {
		return append(slices.Clip(lines[:maximum]), fmt.Sprintf("and %d more", more))
	}
	return lines
}
