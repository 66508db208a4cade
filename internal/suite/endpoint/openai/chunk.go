package openai

import (
	"bytes"
	"math"
)

// chunk is what one data line says, or a whole answer that is no stream.
type chunk struct {
	choice  bool   // there is one, whatever is in it
	token   bool   // content, text, a refusal, reasoning, tool or function calls
	text    bool   // any of them but calls and reasoning that is no plain text
	content bool   // content, text or a refusal
	thought bool   // reasoning
	size    int    // bytes of all of them
	raw     []byte // content or text as written; nil without one
	finish  []byte // as written; nil without one
	failure []byte // an error, as written; nil without one
	twice   string // a key that counts and occurs twice in one object; "" without one

	usage                  bool
	prompt, output, cached int // -1 where not said
	reasoning              int // tokens of output that are reasoning, -1 where not said
	timings                timings
}

// timings are llama.cpp's own.
type timings struct {
	said               bool
	promptN, cacheN    int // -1 where not said
	promptMS, decodeMS float64
}

var noChunk = chunk{prompt: -1, output: -1, cached: -1, reasoning: -1,
	timings: timings{promptN: -1, cacheN: -1, promptMS: math.NaN(), decodeMS: math.NaN()}}

// parseChunk reads one JSON value; ok is false if it is none. The slices in
// the result are parts of text.
func parseChunk(text []byte) (k chunk, ok bool) {
	k = noChunk
	c := cursor{b: text}
	var seen names
	if c.enter('{') {
		for n := 0; c.more('}', n); n++ {
			k.field(&c, text, &seen)
		}
	}
	return k, c.peek() == 0 && c.i == len(c.b) && !c.bad
}

// names are the keys of one object that were read so far. Readers disagree on which
// of two values of one key counts.
type names uint32

const (
	nameChoices names = 1 << iota
	nameUsage
	nameTimings
	nameError
	nameObject
	nameDelta
	nameText
	nameFinish
	nameContent
	nameTools
	nameCall
	nameRefusal
	namePrompt
	nameOutput
	nameDetails
	nameCached
	nameOutputDetails
	nameReasoned
	namePromptN
	nameCacheN
	namePromptMS
	nameDecodeMS
)

// once notes a key, and that it occurs twice.
func (k *chunk) once(seen *names, name names, key string) {
	if *seen&name != 0 {
		k.twice = key
	}
	*seen |= name
}

func (k *chunk) field(c *cursor, text []byte, seen *names) {
	switch string(c.key()) {
	case "choices":
		k.once(seen, nameChoices, "choices")
		if c.enter('[') {
			for n := 0; c.more(']', n); n++ {
				k.choice = true
				k.readChoice(c)
			}
		}
	case "usage":
		k.once(seen, nameUsage, "usage")
		k.readUsage(c)
	case "timings":
		k.once(seen, nameTimings, "timings")
		k.readTimings(c)
	case "error":
		k.once(seen, nameError, "error")
		if raw := c.skip(); string(raw) != "null" && len(raw) > 0 {
			k.failure = raw
		}
	case "object": // vLLM puts the error at the top
		k.once(seen, nameObject, "object")
		if string(c.skip()) == `"error"` && k.failure == nil {
			k.failure = text
		}
	default:
		c.skip()
	}
}

func (k *chunk) readChoice(c *cursor) {
	var seen names
	if !c.enter('{') {
		return
	}
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "delta":
			k.once(&seen, nameDelta, "delta")
			k.readDelta(c)
		case "text":
			k.once(&seen, nameText, "text")
			k.raw = k.say(c)
		case "finish_reason":
			k.once(&seen, nameFinish, "finish_reason")
			if raw := c.skip(); len(raw) > 2 && raw[0] == '"' {
				k.finish = raw[1 : len(raw)-1]
			}
		default:
			c.skip()
		}
	}
}

func (k *chunk) readDelta(c *cursor) {
	var seen names
	if !c.enter('{') {
		return
	}
	for n := 0; c.more('}', n); n++ {
		switch key := c.key(); string(key) {
		case "content":
			k.once(&seen, nameContent, "content")
			k.raw = k.say(c)
		case "refusal":
			k.once(&seen, nameRefusal, "refusal")
			k.say(c)
		case "tool_calls":
			k.once(&seen, nameTools, "tool_calls")
			k.call(c)
		case "function_call": // what tool_calls replaced
			k.once(&seen, nameCall, "function_call")
			k.call(c)
		default:
			if reasons(key) {
				k.think(c)
			} else {
				c.skip()
			}
		}
	}
}

// reasons reports whether a member of a delta is reasoning: reasoning,
// reasoning_content, reasoning_details, reasoning_text or thinking. A delta
// may hold several of one meaning.
func reasons(key []byte) bool {
	return string(key) == "thinking" || bytes.HasPrefix(key, []byte("reasoning"))
}

func (k *chunk) say(c *cursor) []byte {
	raw := c.skip()
	if filled(raw) {
		k.token, k.text, k.content = true, true, true
		k.size += textSize(raw)
	}
	return raw
}

// think reads reasoning. A list or an object may be a signature without a
// token, so it is no proof of one. Of several members the longest counts.
func (k *chunk) think(c *cursor) {
	raw := c.skip()
	if filled(raw) {
		k.token, k.thought = true, true
		k.text = k.text || raw[0] == '"'
		k.size = max(k.size, textSize(raw))
	}
}

// call reads calls of tools, or one of a function.
func (k *chunk) call(c *cursor) {
	raw := c.skip()
	if filled(raw) {
		k.token = true
		k.size += callSize(raw)
	}
}

func (k *chunk) readUsage(c *cursor) {
	var seen names
	if !c.enter('{') {
		return
	}
	k.usage = true
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "prompt_tokens":
			k.once(&seen, namePrompt, "prompt_tokens")
			c.count(&k.prompt)
		case "completion_tokens":
			k.once(&seen, nameOutput, "completion_tokens")
			c.count(&k.output)
		case "prompt_tokens_details":
			k.once(&seen, nameDetails, "prompt_tokens_details")
			k.readDetails(c, "cached_tokens", nameCached, &k.cached)
		case "completion_tokens_details":
			k.once(&seen, nameOutputDetails, "completion_tokens_details")
			k.readDetails(c, "reasoning_tokens", nameReasoned, &k.reasoning)
		default:
			c.skip()
		}
	}
}

// readDetails reads one count out of the details of another.
func (k *chunk) readDetails(c *cursor, key string, name names, to *int) {
	var seen names
	if !c.enter('{') {
		return
	}
	for n := 0; c.more('}', n); n++ {
		if string(c.key()) == key {
			k.once(&seen, name, key)
			c.count(to)
		} else {
			c.skip()
		}
	}
}

func (k *chunk) readTimings(c *cursor) {
	var seen names
	t := &k.timings
	if !c.enter('{') {
		return
	}
	t.said = true
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "prompt_n":
			k.once(&seen, namePromptN, "prompt_n")
			c.count(&t.promptN)
		case "cache_n":
			k.once(&seen, nameCacheN, "cache_n")
			c.count(&t.cacheN)
		case "prompt_ms":
			k.once(&seen, namePromptMS, "prompt_ms")
			milliseconds(c, &t.promptMS)
		case "predicted_ms":
			k.once(&seen, nameDecodeMS, "predicted_ms")
			milliseconds(c, &t.decodeMS)
		default:
			c.skip()
		}
	}
}

func milliseconds(c *cursor, to *float64) {
	if f, ok := c.float(); ok && f >= 0 {
		*to = f
	}
}
