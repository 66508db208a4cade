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

func (b *body) checkConversation(c *config.Suite) error {
	switch {
	case !b.converses():
		return nil
	case b.Load.Mode != load.Closed:
		return c.Errorf("dataset.conversation", "needs slots that wait for answers, and load.mode is %s: set mode: closed and concurrency",
			b.Load.Mode)
	case b.Request.API != "chat":
		return c.Errorf("dataset.conversation", "needs chats: set request.api: chat")
	}
	return nil
}

// newTalks begins a conversation in each slot that this client has of those of all
// clients. Slot s of n has the conversations s, s+n, s+2n and so on, whatever the
// others do and whichever client has it.
func (r *record) newTalks(slots int) {
	r.talks = make([]talk, slots)
	for slot := r.share.Index; slot < slots; slot += max(r.share.Of, 1) {
		r.talks[slot].number = slot
		r.converse(&r.talks[slot])
	}
}

// talkOf is the conversation of a slot of this client.
func (r *record) talkOf(slot int) *talk { return &r.talks[slot*max(r.share.Of, 1)+r.share.Index] }

// converse begins the conversation of t's number.
func (r *record) converse(t *talk) {
	*t = talk{number: t.number}
	if r.body.Request.System != "" {
		t.messages = []openai.Message{{Role: "system", Content: r.body.Request.System}}
	}
	t.question, _ = r.asked.Turn(t.number, 0)
	t.words = t.question.Words
}

// next is what the slot asks now.
func (t *talk) next() dataset.Prompt {
	messages := make([]dataset.Message, 0, len(t.messages)+1)
	for _, m := range t.messages {
		messages = append(messages, dataset.Message(m))
	}
	return dataset.Prompt{
		Messages:     append(messages, dataset.Message{Role: "user", Content: t.question.Text}),
		InputLength:  t.words,
		OutputTokens: t.question.OutputTokens,
	}
}

// follow takes in an answer. A conversation whose question failed is over.
func (r *record) follow(slot int, reply *openai.Reply) {
	t := r.talkOf(slot)
	next, more := r.asked.Turn(t.number, t.turn+1)
	if reply.Outcome != openai.OK || !more {
		t.number += len(r.talks)
		r.converse(t)
		return
	}
	t.messages = append(t.messages, openai.Message{Role: "user", Content: t.question.Text},
		openai.Message{Role: "assistant", Content: reply.Text})
	t.turn, t.question, t.words = t.turn+1, next, t.words+next.Words
}

// think is how long a slot waits before its next question.
func (r *record) think(slot int) time.Duration { return r.talkOf(slot).question.Think }
