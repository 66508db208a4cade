package models

import (
	"errors"
	"fmt"
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
		for _, e := range s.expected(r.Cell) {
			more, err := recheck(r, e)
			if err != nil {
				return "", err
			}
			unverified = max(unverified, more)
		}
		return unverified, nil
	}, nil
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
