package bench

import (
	"math"
	"strconv"
)

// StreamedTokens is the condition with the share of the output tokens counted by
// a server that it also streamed, from 0 to 1; absent where it streamed all.
// Times per token are over streamed tokens.
const StreamedTokens = "streamed_token_rate"

// sameShare is how far two such shares may be apart: answers differ in length.
const sameShare = 0.1

// SameCondition reports whether two values of a condition, "" for its absence, let numbers be
// compared: equal ones, and shares that are about the same.
func SameCondition(condition, a, b string) bool {
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

// SameConditions reports whether two sets of conditions are alike, see [SameCondition], each by its name.
func SameConditions(a, b map[string]string) bool { return conditionsIn(a, b) && conditionsIn(b, a) }

func conditionsIn(a, b map[string]string) bool {
	for name, value := range a {
		if !SameCondition(name, value, b[name]) {
			return false
		}
	}
	return true
}
