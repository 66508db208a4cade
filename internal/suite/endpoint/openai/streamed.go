package openai

// maxHidden is the share of the counted tokens from which on tokens that were
// not streamed matter: below it, the two counts agree.
const maxHidden = 0.1

// silent is how many tokens of an answer have no text by nature: the end of the
// sequence, and one whose bytes are no whole character yet.
const silent = 2

// minBytes is the size of the text of a token in bytes: four in English, three
// in code and in Chinese. Less than two on average in a whole answer are rare,
// so that then chunks are short of tokens rather than made of several.
const minBytes = 2

// streamed is the number of output tokens that came as chunks. It differs from
// the count of all where reasoning is counted and not sent, or a call of a tool
// is held back. It is said tokens unless they differ by more than maxHidden.
//
// reasoning_tokens decide where no reasoning came. Without them, the size of
// the text tells chunks of several tokens from tokens that never came.
func (p *parser) streamed(said int) int {
	chunks := len(p.tokens)
	if p.reply.Source != FromUsage || chunks == 0 {
		return said
	}
	came := said
	switch hidden := p.hiddenReasoning(said); {
	case hidden > 0:
		came = max(said-hidden, min(chunks, said))
	case p.size < minBytes*said:
		came = min(chunks, said)
	}
	if float64(said-came) <= max(silent, maxHidden*float64(said)) {
		return said
	}
	return came
}

// hiddenReasoning is how many tokens of reasoning were counted where none came.
func (p *parser) hiddenReasoning(said int) int {
	n := p.chunk.reasoning
	if n > said {
		p.note("the server reports %d reasoning tokens in an answer of %d", n, said)
		return 0
	}
	if p.thoughts {
		return 0
	}
	return n
}
