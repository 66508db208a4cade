package models

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/text"
)

// check compares what a cell answered with what it must answer. It fills in
// result.Output and result.Tokens; its error says for people what is wrong.
func (r *reader) check(result *bench.Result, doc *formats.Document, answer func() (string, error), e expectation) error {
	if e.Text != nil || len(e.Contains) > 0 {
		answer, err := answer()
		if err != nil {
			return err
		}
		result.Output = text.Clip(answer, maxOutput)
		if err := checkText(answer, e); err != nil {
			return err
		}
	}
	if e.Tokens == nil {
		return nil
	}
	tokens, ok, err := doc.Ints(*r.tokens)
	if err == nil && !ok {
		err = fmt.Errorf("printed no token ids at %s", r.tokens)
	}
	if err != nil {
		return err
	}
	if result.Output == "" {
		result.Output = text.Clip(strings.Trim(fmt.Sprint(tokens), "[]"), maxOutput)
	}
	if len(tokens) <= bench.MaxTokens {
		result.Tokens = tokens
	}
	return checkTokens(tokens, e.Tokens)
}

// checkText is TensorSharp's rule, all substrings and letter case ignored, and
// equality where the whole text is given.
func checkText(answer string, e expectation) error {
	lower := strings.ToLower(answer)
	var lacking []string
	for _, want := range e.Contains {
		if !strings.Contains(lower, strings.ToLower(want)) {
			lacking = append(lacking, fmt.Sprintf("%q", text.Clip(want, 80)))
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("the answer lacks %s", strings.Join(lacking, ", "))
	}
	if e.Text == nil || answer == *e.Text {
		return nil
	}
	i := 0
	for i < len(answer) && i < len(*e.Text) && answer[i] == (*e.Text)[i] {
		i++
	}
	return fmt.Errorf("the answer differs at byte %d: got %q, want %q", i, text.Clip(answer[i:], 40), text.Clip((*e.Text)[i:], 40))
}

func checkTokens(got, want []int64) error {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Errorf("token %d of %d is %d, want %d", i+1, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("answered %d tokens, want %d", len(got), len(want))
	}
	return nil
}
