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
	all := indexed{body: b}
	all.index()
	rows := b.rows
	return func(r *bench.Result) (unverified string, err error) {
		if slices.ContainsFunc(rows, func(row rowMetric) bool { return row.has(r.Cell) }) {
			return "", nil // the answer is that of the process
		}
		cell, ok := all.named(r.Cell)
		if !ok && all.selective() {
			return "", errors.New(
				"the run names fewer parameters of the cell than the configuration has axes, and they select the expectations: measure again",
			)
		}
		var wrong []error
		for _, e := range all.expected(cell) {
			more, errs := recheck(r, e)
			wrong, unverified = append(wrong, errs...), max(unverified, more)
		}
		if err := listed(wrong); err != nil {
			return "", err
		}
		return unverified, nil
	}, nil
}

// named returns the cell with the names that its parameters have here: a run of another
// configuration may call an axis otherwise, which the id of the cell does not show. The
// axes come first, in their order.
func (b *indexed) named(c bench.Cell) (named bench.Cell, ok bool) {
	if len(c.Params) < len(b.axes) {
		return c, false
	}
	c.Params = slices.Clone(c.Params)
	for i, a := range b.axes {
		p := &c.Params[i]
		if name, swept := strings.CutPrefix(p.Key, bench.EnvPrefix); swept {
			p.Value = name + "=" + p.Value // as in the id
		}
		p.Key = a.Name
	}
	return c, true
}

// selective reports whether an expectation is of some cells only.
func (b *indexed) selective() bool {
	for _, a := range b.axes {
		if slices.ContainsFunc(a.Values, func(v value) bool { return v.Expect != nil }) {
			return true
		}
	}
	return slices.ContainsFunc(b.body.Expect, func(e expectation) bool { return len(e.When) > 0 })
}

func recheck(r *bench.Result, e expectation) (unverified string, wrong []error) {
	switch shown, clipped := wasClipped(r.Output); {
	case !e.readsText():
	case clipped && !e.heldBy(shown):
		unverified = fmt.Sprintf("the answer was recorded up to %d bytes, which do not show all that is expected", maxOutput)
	case !clipped:
		for _, err := range checkText(r.Output, e) {
			wrong = append(wrong, recorded(err, r.Output == "", "answer"))
		}
	}
	if e.Tokens == nil {
		return unverified, wrong
	}
	return unverified, with(wrong, recorded(checkTokens(r.Tokens, &e), r.Tokens == nil, "token ids"))
}

// heldBy reports whether the beginning of an answer shows by itself that all of it
// is as expected. A match that reaches the cut might not be one of the whole answer.
func (e *expectation) heldBy(beginning string) bool {
	if e.Text != nil || e.JSON != nil || len(e.lacking(beginning)) > 0 {
		return false
	}
	return !slices.ContainsFunc(e.Matches, func(re expression) bool {
		at := re.FindStringIndex(beginning)
		return at == nil || at[1] == len(beginning)
	})
}

func recorded(err error, absent bool, what string) error {
	if err != nil && absent {
		return errors.New("the run recorded no " + what + ", which the configuration expects")
	}
	return err
}

// wasClipped reports whether an answer may be longer than what was recorded, and
// returns what is shown of it.
func wasClipped(output string) (shown string, clipped bool) {
	const widest = 4 // bytes of a character at the cut
	shown, clipped = strings.CutSuffix(output, "...")
	return shown, clipped && len(output) > maxOutput-widest
}
