package jsonl

// Parse reads one line.
func Parse(text []byte) (trial, error) { return new(parser).parse(text) }
