package dataset

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"time"
)

// Conversation makes each prompt the first question of a conversation. The zero
// value makes none.
type Conversation struct {
	// Turns is how many questions a conversation has. Of sharegpt it may be
	// absent: all that were recorded; else at most these.
	Turns Lengths `yaml:"turns" json:"turns,omitzero"`
	// Input is the length of each question but the first, in words. Of sharegpt
	// they are recorded.
	Input Lengths `yaml:"input" json:"input,omitzero"`
	// Think is the time between an answer and the next question, in milliseconds.
	Think Lengths `yaml:"think_ms" json:"think_ms,omitzero"`
}

// The limits of conversations.
const (
	maxTurns = 1000
	maxThink = int(time.Hour / time.Millisecond)
)

// turn is a recorded question but the first.
type turn struct {
	text   string
	output int
}

// Turn is one question of a conversation.
type Turn struct {
	Text         string
	Words        int
	OutputTokens int           // 0 leaves that to the request's default
	Think        time.Duration // before it; 0 of a first question
}

func (c Conversation) isZero() bool { return c == Conversation{} }

// converses reports whether the dataset has conversations.
func (d *Dataset) converses() bool { return !d.talk.isZero() }

func (s Spec) checkConversation() error {
	c := s.Conversation
	recorded := s.Kind == ShareGPT
	switch {
	case c.isZero():
		return nil
	case s.Kind == JSONL || s.Kind == Trace:
		return fmt.Errorf("conversation: does not apply to kind %s: remove it or change the kind", s.Kind)
	case recorded && !c.Input.isZero():
		return fmt.Errorf("conversation.input: the questions of sharegpt are recorded: remove it")
	case !recorded && c.Turns.isZero():
		return fmt.Errorf("conversation.turns: is missing: say how many questions a conversation has, such as {dist: fixed, value: 4}")
	case !recorded && c.Input.isZero():
		return fmt.Errorf("conversation.input: is missing: say how many words each further question has, such as {dist: fixed, value: 40}")
	}
	for _, l := range []struct {
		name  string
		of    Lengths
		limit int
	}{{"turns", c.Turns, maxTurns}, {"input", c.Input, MaxWords}, {"think_ms", c.Think, maxThink}} {
		if l.of.isZero() {
			continue
		}
		if err := l.of.check("conversation."+l.name, l.limit); err != nil {
			return err
		}
	}
	return nil
}

// Turn returns question t, from 0, of conversation k, and whether there is one.
// Conversations take the dataset from its beginning, and again from there when
// it is used up. The policy is that of Prompt and concerns first questions: all
// others follow a text that is the conversation's own.
func (s *Sequence) Turn(k, t int) (q Turn, ok bool) {
	d := s.d
	it := &d.items[k%len(d.items)]
	if t >= d.turns(it, k) {
		return Turn{}, false
	}
	if t == 0 {
		p := s.Prompt(k, false)
		return Turn{Text: p.Text, Words: p.InputLength, OutputTokens: p.OutputTokens}, true
	}
	index := uint64(k)<<10 | uint64(t) // below maxTurns, so that no two are equal
	q.Think = time.Duration(d.talk.Think.draw(newSource(d.seed, thinkTimes, index), maxThink)) * time.Millisecond
	if d.kind == ShareGPT {
		q.Text, q.OutputTokens = it.later[t-1].text, it.later[t-1].output
		q.Words = countWords(q.Text)
		return q, true
	}
	q.Words = d.talk.Input.draw(newSource(d.seed, turnLengths, index), MaxWords)
	q.OutputTokens = d.output.draw(newSource(d.seed, turnOutputs, index), MaxOutput)
	q.Text = string(appendWords(nil, d.seed, part{topic: turnText, index: index, words: q.Words}))
	return q, true
}

// turns is how many questions conversation k has.
func (d *Dataset) turns(it *item, k int) int {
	n := math.MaxInt
	if !d.talk.Turns.isZero() {
		n = d.talk.Turns.draw(newSource(d.seed, turnCounts, uint64(k)), maxTurns)
	}
	if d.kind == ShareGPT {
		n = min(n, 1+len(it.later), maxTurns)
	}
	return n
}

// sealConversations adds to the hash what decides all further questions.
func (d *Dataset) sealConversations(whole hash.Hash) {
	if !d.converses() {
		return
	}
	rule, _ := json.Marshal([]any{d.talk, d.output}) // numbers and words have no error
	fmt.Fprintf(whole, "conversations %d %s", d.seed, rule)
	for i := range d.items {
		for _, t := range d.items[i].later {
			var sizes [16]byte
			binary.BigEndian.PutUint64(sizes[:8], uint64(len(t.text)))
			binary.BigEndian.PutUint64(sizes[8:], uint64(t.output))
			whole.Write(sizes[:])
			io.WriteString(whole, t.text)
		}
	}
}
