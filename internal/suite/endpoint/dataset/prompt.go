package dataset

import (
	"slices"
	"time"
)

// Message is one turn of a conversation.
type Message struct{ Role, Content string }

// Prompt is what one request asks. Either Text or Messages is set.
type Prompt struct {
	Text     string
	Messages []Message
	// InputLength is the number of words of Text or of all Messages, about one
	// token each; a trace's is its own number of tokens.
	InputLength int
	// OutputTokens is how many tokens should be generated; 0 leaves that to
	// the request's default.
	OutputTokens int
	// At is when a trace sent the request, since its first one.
	At time.Duration
}

// Chat returns the prompt as messages: its own, or its text as one message of
// a user.
func (p Prompt) Chat() []Message {
	if p.Messages != nil {
		return p.Messages
	}
	return []Message{{Role: "user", Content: p.Text}}
}

// Dataset is a list of prompts that does not change any more. It may be used
// by several goroutines at once.
type Dataset struct {
	// ID names the dataset without the folder it came from: "builtin:chat",
	// "random", "jsonl:prompts.jsonl".
	ID string
	// Hash is the SHA-256, in hexadecimal, over every prompt's text, output
	// length and time, in order. Equal hashes mean equal traffic under the
	// policy as-is.
	Hash string
	// Skipped counts the conversations of a ShareGPT file that were passed over
	// because they hold no prompt, or no answer where its length was asked for.
	Skipped int

	kind   Kind
	seed   uint64
	talk   Conversation
	output Lengths
	unit   Unit
	items  []item
	sums   [][16]byte // of the texts, to tell repeated ones
}

// item is a prompt before its text is written: a trace of 20,000 long prompts
// is 1 GB of text and a few MB of items.
type item struct {
	parts    []part
	messages []Message // instead of parts
	shared   int       // how many of the first parts other prompts share by design
	length   int
	output   int
	at       time.Duration
	later    []turn // further questions of a recorded conversation
}

// part is a literal text, or a number of generated words.
type part struct {
	text  string
	topic topic
	index uint64
	words int
}

// Len returns the number of prompts, at least 1.
func (d *Dataset) Len() int { return len(d.items) }

// Prompt returns the prompt at i, from 0, as the dataset has it. It panics
// where i is out of range. Use a [Sequence] for what is sent.
func (d *Dataset) Prompt(i int) Prompt { return d.render(i, "", false) }

// HasMessages reports whether any prompt consists of messages, which an endpoint
// for plain completions cannot be sent.
func (d *Dataset) HasMessages() bool {
	return slices.ContainsFunc(d.items, func(it item) bool { return it.messages != nil })
}

// Arrivals returns when a trace sent each of its requests, in order and since
// the first; nil for other kinds.
func (d *Dataset) Arrivals() []time.Duration {
	if d.kind != Trace {
		return nil
	}
	all := make([]time.Duration, len(d.items))
	for i, it := range d.items {
		all[i] = it.at
	}
	return all
}

// render writes the prompt at i with a nonce at its start or, afterShared,
// behind what it shares with others.
func (d *Dataset) render(i int, nonce string, afterShared bool) Prompt {
	it := &d.items[i]
	p := Prompt{InputLength: it.length, OutputTokens: it.output, At: it.at}
	if nonce != "" {
		p.InputLength += NonceWords
	}
	if it.messages != nil {
		p.Messages = withNonce(it.messages, nonce, afterShared)
		return p
	}
	if len(it.parts) == 1 && nonce == "" && it.parts[0].words == 0 {
		p.Text = it.parts[0].text
		return p
	}
	p.Text = d.text(it, nonce, afterShared)
	return p
}

func (d *Dataset) text(it *item, nonce string, afterShared bool) string {
	at := 0
	if afterShared {
		at = it.shared
	}
	b := make([]byte, 0, it.size()+2*len(nonce))
	for i, p := range it.parts {
		b = append(b, it.between(i, i == at, nonce)...)
		if p.words == 0 {
			b = append(b, p.text...)
			continue
		}
		b = appendWords(b, d.seed, p)
	}
	return string(b)
}

// between is what stands before part i: the nonce, a blank between words, or
// nothing.
func (it *item) between(i int, hasNonce bool, nonce string) string {
	switch {
	case hasNonce && nonce != "" && i > 0:
		return "\n\n" + nonce
	case hasNonce && nonce != "":
		return nonce
	case i > 0 && it.parts[i].words > 0 && it.parts[i-1].words > 0:
		return " "
	}
	return ""
}

// size is about how many bytes the text has.
func (it *item) size() (n int) {
	for _, p := range it.parts {
		n += len(p.text) + p.words*meanWordBytes
	}
	return n
}

// withNonce returns the messages with the nonce before the first one or,
// afterShared, before the first that is not the system's. The slice is the
// dataset's own if there is no nonce.
func withNonce(messages []Message, nonce string, afterShared bool) []Message {
	if nonce == "" {
		return messages
	}
	all := append([]Message(nil), messages...)
	at := 0
	if afterShared {
		at = min(instructions(messages), len(all)-1)
	}
	all[at].Content = nonce + all[at].Content
	return all
}

// instructions counts the messages of the system that a conversation begins with.
func instructions(messages []Message) (n int) {
	for n < len(messages) && (messages[n].Role == "system" || messages[n].Role == "developer") {
		n++
	}
	return n
}
