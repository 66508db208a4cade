package terminal

import "slices"

// Cut takes out the middle of a name that is wider than the columns.
func Cut(name string, columns int) string { return cutAt(name, (columns-1)/2, columns) }

// cutAt leaves so many columns before the cut.
func cutAt(name string, head, columns int) string {
	if Width(name) <= columns {
		return name
	}
	return start(name, head) + "…" + end(name, columns-1-head)
}

// CutAlike cuts names of one column, so that different ones stay different where that is
// possible: in the middle, else where all of them stay different, else around the first
// character in which they differ.
func CutAlike(names []string, columns int) []string {
	if !slices.ContainsFunc(names, func(s string) bool { return Width(s) > columns }) {
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
	if Width(name) <= columns {
		return name
	}
	runes := []rune(name)
	before, after := string(runes[1:max(1, at)]), string(runes[max(1, at):len(runes)-1])
	right := start(after, max((columns-1)/2, columns-2-Width(before)))
	left := end(before, columns-2-Width(right))
	return "…" + left + right + "…"
}
