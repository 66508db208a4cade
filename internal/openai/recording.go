package openai

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

// Bounds of an answer. A token's line is a few hundred bytes; one with log
// probabilities some kilobytes.
const (
	maxLine = 8 << 20
	maxBody = 64 << 20
)

var (
	errLongLine = errors.New("a line of more than 8 MiB")
	errLongBody = errors.New("an answer of more than 64 MiB")
)

// recording is a body as it came, with the time of each read. While a stream
// runs nothing else is kept of it: lines are looked at after its end.
type recording struct {
	body    []byte
	reads   []arrival
	lineEnd int // after the last line that is complete

	scanned int  // up to where a token was looked for
	token   bool // one was seen
	done    bool // a read ended with [DONE]

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
// completed a line. The error is nil at the end of the body.
func (r *recording) read(body io.Reader, now func() time.Duration, progress func()) error {
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
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(r.body)-r.lineEnd > maxLine:
			return errLongLine
		case len(r.body) > maxBody:
			return errLongBody
		}
	}
}

// add takes in n bytes and reports whether they complete a line. It parses
// only until the first token was seen, whose time limit rests on it.
func (r *recording) add(n int) bool {
	old := len(r.body)
	r.body = r.body[:old+n]
	end := bytes.LastIndexByte(r.body[old:], '\n')
	if end < 0 {
		return false
	}
	r.lineEnd = old + end + 1
	for !r.token && r.scanned < r.lineEnd {
		line, next := r.line(r.scanned)
		r.scanned = next
		if kind, payload := field(line); kind == "data" {
			k, _ := parseChunk(payload)
			r.token = k.token
		}
	}
	tail := bytes.TrimRight(r.body[max(0, r.lineEnd-32):r.lineEnd], " \r\n")
	r.done = r.done || bytes.HasSuffix(tail, []byte("data: [DONE]")) || bytes.HasSuffix(tail, []byte("data:[DONE]"))
	return true
}

// line returns the line that starts at from, without its end, and where the
// next one starts.
func (r *recording) line(from int) (line []byte, next int) {
	line, next = r.body[from:], len(r.body)
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line, next = line[:end], from+end+1
	}
	return bytes.TrimSuffix(line, []byte("\r")), next
}

// field splits a line of an event stream. Comments and what is no field have
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
