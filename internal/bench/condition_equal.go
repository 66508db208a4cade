package bench

import (
	"math"
	"strconv"
)

// StreamedTokens is the condition that says which share of the output tokens
// that a server counts it also streamed, from 0 to 1; absent where it is all.
// Times per token are over streamed tokens.
const StreamedTokens = "streamed_token_rate"

// sameShare is how far two such shares may be apart: answers differ in length.
const sameShare = 0.1

// Alike reports whether two values of a condition, "" for none, let numbers be
// compared: equal ones, and shares that are about the same.
func Alike(condition, a, b string) bool {
	if a == b || condition != StreamedTokens {
		return a == b
	}
	x, errX := share(a)
	y, errY := share(b)
	return errX == nil && errY == nil && math.Abs(x-y) <= sameShare
}

func share(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	return strconv.ParseFloat(text, 64)
}

// AllAlike reports whether two sets of conditions are [Alike], each by its name.
func AllAlike(a, b map[string]string) bool { return alikeTo(a, b) && alikeTo(b, a) }

func alikeTo(a, b map[string]string) bool {
	for name, value := range a {
		if !Alike(name, value, b[name]) {
			return false
		}
	}
	return true
}
