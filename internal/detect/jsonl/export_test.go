package jsonl

// Parse reads one line.
func Parse(text []byte) (Trial, error) { return new(parser).parse(text) }
