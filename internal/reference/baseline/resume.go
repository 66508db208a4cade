package baseline

// resume forgives a syntax error inside an entry if it is clear where the
// entry ends, so that one bad entry does not hide the others.
func (r *reader) resume(start, depth int) {
	end := entryEnd(r.data, start)
	if end < 0 || len(r.problems) == maxProblems {
		return
	}
	bad := r.bad
	r.bad, r.pos = nil, end
	if c := r.peek(); c != ',' && c != ']' {
		r.bad = bad
		return
	}
	r.problems = append(r.problems, bad)
	r.depth = depth
}

// entryEnd returns the position behind the bracket that closes the one at
// start, or -1. It looks at brackets, strings and comments only.
func entryEnd(data []byte, start int) int {
	depth := 0
	for i := start; i < len(data); {
		switch data[i] {
		case '"':
			if i = stringEnd(data, i); i < 0 {
				return -1
			}
			continue
		case '/':
			if end := commentEnd(data, i); end > 0 {
				i = end
				continue
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}
