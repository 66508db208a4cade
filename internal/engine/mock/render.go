package mock

import (
	"cmp"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// vocabulary is what answers are made of, one token each, ready to stand in a
// JSON string.
var vocabulary = [...]string{
	" the", " gate", " opens", " when", " both", " sides", " have", " been", " measured", " twice",
	" na\u00efve", " and", " nothing", " else", ".", "\\n",
}

func word(i int) string { return vocabulary[i%len(vocabulary)] }

// renderer writes the objects of one answer, with the faults that show in them.
type renderer struct {
	*openai.Renderer
	request Request
	script  script
	c       Config
	prompt  int // prompt_tokens of the usage
	wanted  int // tokens of a whole answer
}

func newRenderer(c Config, q Request, s script) *renderer {
	plain := openai.NewRenderer(&q.Request, q.Number, cmp.Or(q.Model, c.Model), c.Now().Unix())
	r := &renderer{plain, q, s, c, q.PromptTokens, cmp.Or(q.MaxTokens, c.Tokens)}
	if s.has(PromptCut) {
		r.prompt /= 2
	}
	if s.has(PromptZero) {
		r.prompt = 0
	}
	if q.Stream && s.has(CRLF) {
		r.End = "\r\n"
	}
	if q.Stream && s.has(NoSpace) {
		r.Field = "data:"
	}
	return r
}

// text appends tokens from to to: words, or equal pieces of the configured
// answer, which a shorter answer cuts.
func (r *renderer) text(b []byte, from, to int) []byte {
	if answer := r.c.Answer; answer != "" {
		piece := func(i int) int { return len(answer) * min(i, r.wanted) / r.wanted }
		quoted := quote(answer[piece(from):piece(to)])
		return append(b, quoted[1:len(quoted)-1]...)
	}
	for i := from; i < to; i++ {
		b = append(b, word(i)...)
	}
	return b
}

// tokens appends the chunk of the tokens from to to, of an answer of total.
func (r *renderer) tokens(b []byte, from, to, total int) []byte {
	open, end := r.delta(from, total)
	b = append(r.text(append(r.Open(b), open...), from, to), end...)
	return r.Close(b, "", "", r.soFar(to))
}

// delta returns what stands around the text of a chunk that starts with a token.
func (r *renderer) delta(from, total int) (open, end string) {
	switch {
	case r.request.Chat && r.script.has(ToolCalls) && from == 0:
		return `"delta":{"tool_calls":[{"index":0,"id":"call-0","type":"function","function":{"name":"mock","arguments":"`, `"}}]}`
	case r.request.Chat && r.script.has(ToolCalls):
		return `"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`, `"}}]}`
	case from < r.first(Reasoning, total):
		return r.Around(r.reasoning())
	}
	return r.Around("content")
}

// hidden returns how many of the first tokens are counted and not sent.
func (r *renderer) hidden(total int) int {
	if !r.request.Stream {
		return 0
	}
	return r.first(Hidden, total)
}

// first returns how many of the first tokens of a chat a kind is about.
func (r *renderer) first(k Kind, total int) int {
	f, some := r.script[k]
	switch {
	case !some || !r.request.Chat:
		return 0
	case f.After > 0:
		return min(f.After, total)
	}
	return (total + 1) / 2
}

// reasoning returns the key of reasoning: vLLM shortened the older one, which
// the others kept.
func (r *renderer) reasoning() string {
	if r.c.Engine == VLLM {
		return "reasoning"
	}
	return "reasoning_content"
}

// timings are what llama.cpp adds: here those that were asked for.
func (r *renderer) timings(tokens int) string {
	if r.c.Engine != LlamaCPP {
		return ""
	}
	milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf(`,"timings":{"prompt_n":%d,"prompt_ms":%g,"predicted_n":%d,"predicted_ms":%g}`, max(0, r.prompt-r.c.CachedTokens),
		milliseconds(r.c.TTFT), tokens, milliseconds(r.c.TPOT)*float64(max(0, tokens-1)))
}

// reason returns the finish_reason.
func (r *renderer) reason() string {
	switch {
	case r.script.has(NoFinish):
		return ""
	case r.script.has(Short):
		return "stop"
	case r.script.has(ToolCalls) && r.request.Chat:
		return "tool_calls"
	}
	return "length"
}

func (r *renderer) usage(tokens int) *openai.Usage {
	return &openai.Usage{Prompt: r.prompt, Completion: tokens, Cached: min(r.c.CachedTokens, r.prompt), Reasoning: r.hidden(tokens)}
}

// soFar returns the usage of a chunk, nil where chunks have none.
func (r *renderer) soFar(tokens int) *openai.Usage {
	if r.script.has(NoUsage) || !r.script.has(UsageOnEvery) && !r.request.StreamOptions.ContinuousUsage {
		return nil
	}
	return r.usage(tokens)
}

// tail appends all that follows the tokens.
func (r *renderer) tail(b []byte, tokens int) []byte {
	if !r.script.has(NoFinish) {
		u := r.soFar(tokens)
		if r.script.has(UsageOnFinish) {
			u = r.usage(tokens)
		}
		b = r.Finish(b, r.reason(), r.timings(tokens), u)
	}
	if r.request.StreamOptions.IncludeUsage && !r.script.has(NoUsage) && !r.script.has(UsageOnFinish) {
		b = r.Usage(b, r.usage(tokens))
	}
	if !r.script.has(NoDone) {
		b = r.Event(b, "[DONE]")
	}
	return b
}

// whole returns the answer of a request without a stream.
func (r *renderer) whole(tokens int) []byte {
	b, from := r.Open(nil), 0
	open, end := r.Around("content")
	switch think := r.first(Reasoning, tokens); {
	case r.request.Chat && r.script.has(ToolCalls):
		open = `"message":{"role":"assistant","content":null,"tool_calls":[` +
			`{"id":"call-0","type":"function","function":{"name":"mock","arguments":"`
		end = `"}}]}`
	case think > 0:
		before, _ := r.Around(r.reasoning())
		b, from, open = r.text(append(b, before...), 0, think), think, `","content":"`
	}
	b = append(r.text(append(b, open...), from, tokens), end...)
	if r.script.has(NoUsage) {
		return r.Close(b, r.reason(), r.timings(tokens), nil)
	}
	return r.Close(b, r.reason(), r.timings(tokens), r.usage(tokens))
}
