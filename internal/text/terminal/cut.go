package terminal

import (
	"slices"
	"unicode/utf8"
)

// Cut takes out the middle of a name that is wider than the columns.
func Cut(name string, columns int) string { return cutAt(name, (columns-1)/2, columns) }

// cutAt leaves so many characters before the cut.
func cutAt(name string, head, columns int) string {
	if utf8.RuneCountInString(name) <= columns {
		return name
	}
	runes := []rune(name)
	return string(runes[:head]) + "…" + string(runes[len(runes)-(columns-1-head):])
}

// CutAlike cuts names of one column, so that different ones stay different where that is
// possible: in the middle, else where all of them stay different, else around the first
// character in which they differ.
func CutAlike(names []string, columns int) []string {
	if !slices.ContainsFunc(names, func(s string) bool { return utf8.RuneCountInString(s) > columns }) {
		return names
	}
	const places = 8
	for place := range places {
		place = (places/2 + (place+1)/2*(1-place%2*2)) // 4, 3, 5, 2, 6, ...
		if cut := each(names, func(s string) string { return cutAt(s, (columns-1)*place/places, columns) }); differ(names, cut) {
			return cut
		}
	}
	from := alike(names)
	if cut := each(names, func(s string) string { return around(s, from, columns) }); differ(names, cut) {
		return cut
	}
	return each(names, func(s string) string { return Cut(s, columns) })
}

func each(names []string, do func(string) string) []string {
	cut := make([]string, len(names))
	for i, s := range names {
		cut[i] = do(s)
	}
	return cut
}

// differ reports whether each name has a form of its own.
func differ(names, cut []string) bool {
	of := make(map[string]string, len(names))
	for i, form := range cut {
		if name, ok := of[form]; ok && name != names[i] {
			return false
		}
		of[form] = names[i]
	}
	return true
}

// alike is how many characters all names that are wide begin with.
func alike(names []string) int {
	first := []rune(slices.MaxFunc(names, func(a, b string) int { return len(a) - len(b) }))
	n := len(first)
	for _, s := range names {
		runes := []rune(s)
		if 2*len(runes) < len(first) {
			continue
		}
		at := 0
		for at < min(n, len(runes)) && runes[at] == first[at] {
			at++
		}
		n = at
	}
	return n
}

// around is what stands on both sides of a character.
func around(name string, at, columns int) string {
	runes := []rune(name)
	if len(runes) <= columns {
		return name
	}
	from := min(max(1, at-columns/2), len(runes)-columns+1)
	return "…" + string(runes[from:min(from+columns-2, len(runes))]) + "…"
}
