package bench

import "strings"

// SplitID undoes the joining and escaping of [Cell.ID] of a cell with several parameters.
func SplitID(id string) []string {
	segments := strings.Split(id, "__")
	for i, s := range segments {
		segments[i] = Unescape(s)
	}
	return segments
}

// Unescape undoes [Escape].
func Unescape(segment string) string {
	if segment == "%" {
		return ""
	}
	if !strings.Contains(segment, "%") {
		return segment
	}
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		if segment[i] != '%' {
			b.WriteByte(segment[i])
			continue
		}
		if i+2 >= len(segment) || unhex(segment[i+1]) < 0 || unhex(segment[i+2]) < 0 {
			b.WriteByte('%')
			continue
		}
		hi, lo := unhex(segment[i+1]), unhex(segment[i+2])
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String()
}

func unhex(c byte) int { return strings.IndexByte("0123456789ABCDEF", c) }
