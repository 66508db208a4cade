package openai

// filled reports whether a JSON value is a text, a list or an object with
// something in it.
func filled(raw []byte) bool {
	if len(raw) <= 2 {
		return false
	}
	switch raw[0] {
	case '"':
		return true
	case '[', '{':
		in := cursor{b: raw, i: 1}
		return in.peek() != raw[len(raw)-1]
	}
	return false
}

// textSize is the number of bytes of all texts in a JSON value, the names of
// members aside. An escape counts as one byte, an escaped code unit as three,
// which most of them are in UTF-8.
func textSize(raw []byte) int { return sizeOf(raw, func([]byte) bool { return true }) }

// callSize is textSize of the members name and arguments alone, at any depth:
// what a model writes of a call.
func callSize(raw []byte) int {
	return sizeOf(raw, func(key []byte) bool { return string(key) == "name" || string(key) == "arguments" })
}

// sizeOf adds up the texts below members whose name fits; texts in no member
// count.
func sizeOf(raw []byte, fits func(key []byte) bool) int {
	c := cursor{b: raw}
	return c.size(fits, true)
}

func (c *cursor) size(fits func(key []byte) bool, counts bool) (n int) {
	switch c.peek() {
	case '"':
		if text := c.text(); counts {
			n = decodedSize(text)
		}
	case '{':
		if c.enter('{') {
			for i := 0; c.more('}', i); i++ {
				n += c.size(fits, fits(c.key()))
			}
		}
	case '[':
		if c.enter('[') {
			for i := 0; c.more(']', i); i++ {
				n += c.size(fits, counts)
			}
		}
	default:
		c.skip()
	}
	return n
}

func decodedSize(text []byte) (n int) {
	for i := 0; i < len(text); i++ {
		n++
		if text[i] != '\\' {
			continue
		}
		i++
		if i < len(text) && text[i] == 'u' {
			n, i = n+2, i+4
		}
	}
	return n
}
