package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The speakers in ShareGPT's files.
var (
	askers    = []string{"human", "user"}
	answerers = []string{"gpt", "chatgpt", "assistant", "bing", "bard"}
)

// shareGPT adds the first question of each conversation of a list such as
//
//	[{"id": "a", "conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}]}]
//
// The published file has conversations that begin with an answer, or are
// empty; they hold no prompt and are counted in Dataset.Skipped.
func (c *collector) shareGPT(r io.Reader) error {
	budget := &budgetReader{r: bufio.NewReaderSize(r, 1<<16), left: maxLine}
	decoder := json.NewDecoder(budget)
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return errors.New(
			`:1: the file is not a JSON list: it should look like [{"conversations": [...]}]; write kind: jsonl for one object per line`,
		)
	}
	for n := 1; !c.full(); n++ {
		budget.left = maxLine
		if !decoder.More() {
			break
		}
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if err != nil {
			return fmt.Errorf(": conversation %d, byte %d: %w: download the file again", n, decoder.InputOffset(), err)
		}
		if err := c.conversation(raw); err != nil {
			return fmt.Errorf(": conversation %d, byte %d: %w", n, decoder.InputOffset()-int64(len(raw)), err)
		}
	}
	if c.full() {
		return nil
	}
	return listEnd(decoder)
}

func listEnd(decoder *json.Decoder) error {
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf(": byte %d: the list has no end (%w): download the file again", decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf(": byte %d: more text follows the list: give each list a file of its own", decoder.InputOffset())
	}
	return nil
}

// budgetReader bounds what is read for one conversation. The decoder reads
// ahead, so that the bound is met within its buffer.
type budgetReader struct {
	r    io.Reader
	left int
}

func (b *budgetReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("one conversation has more than %d bytes", maxLine)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (c *collector) conversation(raw json.RawMessage) error {
	o, err := decode(raw)
	if err != nil {
		return err
	}
	var turns []object
	if err := json.Unmarshal(o["conversations"], &turns); err != nil {
		return fmt.Errorf("conversations is %s and not a list: see whether the file is ShareGPT's", excerpt(o["conversations"]))
	}
	at := slices.IndexFunc(turns, func(o object) bool { return o.from(askers) })
	question, answer, err := exchange(turns, at)
	if err != nil {
		return err
	}
	it := item{parts: []part{{text: question}}, length: countWords(question)}
	if c.spec.AnswerLengths {
		it.output = min(countWords(answer), MaxOutput)
	}
	if it.length == 0 || c.spec.AnswerLengths && it.output == 0 {
		c.d.Skipped++
		return nil
	}
	if !c.spec.Conversation.isZero() {
		if it.later, err = c.later(turns[at+1:]); err != nil {
			return err
		}
	}
	return c.add(it)
}

// later returns the further questions of a conversation, up to the first that
// is empty or, where lengths of answers are asked for, has no answer.
func (c *collector) later(turns []object) (all []turn, err error) {
	for i := range turns {
		if !turns[i].from(askers) {
			continue
		}
		question, answer, err := exchange(turns, i)
		if err != nil {
			return nil, err
		}
		next := turn{text: question}
		if c.spec.AnswerLengths {
			next.output = min(countWords(answer), MaxOutput)
		} else {
			next.output = c.spec.Output.draw(newSource(c.d.seed, turnOutputs, uint64(len(c.d.items))<<10|uint64(len(all)+1)), MaxOutput)
		}
		if countWords(question) == 0 || c.spec.AnswerLengths && next.output == 0 || len(all)+1 == maxTurns {
			return all, nil
		}
		all = append(all, next)
	}
	return all, nil
}

// exchange returns the question at an index, which may be -1, and the answer
// right behind it.
func exchange(turns []object, at int) (question, answer string, err error) {
	if at < 0 {
		return "", "", nil
	}
	if question, err = turns[at].text("value"); err != nil {
		return "", "", err
	}
	if at+1 < len(turns) && turns[at+1].from(answerers) {
		answer, err = turns[at+1].text("value")
	}
	return question, answer, err
}

func (o object) from(speakers []string) bool {
	who, err := o.text("from")
	return err == nil && slices.Contains(speakers, who)
}
