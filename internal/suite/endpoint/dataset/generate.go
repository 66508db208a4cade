package dataset

import "fmt"

// generate fills d with built-in and generated prompts.
func (d *Dataset) generate(s Spec) error {
	total := 0
	for i := range s.N {
		it := d.item(s, uint64(i))
		it.output = s.Output.draw(newSource(d.seed, outputLengths, uint64(i)), MaxOutput)
		if total += it.length; total > maxTotalWords {
			return fmt.Errorf("n: the first %d prompts have over %d words: write n: %d or less, or shorter lengths", i+1, maxTotalWords, i)
		}
		d.items = append(d.items, it)
	}
	return nil
}

func (d *Dataset) item(s Spec, i uint64) item {
	if s.Kind == Builtin && (s.Set == RAGSet || s.Set == ContextSet) {
		return d.document(s, i)
	}
	if s.Kind == Builtin {
		return newLiteral(literals(s.Set)[i])
	}
	own := s.Input.draw(newSource(d.seed, inputLengths, i), s.inputLimit())
	it := item{parts: []part{{topic: ownText, index: i, words: own}}, length: own}
	if s.Kind == SharedPrefix {
		prefix := part{topic: groupText, index: i % uint64(s.Groups), words: s.Prefix}
		it.parts = []part{prefix, it.parts[0]}
		it.shared = 1
		it.length += s.Prefix
	}
	return it
}

// document returns a question about a generated text, which is a group's where
// there are groups.
func (d *Dataset) document(s Spec, i uint64) item {
	doc := part{topic: ownText, index: i}
	shared := 0
	if s.Groups > 0 {
		doc = part{topic: groupText, index: i % uint64(s.Groups)}
		shared = 2
	}
	doc.words = s.Input.draw(newSource(d.seed, inputLengths, doc.index), s.inputLimit())
	question := "\n\n" + questions[newSource(d.seed, questionChoice, i).intn(len(questions))]
	return item{
		parts:  []part{{text: preamble}, doc, {text: question}},
		shared: shared,
		length: countWords(preamble) + doc.words + countWords(question),
	}
}

func newLiteral(text string) item {
	return item{parts: []part{{text: text}}, length: countWords(text)}
}
