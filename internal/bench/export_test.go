package bench

import (
	"fmt"
	"strings"
)

// SplitID undoes the joining and escaping of [Cell.ID].
func SplitID(id string) ([]string, error) {
	segments := strings.Split(id, "__")
	for i, s := range segments {
		value, err := Unescape(s)
		if err != nil {
			return nil, fmt.Errorf("case id %q: %w", id, err)
		}
		segments[i] = value
	}
	return segments, nil
}

// Unescape undoes [Escape].
func Unescape(segment string) (string, error) {
	if segment == "%" {
		return "", nil
	}
	if !strings.Contains(segment, "%") {
		return segment, nil
	}
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		if segment[i] != '%' {
			b.WriteByte(segment[i])
			continue
		}
		if i+2 >= len(segment) {
			return "", fmt.Errorf("escape %q is cut short", segment[i:])
		}
		hi, lo := unhex(segment[i+1]), unhex(segment[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("escape %q is not %%XX", segment[i:i+3])
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

func unhex(c byte) int { return strings.IndexByte("0123456789ABCDEF", c) }
