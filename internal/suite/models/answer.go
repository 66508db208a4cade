package models

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/text"
)

// check compares what a cell answered with what it must answer. It fills in
// result.Output and result.Tokens; its errors say for people all that is wrong.
func (r *reader) check(result *bench.Result, doc *formats.Document, answer func() (string, error), e expectation) (wrong []error) {
	if e.readsText() {
		if answer, err := answer(); err != nil {
			wrong = append(wrong, err)
		} else {
			answer = strings.ToValidUTF8(answer, "\uFFFD") // as a result records it
			result.Output = text.Clip(answer, maxOutput)
			wrong = append(wrong, checkText(answer, e)...)
		}
	}
	if e.Tokens == nil {
		return wrong
	}
	tokens, ok, err := doc.Ints(*r.tokens)
	if err == nil && !ok {
		err = fmt.Errorf("printed no token ids at %s", r.tokens)
	}
	if err != nil {
		return append(wrong, err)
	}
	if result.Output == "" {
		result.Output = text.Clip(strings.Trim(fmt.Sprint(tokens), "[]"), maxOutput)
	}
	result.Tokens = tokens[:min(len(tokens), bench.MaxTokens)] // more than any expectation lists
	return with(wrong, checkTokens(tokens, &e))
}

// checkText is the rule of the measuring job and of the one that judges. For
// substrings it is TensorSharp's: all of them, letter case ignored.
func checkText(answer string, e expectation) (wrong []error) {
	if lacking := e.lacking(answer); len(lacking) > 0 {
		wrong = append(wrong, fmt.Errorf("the answer lacks %s: got %s", strings.Join(lacking, ", "), quoted(answer)))
	}
	for _, re := range e.Matches {
		if !re.MatchString(answer) {
			wrong = append(wrong, fmt.Errorf("the answer does not match %s: got %s", quoted(re.String()), quoted(answer)))
		}
	}
	if e.Text != nil && answer != *e.Text {
		wrong = with(wrong, e.near(answer))
	}
	if e.JSON != nil {
		wrong = with(wrong, checkJSON(answer, &e))
	}
	return wrong
}

// with appends an error that is one.
func with(all []error, err error) []error {
	if err == nil {
		return all
	}
	return append(all, err)
}

// maxWrong is how many expectations are named that an answer does not meet.
const maxWrong = 10

// listed makes one line of errors; nil without any. One that several expectations give is
// named once.
func listed(all []error) error {
	var words []string
	for _, err := range all {
		if !slices.Contains(words, err.Error()) {
			words = append(words, err.Error())
		}
	}
	switch len(words) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	n, more := len(words), ""
	if n > maxWrong {
		words, more = words[:maxWrong], fmt.Sprintf("; and %d more", n-maxWrong)
	}
	return fmt.Errorf("%s are not met: %s%s", text.Plural(n, "expectation"), strings.Join(words, "; "), more)
}

// lacking returns the substrings that the answer does not have, quoted.
func (e *expectation) lacking(answer string) (lacking []string) {
	lower := strings.ToLower(answer)
	for _, want := range e.Contains {
		if !strings.Contains(lower, strings.ToLower(want)) {
			lacking = append(lacking, quoted(want))
		}
	}
	return lacking
}

// maxCompared bounds the characters of answers that edit_distance compares.
const maxCompared = 20_000

// near returns why an answer that is not the recorded one is not near enough to it.
func (e *expectation) near(answer string) error {
	if e.EditDistance == nil {
		return fmt.Errorf("the answer %s", difference(answer, *e.Text))
	}
	if n := utf8.RuneCountInString(answer); n > maxCompared {
		return fmt.Errorf("the answer has %d characters, and edit_distance compares at most %d: it %s", n, maxCompared,
			difference(answer, *e.Text))
	}
	const rounding = 1e-9 // 0.7 % of 1000 must be 7
	want := []rune(*e.Text)
	limit := int(float64(*e.EditDistance)/100*float64(len(want)) + rounding)
	if within([]rune(answer), want, limit) {
		return nil
	}
	return fmt.Errorf("the answer is more than %s (%s) from text: it %s", text.Plural(limit, "edit"), e.EditDistance,
		difference(answer, *e.Text))
}

// checkTokens compares all token ids, or the first of them.
func checkTokens(got []int64, e *expectation) error {
	want := e.Tokens
	if e.TokensPrefix != nil {
		want = want[:*e.TokensPrefix]
		got = got[:min(len(got), len(want))]
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	switch {
	case i < min(len(got), len(want)):
		return fmt.Errorf("token %d of %d is %d, want %d: got %s, want %s", i+1, len(want), got[i], want[i], window(got, i),
			window(want, i))
	case len(got) != len(want):
		return fmt.Errorf("answered %s, want %d: got %s, want %s", text.Plural(len(got), "token"), len(want), window(got, i),
			window(want, i))
	}
	return nil
}
