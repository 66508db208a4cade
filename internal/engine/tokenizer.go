package engine

// encode splits text into tokens. A token is a byte, so any text has tokens
// and there are as many as it has bytes.
func encode(text string) []int {
	tokens := make([]int, len(text))
	for i := range len(text) {
		tokens[i] = int(text[i])
	}
	return tokens
}

// decode joins tokens into text; it undoes [Encode]. Tokens must be in [0, 255].
func decode(tokens []int) string {
	text := make([]byte, len(tokens))
	for i, token := range tokens {
		text[i] = byte(token)
	}
	return string(text)
}

// sampled reports whether a token may be part of an answer. Answers are
// restricted to printable ASCII and the newline, because they are shown to
// people, and random weights would mostly pick bytes that are not text.
func sampled(token int) bool {
	return token == '\n' || token >= ' ' && token <= '~'
}
