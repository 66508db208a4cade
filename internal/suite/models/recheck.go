package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// Recheck returns what holds the recorded answer and token ids of a cell that
// passed against the suite's expectations: a run of another job may have been
// measured with other ones. Its error says what is wrong, unverified what a record
// that was cut does not show.
func Recheck(c *config.Suite) (func(*bench.Result) (unverified string, err error), error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	s := Suite{body: b}
	s.index()
	return func(r *bench.Result) (unverified string, err error) {
		cell, ok := s.named(r.Cell)
		if !ok && s.selective() {
			return "", errors.New("the run names fewer parameters of the cell than the configuration has axes, and they select the expectations: measure again")
		}
		for _, e := range s.expected(cell) {
			more, err := recheck(r, e)
			if err != nil {
				return "", err
			}
			unverified = max(unverified, more)
		}
		return unverified, nil
	}, nil
}

// named returns the cell with the names that its parameters have here: a run of another
// configuration may call an axis otherwise, which the id of the cell does not show. The
// axes come first, in their order.
func (s *Suite) named(c bench.Cell) (named bench.Cell, ok bool) {
	if len(c.Params) < len(s.axes) {
		return c, false
	}
	c.Params = slices.Clone(c.Params)
	for i, a := range s.axes {
		p := &c.Params[i]
		if name, swept := strings.CutPrefix(p.Key, bench.EnvPrefix); swept {
			p.Value = name + "=" + p.Value // as in the id
		}
		p.Key = a.Name
	}
	return c, true
}

// selective reports whether an expectation is of some cells only.
func (s *Suite) selective() bool {
	for _, a := range s.axes {
		if slices.ContainsFunc(a.Values, func(v value) bool { return v.Expect != nil }) {
			return true
		}
	}
	return slices.ContainsFunc(s.body.Expect, func(e expectation) bool { return len(e.When) > 0 })
}

func recheck(r *bench.Result, e expectation) (unverified string, err error) {
	if e.Text != nil || len(e.Contains) > 0 {
		if err := checkText(r.Output, e); err != nil && !wasClipped(r.Output) {
			return "", recorded(err, r.Output == "", "answer")
		} else if err != nil {
			unverified = fmt.Sprintf("the answer was recorded up to %d bytes, which do not show all that is expected", maxOutput)
		}
	}
	if e.Tokens == nil {
		return unverified, nil
	}
	return unverified, recorded(checkTokens(r.Tokens, e.Tokens), r.Tokens == nil, "token ids")
}

func recorded(err error, absent bool, what string) error {
	if err != nil && absent {
		return errors.New("the run recorded no " + what + ", which the configuration expects")
	}
	return err
}

// wasClipped reports whether an answer may be longer than what was recorded.
func wasClipped(output string) bool {
	const widest = 4 // bytes of a character at the cut
	return len(output) > maxOutput-widest && strings.HasSuffix(output, "...")
}
