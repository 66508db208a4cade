package openai

import "math"

// chunk is what one data line says, or a whole answer that is no stream.
type chunk struct {
	choice  bool   // there is one, whatever is in it
	token   bool   // content, text, reasoning or tool calls
	text    bool   // any of them but tool calls
	content bool   // content or text
	finish  []byte // as written; nil without one
	failure []byte // an error, as written; nil without one

	usage                  bool
	prompt, output, cached int // -1 where not said
	timings                timings
}

// timings are llama.cpp's own.
type timings struct {
	said               bool
	promptN, cacheN    int // -1 where not said
	promptMS, decodeMS float64
}

var noChunk = chunk{prompt: -1, output: -1, cached: -1,
	timings: timings{promptN: -1, cacheN: -1, promptMS: math.NaN(), decodeMS: math.NaN()}}

// parseChunk reads one JSON value; ok is false if it is none. The slices in
// the result are parts of text.
func parseChunk(text []byte) (k chunk, ok bool) {
	k = noChunk
	c := cursor{b: text}
	if c.enter('{') {
		for n := 0; c.more('}', n); n++ {
			k.field(&c, text)
		}
	}
	return k, c.peek() == 0 && c.i == len(c.b) && !c.bad
}

func (k *chunk) field(c *cursor, text []byte) {
	switch string(c.key()) {
	case "choices":
		if c.enter('[') {
			for n := 0; c.more(']', n); n++ {
				k.choice = true
				k.readChoice(c)
			}
		}
	case "usage":
		k.readUsage(c)
	case "timings":
		k.timings.read(c)
	case "error":
		if raw := c.skip(); string(raw) != "null" && len(raw) > 0 {
			k.failure = raw
		}
	case "object": // vLLM puts the error at the top
		if string(c.skip()) == `"error"` && k.failure == nil {
			k.failure = text
		}
	default:
		c.skip()
	}
}

func (k *chunk) readChoice(c *cursor) {
	if !c.enter('{') {
		return
	}
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "delta":
			k.readDelta(c)
		case "text":
			k.say(c.filled())
		case "finish_reason":
			if raw := c.skip(); len(raw) > 2 && raw[0] == '"' {
				k.finish = raw[1 : len(raw)-1]
			}
		default:
			c.skip()
		}
	}
}

func (k *chunk) readDelta(c *cursor) {
	if !c.enter('{') {
		return
	}
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "content":
			k.say(c.filled())
		case "reasoning", "reasoning_content":
			filled := c.filled()
			k.token, k.text = k.token || filled, k.text || filled
		case "tool_calls":
			k.token = c.filled() || k.token
		default:
			c.skip()
		}
	}
}

func (k *chunk) say(filled bool) {
	k.token, k.text, k.content = k.token || filled, k.text || filled, k.content || filled
}

func (k *chunk) readUsage(c *cursor) {
	if !c.enter('{') {
		return
	}
	k.usage = true
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "prompt_tokens":
			c.count(&k.prompt)
		case "completion_tokens":
			c.count(&k.output)
		case "prompt_tokens_details":
			k.readDetails(c)
		default:
			c.skip()
		}
	}
}

func (k *chunk) readDetails(c *cursor) {
	if !c.enter('{') {
		return
	}
	for n := 0; c.more('}', n); n++ {
		if string(c.key()) == "cached_tokens" {
			c.count(&k.cached)
		} else {
			c.skip()
		}
	}
}

func (t *timings) read(c *cursor) {
	if !c.enter('{') {
		return
	}
	t.said = true
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "prompt_n":
			c.count(&t.promptN)
		case "cache_n":
			c.count(&t.cacheN)
		case "prompt_ms":
			milliseconds(c, &t.promptMS)
		case "predicted_ms":
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
