package models

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
)

// expectation is what the cells that When selects must answer.
type expectation struct {
	When     map[string]string       `yaml:"when"`     // as in exclude; empty selects every cell
	Contains []string                `yaml:"contains"` // substrings, letter case ignored
	Matches  config.List[expression] `yaml:"matches"`  // each matches somewhere in the answer
	Text     *string                 `yaml:"text"`     // the whole answer
	// EditDistance is the share of the characters of Text that may be inserted, deleted
	// or replaced in the answer.
	EditDistance *config.Percent `yaml:"edit_distance"`
	// JSON is of a value in an answer that is JSON, which is Equals as written, or a
	// number within Tolerance of it.
	JSON      *formats.Path `yaml:"json"`
	Equals    *string       `yaml:"equals"`
	Tolerance *tolerance    `yaml:"tolerance"`
	Tokens    []int64       `yaml:"tokens"` // the whole list of token ids
	// TokensPrefix is how many of Tokens count, from the first on; nil for all.
	TokensPrefix *int `yaml:"tokens_prefix"`
}

// readsText reports whether the text of the answer counts.
func (e *expectation) readsText() bool {
	return e.Text != nil || len(e.Contains) > 0 || len(e.Matches) > 0 || e.JSON != nil
}

func (b *body) checkExpect(c *config.Suite) error {
	for i, e := range b.Expect {
		if err := b.checkExpectation(c, fmt.Sprintf("expect[%d]", i), e); err != nil {
			return err
		}
	}
	for _, axis := range b.dimensions() {
		for i, v := range axis.Values {
			if v.Expect == nil {
				continue
			}
			path := fmt.Sprintf("%s[%d].expect", axis.path, i)
			if len(v.Expect.When) > 0 {
				return c.Errorf(path+".when", "the value already selects the cells: leave when out")
			}
			if err := b.checkExpectation(c, path, *v.Expect); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *body) checkExpectation(c *config.Suite, path string, e expectation) error {
	switch {
	case !e.readsText() && e.Tokens == nil && !e.partial():
		return c.Errorf(path, "expects nothing: add contains, matches, text, json or tokens")
	case slices.Contains(e.Contains, ""):
		return c.Errorf(path+".contains", "every answer contains \"\": write what it must contain")
	case e.Tokens != nil && b.Tokens == nil:
		return c.Errorf(path,
			"tokens are expected, and the suite does not state where they are printed: add tokens, a JSON path, to the suite")
	}
	for i, re := range e.Matches {
		if re.MatchString("") {
			return c.Errorf(fmt.Sprintf("%s.matches[%d]", path, i), "%s matches an empty answer: write what the answer must have",
				quoted(re.String()))
		}
	}
	if err := e.checkRecorded(c, path); err != nil {
		return err
	}
	return e.checkJSONKeys(c, path)
}

// partial reports whether there is a key that means something with others only.
func (e *expectation) partial() bool {
	return e.Equals != nil || e.Tolerance != nil || e.EditDistance != nil || e.TokensPrefix != nil
}

// checkRecorded checks the keys that allow a part of the recorded answer to differ.
func (e *expectation) checkRecorded(c *config.Suite, path string) error {
	switch {
	case e.EditDistance != nil && (e.Text == nil || *e.Text == ""):
		return c.Errorf(path+".edit_distance", "belongs to text: add text, the recorded answer")
	case e.EditDistance != nil && utf8.RuneCountInString(*e.Text) > maxCompared:
		return c.Errorf(path+".text",
			"has more than %d characters, which edit_distance cannot compare: shorten it, or leave edit_distance out", maxCompared)
	case e.TokensPrefix != nil && (*e.TokensPrefix < 1 || *e.TokensPrefix > len(e.Tokens)):
		return c.Errorf(path+".tokens_prefix", "is %d, and tokens lists %d: write how many of them must be equal, 1 or more",
			*e.TokensPrefix, len(e.Tokens))
	}
	return nil
}
