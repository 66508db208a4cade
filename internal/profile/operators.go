package profile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
)

const (
	maxOperators   = 4096
	usualOperators = 200
	maxName        = 200
)

// operators sums by name. Its zero value is empty.
type operators struct {
	entries []bench.Entry
	index   map[string]int
}

// add charges seconds and calls, which are in range by themselves, to a name.
func (o *operators) add(name []byte, seconds float64, calls int64) error {
	if !utf8.Valid(name) {
		name = bytes.ToValidUTF8(name, []byte("\ufffd")) // as JSON would do it later, when two names may become one
	}
	if len(name) > maxName {
		name = []byte(cut(string(name), maxName))
	}
	if len(name) == 0 {
		return errors.New("an operator has no name: see whether the output is what this format is for")
	}
	at, ok := o.index[string(name)]
	if !ok {
		if at = len(o.entries); at == maxOperators {
			return fmt.Errorf("the profile lists more than %d operators: group them by name, or list only the largest", maxOperators)
		}
		if o.index == nil {
			o.index = make(map[string]int, usualOperators)
			o.entries = make([]bench.Entry, 0, usualOperators)
		}
		entry := bench.Entry{Name: string(name)}
		o.entries, o.index[entry.Name] = append(o.entries, entry), at
	}
	e := &o.entries[at]
	e.Total += seconds
	if e.Calls += calls; e.Calls > maxCount || e.Total > maxSeconds {
		return fmt.Errorf("operator %s has %v s in %d calls, which cannot be: see whether the output is what this format is for",
			quote(name), e.Total, e.Calls)
	}
	return nil
}

// sorted returns the operators as a Profile has them, and their sum.
func (o *operators) sorted() (entries []bench.Entry, sum float64) {
	slices.SortStableFunc(o.entries, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
	for _, e := range o.entries {
		sum += e.Total
	}
	return o.entries, sum
}

// checked returns p if a total that was summed here is in range.
func (p *Profile) checked() (*Profile, error) {
	if err := inRange(p.Total); err != nil {
		return nil, fmt.Errorf("the total of %w: see whether the output is what this format is for", err)
	}
	return p, nil
}
