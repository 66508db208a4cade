package worker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// keepLine is the size of a line buffer that is worth keeping for the next.
const keepLine = 64 << 10

// answer is what a server said to a request: a result or, if that is nil, a
// message.
type answer struct {
	result  json.RawMessage
	message string
	// contradicts means that the message is about a key that occurs twice.
	contradicts bool
}

func (a answer) outcome() outcome {
	if a.result == nil {
		return outcome{answer: a, answered: true, end: Refused}
	}
	return outcome{answer: a, answered: true, end: Exited}
}

// dialogue finds the awaited answers in a child's output and keeps the end of
// the rest. It may be looked at while the child runs.
type dialogue struct {
	streams
	answers chan answer   // to the awaited request, at most one
	ended   chan struct{} // closed with the standard output
	log     lastLines
	stacks  stacks

	mu      sync.Mutex
	awaited uint64          // id of the request whose answer is wanted, or 0
	known   map[uint64]bool // ids of all requests
	early   bool            // an answer to no request came, which fails the next one
	stderr  tail
	line    answerLine
}

func newDialogue(maxReply, maxStderr int) *dialogue {
	d := &dialogue{known: map[uint64]bool{}, answers: make(chan answer, 1), ended: make(chan struct{}), stderr: tail{max: maxStderr}}
	d.line = answerLine{d: d, max: maxReply, splitter: splitter{log: &d.log}}
	return d
}

func (d *dialogue) start(stdout, stderr io.Reader) {
	d.read(stdout, stderr, &d.line, &logged{d.keepStderr, splitter{log: &d.log}})
}

func (d *dialogue) keepStderr(p []byte) {
	d.stacks.write(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stderr.write(p)
}

// expect makes the answer to the request id the only one that counts.
func (d *dialogue) expect(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.awaited, d.known[id] = id, true
	select {
	case <-d.answers: // to an earlier request that is no longer of interest
	default:
	}
	if d.early {
		d.awaited, d.early = 0, false
		d.answers <- answer{message: unasked}
	}
}

// asked makes the answer to the request id one that may come and is not awaited.
func (d *dialogue) asked(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[id] = true
}

// unasked is the failure of a process whose answers cannot be trusted.
const unasked = "the process answered a request that it was not sent: answer each request after reading it, with its id"

// guess notes an answer to a request that was not sent, which fails the awaited
// request, or else the next one. It reports whether id is of such an answer.
func (d *dialogue) guess(id uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[id] {
		return false
	}
	if d.awaited == 0 {
		d.early = true
		return true
	}
	d.awaited = 0
	d.answers <- answer{message: unasked}
	return true
}

// reset forgets what earlier requests printed.
func (d *dialogue) reset() {
	d.log.reset()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stderr.buf = d.stderr.buf[:0]
}

// note adds lines of our own to the log.
func (d *dialogue) note(text string) {
	for line := range strings.Lines(text) {
		d.log.add([]byte(strings.TrimSuffix(line, "\n")))
	}
}

// report puts what was kept into resp.
func (d *dialogue) report(resp *Response) {
	d.mu.Lock()
	defer d.mu.Unlock()
	resp.Stderr = bytes.Clone(d.stderr.bytes())
	resp.Log = cmp.Or(d.stacks.String(), d.log.String())
}

// take reports whether line is the awaited answer, and passes it on if so.
func (d *dialogue) take(line []byte) bool {
	var reply struct {
		ID            *uint64
		Result, Error json.RawMessage
	}
	if json.Unmarshal(line, &reply) != nil || reply.ID == nil {
		return false
	}
	if d.guess(*reply.ID) {
		return false // the line is log
	}
	a := answer{result: reply.Result}
	twice := repeats(line)
	switch {
	case twice != nil:
		a = answer{message: twice.Error(), contradicts: true}
	case len(reply.Error) > 0 && string(reply.Error) != "null":
		a = answer{message: plainText(reply.Error)}
	case reply.Result == nil:
		a.message = "the answer has neither a result nor an error: write {\"id\":...,\"result\":...}"
	}
	return d.pass(a, func(awaited uint64) bool { return awaited == *reply.ID })
}

// repeats refuses an answer in which a key occurs twice: encoding/json takes the
// last, and ignores the letter case of the envelope's keys.
func repeats(line []byte) error {
	if err := jsonkey.Check(line); err != nil {
		return err
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(line, &envelope); err != nil {
		return err
	}
	for key := range envelope {
		envelope[key] = json.RawMessage("0")
	}
	keys, err := json.Marshal(envelope)
	if err != nil {
		return err
	}
	return jsonkey.CheckFold(keys)
}

// pass hands the answer over if one is awaited and wanted says yes.
func (d *dialogue) pass(a answer, wanted func(awaited uint64) bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.awaited == 0 || !wanted(d.awaited) {
		return false
	}
	d.awaited = 0
	d.answers <- a // has room: expect took what was in it
	return true
}

// plainText returns a JSON string's value, and any other value as it is written.
func plainText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}

// answerLine is the standard output of a server: lines that begin with "{" may
// be answers, all others are log.
type answerLine struct {
	d        *dialogue
	max      int
	line     []byte // what came of a possible answer, at most max bytes
	over     bool   // more came
	plain    bool   // the current line is log
	splitter splitter
}

func (l *answerLine) write(p []byte) {
	l.d.stacks.write(p)
	eachLine(p, l.extend, l.end)
}

func (l *answerLine) extend(p []byte) {
	if len(p) == 0 {
		return
	}
	if l.plain = l.plain || len(l.line) == 0 && p[0] != '{'; l.plain {
		l.splitter.write(p)
		return
	}
	if room := l.max - len(l.line); len(p) > room {
		p, l.over = p[:room], true
	}
	l.line = append(l.line, p...)
}

func (l *answerLine) end() {
	if l.plain || len(l.line) == 0 || !l.taken() {
		l.splitter.write(append(l.line, '\n')) // the line is empty where it is plain
	}
	l.plain, l.over = false, false
	if l.line = l.line[:0]; cap(l.line) > keepLine {
		l.line = nil
	}
}

// taken reports whether the line counts as an answer. One that is too long
// cannot be read, so it is taken for the awaited one.
func (l *answerLine) taken() bool {
	if !l.over {
		return l.d.take(l.line)
	}
	long := fmt.Sprintf("the answer is longer than %d bytes: return less, or raise the limit", l.max)
	return l.d.pass(answer{message: long}, func(uint64) bool { return true })
}

func (l *answerLine) flush() {
	if len(l.line) > 0 {
		l.end()
	}
	l.splitter.flush()
	close(l.d.ended)
}
