package mock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// vocabulary is what answers are made of, one token each, ready to stand in a
// JSON string.
var vocabulary = [...]string{
	" the", " gate", " opens", " when", " both", " sides", " have", " been", " measured", " twice",
	" na\u00efve", " and", " nothing", " else", ".", "\\n",
}

func word(i int) string { return vocabulary[i%len(vocabulary)] }

// text appends tokens from to to: words, or equal pieces of the configured
// answer, which a shorter answer cuts.
func (r *renderer) text(b []byte, from, to int) []byte {
	if r.answer != "" {
		piece := func(i int) int { return len(r.answer) * min(i, r.wanted) / r.wanted }
		quoted, _ := json.Marshal(r.answer[piece(from):piece(to)]) // a string has no error
		return append(b, quoted[1:len(quoted)-1]...)
	}
	for i := from; i < to; i++ {
		b = append(b, word(i)...)
	}
	return b
}

// renderer writes the data lines of one stream. What they have in common is
// rendered once; a line costs a few copies.
type renderer struct {
	request Request
	script  script
	engine  Engine
	cached  int
	prompt  int // prompt_tokens of the usage
	answer  string
	wanted  int // tokens of a whole answer

	head string // `data: {"id":...,"model":"mock"`
	end  string // of a line, and of an event
}

func newRenderer(c Config, q Request, s script) *renderer {
	model := q.Model
	if model == "" {
		model = c.Model
	}
	quoted, _ := json.Marshal(model) // a string has no error
	r := &renderer{
		request: q,
		script:  s,
		engine:  c.Engine,
		cached:  c.CachedTokens,
		prompt:  q.PromptTokens,
		answer:  c.Answer,
		wanted:  cmp.Or(q.MaxTokens, c.Tokens),
		end:     "\n",
	}
	if s.has(PromptCut) {
		r.prompt /= 2
	}
	if s.has(PromptZero) {
		r.prompt = 0
	}
	if s.has(CRLF) {
		r.end = "\r\n"
	}
	object := "text_completion"
	if q.Chat {
		object = "chat.completion"
		if q.Stream {
			object += ".chunk"
		}
	}
	r.head = fmt.Sprintf(`{"id":"cmpl-%d","object":"%s","created":%d,"model":%s`, q.Number, object, c.Now().Unix(), quoted)
	return r
}

// data appends the start of a data line.
func (r *renderer) data(b []byte) []byte {
	if r.script.has(NoSpace) {
		return append(b, "data:"...)
	}
	return append(b, "data: "...)
}

// event appends a whole event around a payload.
func (r *renderer) event(b []byte, payload string) []byte {
	b = append(r.data(b), payload...)
	return append(append(b, r.end...), r.end...)
}

// close appends what stands behind the choices of a chunk.
func (r *renderer) close(b []byte, usage bool, tokens int) []byte {
	if usage {
		b = r.usage(append(b, ','), tokens)
	}
	return append(append(append(b, '}'), r.end...), r.end...)
}

// role appends the chunk that opens a chat.
func (r *renderer) role(b []byte) []byte {
	b = append(append(r.data(b), r.head...), `,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`...)
	return r.close(b, r.continuous(), 0)
}

// tokens appends the chunk of the tokens from to to, of an answer of total.
func (r *renderer) tokens(b []byte, from, to, total int) []byte {
	b = append(append(r.data(b), r.head...), `,"choices":[{"index":0,`...)
	open, end := r.delta(from, total)
	b = append(r.text(append(b, open...), from, to), end...)
	return r.close(append(b, `,"finish_reason":null}]`...), r.continuous(), to)
}

// delta returns what stands around the text of a chunk that starts with a token.
func (r *renderer) delta(from, total int) (open, end string) {
	switch {
	case !r.request.Chat:
		return `"text":"`, `","logprobs":null`
	case r.script.has(ToolCalls) && from == 0:
		return `"delta":{"tool_calls":[{"index":0,"id":"call-0","type":"function","function":{"name":"mock","arguments":"`, `"}}]}`
	case r.script.has(ToolCalls):
		return `"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`, `"}}]}`
	case from < r.thinking(total):
		return `"delta":{"` + r.reasoning() + `":"`, `"}`
	}
	return `"delta":{"content":"`, `"}`
}

// thinking returns how many of the first tokens are reasoning.
func (r *renderer) thinking(total int) int { return r.first(Reasoning, total) }

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
	if r.engine == VLLM {
		return "reasoning"
	}
	return "reasoning_content"
}

// finish appends the chunk with the finish reason. llama.cpp adds its own
// timings, here those that were asked for.
func (r *renderer) finish(b []byte, tokens int, c Config) []byte {
	b = append(append(r.data(b), r.head...), `,"choices":[{"index":0,`...)
	if r.request.Chat {
		b = append(b, `"delta":{}`...)
	} else {
		b = append(b, `"text":"","logprobs":null`...)
	}
	b = fmt.Appendf(b, `,"finish_reason":%q}]`, r.reason())
	b = r.timings(b, tokens, c)
	return r.close(b, r.continuous() || r.script.has(UsageOnFinish), tokens)
}

func (r *renderer) timings(b []byte, tokens int, c Config) []byte {
	if c.Engine != LlamaCPP {
		return b
	}
	return fmt.Appendf(b, `,"timings":{"prompt_n":%d,"prompt_ms":%g,"predicted_n":%d,"predicted_ms":%g}`,
		max(0, r.prompt-r.cached), milliseconds(c.TTFT), tokens, milliseconds(c.TPOT)*float64(max(0, tokens-1)))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *renderer) reason() string {
	switch {
	case r.script.has(Short):
		return "stop"
	case r.script.has(ToolCalls) && r.request.Chat:
		return "tool_calls"
	}
	return "length"
}

// continuous reports whether every chunk has a usage.
func (r *renderer) continuous() bool {
	return !r.script.has(NoUsage) && (r.script.has(UsageOnEvery) || r.request.ContinuousUsage)
}

// ownUsage reports whether the usage has a chunk of its own, without a choice.
func (r *renderer) ownUsage() bool {
	return r.request.IncludeUsage && !r.script.has(NoUsage) && !r.script.has(UsageOnFinish)
}

// usage appends the usage as a member.
func (r *renderer) usage(b []byte, tokens int) []byte {
	b = strconv.AppendInt(append(b, `"usage":{"prompt_tokens":`...), int64(r.prompt), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(r.prompt+tokens), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(tokens), 10)
	if r.cached > 0 {
		b = strconv.AppendInt(append(b, `,"prompt_tokens_details":{"cached_tokens":`...), int64(min(r.cached, r.prompt)), 10)
		b = append(b, '}')
	}
	if hidden := r.hidden(tokens); hidden > 0 {
		b = strconv.AppendInt(append(b, `,"completion_tokens_details":{"reasoning_tokens":`...), int64(hidden), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// tail appends all that follows the tokens.
func (r *renderer) tail(b []byte, tokens int, c Config) []byte {
	if !r.script.has(NoFinish) {
		b = r.finish(b, tokens, c)
	}
	if r.ownUsage() {
		b = append(append(r.data(b), r.head...), `,"choices":[]`...)
		b = r.close(b, true, tokens)
	}
	if !r.script.has(NoDone) {
		b = r.event(b, "[DONE]")
	}
	return b
}

// whole returns the answer of a request without a stream.
func (r *renderer) whole(tokens int, c Config) []byte {
	b := append([]byte(r.head), `,"choices":[{"index":0,`...)
	if r.request.Chat {
		b = r.message(b, tokens)
	} else {
		b = append(r.text(append(b, `"text":"`...), 0, tokens), `","logprobs":null`...)
	}
	if r.script.has(NoFinish) {
		b = append(b, `,"finish_reason":null}]`...)
	} else {
		b = fmt.Appendf(b, `,"finish_reason":%q}]`, r.reason())
	}
	b = r.timings(b, tokens, c)
	if !r.script.has(NoUsage) {
		b = r.usage(append(b, ','), tokens)
	}
	return append(b, '}')
}

func (r *renderer) message(b []byte, tokens int) []byte {
	b = append(b, `"message":{"role":"assistant",`...)
	if r.script.has(ToolCalls) {
		b = append(b, `"content":null,"tool_calls":[{"id":"call-0","type":"function","function":{"name":"mock","arguments":"`...)
		return append(r.text(b, 0, tokens), `"}}]}`...)
	}
	think := r.thinking(tokens)
	if think > 0 {
		b = append(append(append(b, '"'), r.reasoning()...), `":"`...)
		b = append(r.text(b, 0, think), `",`...)
	}
	return append(r.text(append(b, `"content":"`...), think, tokens), `"}`...)
}

// errorObject is an error as OpenAI words it. The message is quoted as JSON.
func errorObject(kind, message string, code int) string {
	object := struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    int     `json:"code"`
		} `json:"error"`
	}{}
	object.Error.Message, object.Error.Type, object.Error.Code = message, kind, code
	data, _ := json.Marshal(object) // strings and numbers have no error
	return string(data)
}
