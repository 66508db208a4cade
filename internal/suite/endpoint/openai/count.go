package openai

import "fmt"

// output is the number of output tokens and where it comes from: the server,
// unless what it says cannot be.
func (p *parser) output() (n int, source string) {
	said, chunks := p.chunk.output, len(p.tokens)
	// Usage on every chunk may lag behind the chunks where a stream was cut.
	lags := p.chunk.finish == nil && said < chunks
	switch {
	case said >= 0 && !lags && p.possible(said):
		return said, FromUsage
	case chunks > 0:
		return chunks, FromChunks
	}
	return -1, ""
}

// possible holds a count of output tokens against what was asked for and what
// came. A chunk of text is a token at least; calls of tools are made out of
// tokens by a parser, which may cut one token in two.
func (p *parser) possible(said int) bool {
	minimum := max(p.texts, min(len(p.tokens), 1))
	switch {
	case p.expect.MaxTokens > 0 && said > p.expect.MaxTokens:
		p.note("the server reports %d output tokens where %d were asked for", said, p.expect.MaxTokens)
	case said < minimum:
		p.note("the server reports %d output tokens where %d chunks came", said, minimum)
	default:
		return true
	}
	p.finding.uncounted = true
	return false
}

// cached is the number of tokens of the prompt from the server's cache, -1 for
// one that is not known.
func (p *parser) cached() int {
	n := p.chunk.cachedTokens()
	if prompt := p.chunk.prompt; prompt >= 0 && n > prompt {
		p.note("the server reports %d cached tokens in a prompt of %d", n, prompt)
		return -1
	}
	return n
}

// cachedTokens falls back on llama.cpp's timings, whose prompt_n leaves out
// what came from the cache.
func (k *chunk) cachedTokens() int {
	t := k.timings
	switch {
	case k.cached >= 0:
		return k.cached
	case t.cacheN >= 0:
		return t.cacheN
	case t.promptN >= 0 && k.prompt >= t.promptN:
		return k.prompt - t.promptN
	}
	return -1
}

func (p *parser) note(format string, numbers ...any) {
	if p.reply.Note != "" {
		p.reply.Note += "; "
	}
	p.reply.Note += fmt.Sprintf(format, numbers...)
}
