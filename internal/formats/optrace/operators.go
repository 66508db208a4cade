package optrace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

const (
	maxOperators   = 4096
	usualOperators = 200
	maxName        = 200
)

// operators gathers operators. Its zero value is empty.
type operators struct {
	entries []bench.Entry
	index   map[string]int // of entries, by name
	sum     amount         // of the given rows
	// rounding is by how many seconds the rounding of printed numbers may have
	// moved the sum.
	rounding float64
}

// add charges seconds and calls, which are in range by themselves, to a name.
func (o *operators) add(name []byte, seconds float64, calls int64) error {
	name, err := usable(name)
	if err != nil {
		return err
	}
	at, ok := o.index[string(name)]
	if !ok {
		if o.index == nil {
			o.index = make(map[string]int, usualOperators)
		}
		if err := o.append(name, 0, 0); err != nil {
			return err
		}
		at = len(o.entries) - 1
		o.index[o.entries[at].Name] = at
	}
	e := &o.entries[at]
	e.Total += seconds
	e.Calls += calls
	if sum := (amount{e.Total, e.Calls}); !sum.possible() {
		return fmt.Errorf("operator %s has %v, which cannot be: see whether the output is what this format is for", quote(name), sum)
	}
	return nil
}

// row appends seconds and calls, which are in range by themselves, under a name
// that may be there already. Nor may all rows together be out of range, so that
// whoever adds up those of one name need not check.
func (o *operators) row(name []byte, seconds float64, calls int64) error {
	name, err := usable(name)
	if err != nil {
		return err
	}
	o.sum.seconds += seconds
	o.sum.calls += calls
	if !o.sum.possible() {
		return fmt.Errorf("the operators up to %s have %v, which cannot be: see whether the output is what this format is for", quote(name),
			o.sum)
	}
	return o.append(name, seconds, calls)
}

// usable returns the name as it is kept.
func usable(name []byte) ([]byte, error) {
	if !utf8.Valid(name) {
		name = bytes.ToValidUTF8(name, []byte("\ufffd")) // as JSON would do it later, when two names may become one
	}
	if len(name) > maxName {
		name = []byte(text.Cut(string(name), maxName))
	}
	if len(name) == 0 {
		return nil, errors.New("an operator has no name: see whether the output is what this format is for")
	}
	return name, nil
}

func (o *operators) append(name []byte, seconds float64, calls int64) error {
	if len(o.entries) == maxOperators {
		return fmt.Errorf("the profile lists more than %d operators: group them by name, or list only the largest", maxOperators)
	}
	if o.entries == nil {
		o.entries = make([]bench.Entry, 0, usualOperators)
	}
	o.entries = append(o.entries, bench.Entry{Name: string(name), Total: seconds, Calls: calls})
	return nil
}

// amount is a sum of terms that are each in range.
type amount struct {
	seconds float64
	calls   int64
}

func (a amount) possible() bool { return a.seconds <= maxSeconds && a.calls <= maxCount }

func (a amount) String() string {
	return fmt.Sprintf("%v s in %s", a.seconds, text.Plural(int(a.calls), "call"))
}

// sorted returns the operators as a Profile has them, and their sum.
func (o *operators) sorted() (entries []bench.Entry, sum float64) {
	slices.SortStableFunc(o.entries, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
	for _, e := range o.entries {
		sum += e.Total
	}
	return o.entries, sum
}

// checked returns p if its total is in range and not smaller than its operators
// together, of which rounding is the part in seconds that the rounding of numbers that
// were printed explains.
func (p *Profile) checked(rounding float64) (*Profile, error) {
	if err := inRange(p.Total); err != nil {
		return nil, fmt.Errorf("the total of %w: see whether the output is what this format is for", err)
	}
	sum := 0.0
	for _, e := range p.Operators {
		sum += e.Total
	}
	if sum > p.Total*(1+sameTotal)+rounding {
		return nil, fmt.Errorf(
			"%w: the total is %g s and its operators take %g s together; print the sum over all operators and streams as the total",
			bench.ErrContradiction, p.Total, sum)
	}
	return p, nil
}

// sameTotal is the relative difference up to which two totals are taken for
// one: programs round and add in other orders.
const sameTotal = 0.01

// printedRounding is by how many seconds the rounding of a table may move the
// sum of n operators beyond [sameTotal]: a time has three decimals of its unit,
// so only one below 1 µs has fewer than four digits.
func printedRounding(n int) float64 { return 0.5e-9 * float64(n+1) }
