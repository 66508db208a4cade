package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Bounds of an answer, in bytes. A token's line is a few hundred; one with log
// probabilities some thousands.
const (
	maxLine      = 8 << 20
	maxBody      = 64 << 20 // and what an answer of unknown length may take
	bodyBase     = 1 << 20
	bodyPerToken = 16 << 10
)

// Bounds of the reads and of the chunks of an answer, which take memory of
// their own. Comments keep a connection alive that waits.
const (
	maxPieces      = 1 << 20
	piecesBase     = 4 << 10
	piecesPerToken = 64
)

var errTooLong = errors.New("the answer is too long")

// errDone means that [DONE] came before the end of the body.
var errDone = errors.New("[DONE]")

// bound is base and so much for each token that was asked for; most where that
// is more, or not known.
func bound(base, perToken, maximum, tokens int) int {
	if tokens <= 0 || tokens > (maximum-base)/perToken {
		return maximum
	}
	return base + perToken*tokens
}

// recording is a body as it came, with the time of each read. While a stream
// runs nothing else is kept of it: lines are looked at after its end.
type recording struct {
	maxTokens int // that were asked for; 0 is not known
	body      []byte
	reads     []arrival
	lineEnd   int // after the last line that is complete

	scanned int   // up to where a token was looked for
	token   bool  // one was seen
	done    bool  // [DONE] came
	doneAt  int   // where its line begins
	event   event // whose first token is looked for

	tokens []time.Duration
	index  []int32
}

// arrival is one read: up to where it filled the body, and when.
type arrival struct {
	end int
	at  time.Duration
}

var recordings = sync.Pool{New: func() any { return new(recording) }}

// keep bounds what a recording holds on to between two streams.
const keep = 1 << 20

func (r *recording) release() {
	if cap(r.body) > keep || cap(r.reads) > keep/8 || cap(r.tokens) > keep/8 {
		return
	}
	*r = recording{body: r.body[:0], reads: r.reads[:0], tokens: r.tokens[:0], index: r.index[:0]}
	recordings.Put(r)
}

// read copies a body until it ends. progress is called after each read that
// completed a line. The error is nil at the end of the body, and errDone where
// [DONE] came before it: what follows counts for nothing.
func (r *recording) read(body io.Reader, now func() time.Duration, progress func()) error {
	size, pieces := bound(bodyBase, bodyPerToken, maxBody, r.maxTokens), r.maxPieces()
	for {
		if cap(r.body)-len(r.body) < 4<<10 {
			r.body = slices.Grow(r.body, max(len(r.body), 16<<10))
		}
		n, err := body.Read(r.body[len(r.body):cap(r.body)])
		if n > 0 {
			r.reads = append(r.reads, arrival{len(r.body) + n, now()})
			if r.add(n) {
				progress()
			}
		}
		switch {
		case err == nil && r.done && r.lineEnd > r.doneAt:
			r.body = r.body[:r.doneEnd()]
			return errDone
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(r.body)-r.lineEnd > maxLine:
			return fmt.Errorf("%w: a line of more than %d bytes", errTooLong, maxLine)
		case len(r.body) > size:
			return fmt.Errorf("%w: more than %d bytes", errTooLong, size)
		case len(r.reads) > pieces:
			return fmt.Errorf("%w: more than %d pieces", errTooLong, pieces)
		}
	}
}

func (r *recording) maxPieces() int { return bound(piecesBase, piecesPerToken, maxPieces, r.maxTokens) }

// add takes in n bytes and reports whether they complete a line, or the
// stream. It parses only until the first token was seen, whose time limit
// rests on it.
func (r *recording) add(n int) bool {
	old := len(r.body)
	r.body = r.body[:old+n]
	if !r.done {
		r.done = r.ends(old)
	}
	end := max(bytes.LastIndexByte(r.body[old:], '\n'), bytes.LastIndexByte(r.body[old:], '\r'))
	if end < 0 {
		return r.done
	}
	r.lineEnd = old + end + 1
	for !r.token && r.scanned < r.lineEnd {
		line, next := r.line(r.scanned)
		r.scanned = next
		switch kind, payload := field(line); {
		case kind == "data":
			k, _ := r.event.add(payload)
			r.token = k.token
		case len(line) == 0:
			k, _, _ := r.event.end()
			r.token = k.token
		}
	}
	return true
}

// doneEnd is where the line of [DONE] ends.
func (r *recording) doneEnd() int {
	_, next := r.line(r.doneAt)
	return next
}

var lastWord = []byte("[DONE]")

// ends reports whether [DONE] is in what came from old on. Texts may hold the
// word as well, so it must be a line's only value, which nothing need end.
func (r *recording) ends(old int) bool {
	from := max(0, old-len(lastWord)+1)
	for {
		at := bytes.Index(r.body[from:], lastWord)
		if at < 0 {
			return false
		}
		before := bytes.TrimRight(r.body[:from+at], " \t")
		from += at + len(lastWord)
		start := len(before) - len("data:")
		if !bytes.HasSuffix(before, []byte("data:")) || start > 0 && before[start-1] != '\n' && before[start-1] != '\r' {
			continue
		}
		line, _ := r.line(start)
		if _, value := field(line); bytes.Equal(value, lastWord) {
			r.doneAt = start
			return true
		}
	}
}

// line returns the line that starts at from, without its end, and where the
// next one starts. A line ends with \n, \r\n or \r.
func (r *recording) line(from int) (line []byte, next int) {
	const window = 1 << 10 // so that a body without one of the two is searched once
	for at := from; at < len(r.body); at += window {
		part := r.body[at:min(at+window, len(r.body))]
		lf := bytes.IndexByte(part, '\n')
		if lf >= 0 {
			part = part[:lf]
		}
		if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
			end := at + cr
			next = end + 1
			if next < len(r.body) && r.body[next] == '\n' {
				next++
			}
			return r.body[from:end], next
		}
		if lf >= 0 {
			return r.body[from : at+lf], at + lf + 1
		}
	}
	return r.body[from:], len(r.body)
}

// field splits a line of an event stream. Comments and other lines have
// kind "". llama.cpp once wrote errors as a field of that name.
func field(line []byte) (kind string, value []byte) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return "", line
	}
	switch string(line[:colon]) {
	case "data":
		kind = "data"
	case "event":
		kind = "event"
	case "error":
		kind = "error"
	default:
		return "", line
	}
	return kind, bytes.Trim(line[colon+1:], " \t")
}
