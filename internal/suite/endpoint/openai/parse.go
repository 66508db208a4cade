package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// finding is what is wrong with a body, as the server wrote it; nil where
// nothing is.
type finding struct {
	failure []byte // an error object
	bad     []byte // a line that is no JSON
	whole   []byte // a body that is no stream
	twice   string // a key that occurs twice in one object

	long      bool // more chunks than can be
	uncounted bool // the server's count of output tokens cannot be
}

// parse reads what was recorded into the reply, which holds no counts yet.
// complete means that the body came to its end: only then its last line counts
// if nothing ends it. The finding holds parts of the recording.
func (r *recording) parse(reply *Reply, expect Expect, complete bool) finding {
	p := parser{recording: r, reply: reply, expect: expect, chunk: noChunk}
	streamed := p.lines()
	p.finish()
	if text := bytes.TrimSpace(r.body); !streamed && complete && len(text) > 0 {
		p.single(text)
	}
	return p.finding
}

type parser struct {
	*recording
	reply   *Reply
	expect  Expect
	finding finding
	chunk   chunk // what was said last of each thing
	failing bool  // the event is named error
	event   event // whose lines are not whole yet
	read    int   // the read that brought the line
	texts   int   // chunks that are a token at least each
	size    int   // bytes of the answer's texts
	// thoughts means that reasoning came.
	thoughts bool
	answer   strings.Builder // if expect.Text
}

// lines reads line after line up to [DONE] and reports whether any of them
// belongs to an event stream.
func (p *parser) lines() (streamed bool) {
	from := 0
	if bytes.HasPrefix(p.body, []byte("\ufeff")) { // which a stream may begin with
		from = len("\ufeff")
	}
	for from < len(p.body) {
		line, next := p.line(from)
		from = next
		for p.reads[p.read].end < next {
			p.read++
		}
		kind, value := field(line)
		streamed = streamed || kind != "" || len(line) > 0 && line[0] == ':'
		switch {
		case len(line) == 0:
			p.dispatch()
			p.failing = false
		case kind == "event":
			p.failing = string(value) == "error"
		case kind == "error" || kind == "data" && p.failing:
			p.fail(value)
		case kind == "data" && string(value) == "[DONE]":
			p.dispatch()
			p.reply.Done = p.now()
			return true
		case kind == "data" && len(value) > 0:
			p.data(value, next > p.lineEnd)
		case kind == "" && line[0] == '{': // some proxies write errors between the events
			if k, ok := parseChunk(line); ok && k.failure != nil && streamed {
				p.fail(k.failure)
			}
		}
	}
	if p.event.lines < 2 { // else the stream was cut within an event
		p.dispatch()
	}
	return streamed
}

// dispatch reads what is left of an event at its end.
func (p *parser) dispatch() {
	if k, whole, bad := p.event.end(); whole {
		p.chunkOf(k)
	} else if bad != nil && p.finding.bad == nil {
		p.finding.bad = bad
	}
}

func (p *parser) now() time.Duration { return p.reads[p.read].at }

func (p *parser) fail(text []byte) {
	if p.finding.failure == nil {
		p.finding.failure = text
	}
}

// data reads one payload. One that nothing ends was cut off where it is no
// JSON: that the stream has no end then says so.
func (p *parser) data(value []byte, unended bool) {
	if unended && p.event.lines == 0 {
		if k, ok := parseChunk(value); ok {
			p.chunkOf(k)
		}
		return
	}
	k, whole := p.event.add(value)
	if !whole {
		return
	}
	p.dispatch() // what came before and is no JSON
	p.chunkOf(k)
}

// chunkOf takes in one chunk.
func (p *parser) chunkOf(k chunk) {
	if k.failure != nil {
		p.fail(k.failure)
	}
	if k.twice != "" {
		p.finding.twice = k.twice
	}
	p.take(k)
	if !k.choice {
		return
	}
	reply, now := p.reply, p.now()
	reply.Chunks++
	first(&reply.FirstChunk, now)
	if k.finish != nil {
		reply.Finish = now
	}
	if k.content {
		first(&reply.FirstContent, now)
	}
	if p.expect.Text && k.raw != nil {
		var text string
		if json.Unmarshal(k.raw, &text) == nil { // null and lists of parts are none
			p.answer.WriteString(text)
		}
	}
	if k.text {
		p.texts++
	}
	p.size, p.thoughts = p.size+k.size, p.thoughts || k.thought
	if k.token && len(p.tokens) >= p.maxPieces() {
		p.finding.long = true
	} else if k.token {
		first(&reply.First, now)
		reply.Last = now
		p.tokens, p.index = append(p.tokens, now), append(p.index, int32(p.read))
	}
}

func first(t *time.Duration, now time.Duration) {
	if *t == 0 {
		*t = now
	}
}

// take keeps what a payload says of the whole answer.
func (p *parser) take(k chunk) {
	said := &p.chunk
	if k.usage {
		p.reply.Usage = p.now()
		if k.prompt > 0 { // a prompt has a token at least: 0 is not known
			said.prompt = k.prompt
		}
		last(&said.output, k.output)
		last(&said.cached, k.cached)
		last(&said.reasoning, k.reasoning)
	}
	if k.finish != nil {
		said.finish = k.finish
	}
	if k.timings.said {
		said.timings = k.timings
	}
}

func last(n *int, said int) {
	if said >= 0 {
		*n = said
	}
}

// finish copies times and counts out of the recording, which is used again.
func (p *parser) finish() {
	reply, said := p.reply, &p.chunk
	if len(p.tokens) > 0 {
		reply.Tokens, reply.Reads = append([]time.Duration(nil), p.tokens...), append([]int32(nil), p.index...)
	}
	reply.FinishReason, reply.Text = string(said.finish), p.answer.String()
	reply.Note, reply.PromptTokens = "", said.prompt
	reply.OutputTokens, reply.Source = p.output()
	reply.CachedTokens = p.cached()
	reply.StreamedTokens = p.streamed(reply.OutputTokens)
	reply.ServerPromptMS, reply.ServerDecodeMS = said.timings.promptMS, said.timings.decodeMS
}

// single reads a body that is no stream: an error, or an answer as a whole,
// whose counts are kept and which has no times.
func (p *parser) single(text []byte) {
	k, ok := parseChunk(text)
	if ok && k.failure != nil {
		p.fail(k.failure)
		return
	}
	p.finding.whole = text
	if ok {
		p.read = len(p.reads) - 1
		p.take(k)
		p.finish()
	}
}
