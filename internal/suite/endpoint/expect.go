package endpoint

import (
	"strconv"

	"github.com/accelgate/accelgate/internal/config"
)

// byWords expects a token for each word of a prompt.
const byWords = "words"

// minTokens is what the server must count in a prompt of so many words, 0 for
// any number.
func (e expect) minTokens(words int) int {
	if e.PromptTokens == byWords {
		return words
	}
	n, _ := strconv.Atoi(e.PromptTokens) // checkExpect has read it
	return n
}

func (b *body) checkExpect(c *config.Suite) error {
	text := b.Expect.PromptTokens
	if n, err := strconv.Atoi(text); text != "" && text != byWords && (err != nil || n < 1) {
		return c.Errorf("expect.prompt_tokens", "is %q: write the least number of tokens of a prompt, such as 100, or %s", text, byWords)
	}
	return nil
}
