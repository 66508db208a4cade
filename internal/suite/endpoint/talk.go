package endpoint

import (
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// talk is the conversation of one slot. Only its slot uses it.
type talk struct {
	number   int // of the conversation
	turn     int // that is asked next, from 0
	question dataset.Turn
	messages []openai.Message // so far
	words    int              // of all questions so far
}

// converses reports whether the suite sends conversations.
func (b *body) converses() bool { return b.Dataset.Conversation != dataset.Conversation{} }

// oneClientKey names a key that several clients, or shards, do not serve yet, ""
// if none is set.
func (b *body) oneClientKey() string {
	switch {
	case b.converses():
		return "dataset.conversation"
	case b.Dataset.Unit == dataset.Tokens:
		return "dataset.length_unit"
	}
	return ""
}

func (b *body) checkConversation(c *config.Suite) error {
	switch {
	case !b.converses():
		return nil
	case b.Load.Mode != load.Closed:
		return c.Errorf("dataset.conversation", "needs slots that wait for answers, and load.mode is %s: set mode: closed and concurrency", b.Load.Mode)
	case b.Request.API != "chat":
		return c.Errorf("dataset.conversation", "needs chats: set request.api: chat")
	}
	return nil
}

// newTalks begins a conversation in each slot. Slot s of n has the
// conversations s, s+n, s+2n and so on, whatever the others do.
func (r *record) newTalks(slots int) {
	r.talks = make([]talk, slots)
	for slot := range r.talks {
		r.converse(slot, slot)
	}
}

func (r *record) converse(slot, number int) {
	t := &r.talks[slot]
	*t = talk{number: number}
	if r.body.Request.System != "" {
		t.messages = []openai.Message{{Role: "system", Content: r.body.Request.System}}
	}
	t.question, _ = r.asked.Turn(number, 0)
	t.words = t.question.Words
}

// next is what the slot asks now.
func (t *talk) next() dataset.Prompt {
	messages := make([]dataset.Message, 0, len(t.messages)+1)
	for _, m := range t.messages {
		messages = append(messages, dataset.Message(m))
	}
	return dataset.Prompt{Messages: append(messages, dataset.Message{Role: "user", Content: t.question.Text}), InputLength: t.words, OutputTokens: t.question.OutputTokens}
}

// follow takes in an answer. A conversation whose question failed is over.
func (r *record) follow(slot int, reply *openai.Reply) {
	t := &r.talks[slot]
	next, more := r.asked.Turn(t.number, t.turn+1)
	if reply.Outcome != openai.OK || !more {
		r.converse(slot, t.number+len(r.talks))
		return
	}
	t.messages = append(t.messages, openai.Message{Role: "user", Content: t.question.Text}, openai.Message{Role: "assistant", Content: reply.Text})
	t.turn, t.question, t.words = t.turn+1, next, t.words+next.Words
}

// think is how long a slot waits before its next question.
func (r *record) think(slot int) time.Duration { return r.talks[slot].question.Think }
