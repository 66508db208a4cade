package optrace

import (
	"errors"
	"fmt"
)

// plainJSON reads the form for programs of one's own, which the embedded engine
// prints: an object, which is the whole output or its last line that is one,
//
//	{"total_ms": 12.5, "operators": [{"name": "matmul", "total_ms": 9.66, "calls": 24}]}
//
// Times may be total_s, total_ms or total_us. The object's own may be left out,
// and is then the sum; operators may be left out where it is there; calls may
// be left out where they are not known. Other members are passed over. The total
// is the sum over all operators and streams; one that is smaller than its
// operators together, by more than 1 % and the rounding of printed numbers,
// wraps [bench.ErrContradiction], as does a key that occurs twice in one object.
func plainJSON(data []byte) (*Profile, error) {
	text, err := result(data)
	if err != nil {
		return nil, err
	}
	var ops operators
	listed := false
	c := cursor{data: text}
	members := plainMembers{}
	err = c.object(func(key []byte) error {
		if string(key) != "operators" || c.peek() == 'n' { // null
			return members.take(key, &c)
		}
		listed = true
		return c.list('[', ']', func() error { return plainOperator(&c, &ops) })
	})
	if err != nil {
		return nil, err
	}
	total, rounding, hasTotal, err := members.seconds()
	switch {
	case err != nil:
		return nil, err
	case !hasTotal && !listed:
		return nil, fmt.Errorf("the JSON object %w: it has neither operators nor total_s; print at least one of both", ErrNone)
	case !hasTotal && len(ops.entries) == 0:
		return nil, errors.New("operators is empty and total_s is missing: print at least one of both")
	}
	p := &Profile{}
	if p.Operators, p.Total = ops.sorted(); hasTotal {
		p.Total = total
	}
	return p.checked(rounding + ops.rounding)
}

func plainOperator(c *cursor, ops *operators) error {
	members := plainMembers{}
	if c.peek() != '{' {
		return errors.New("an element of operators is not an object: print name, total_s and calls of each")
	}
	if err := c.object(func(key []byte) error { return members.take(key, c) }); err != nil {
		return err
	}
	text, err := decode(members["name"])
	if err != nil {
		return fmt.Errorf("name of an operator: %w", err)
	}
	total, rounding, ok, err := members.seconds()
	if err == nil && !ok {
		err = errors.New("it has no total_s, total_ms or total_us: print one")
	}
	n := int64(0)
	if calls := members["calls"]; err == nil && calls != nil && !isNull(calls) {
		if n, err = count(calls); err != nil {
			err = fmt.Errorf("calls %w: print a whole number", err)
		}
	}
	if err != nil {
		return fmt.Errorf("operator %s: %w", quote(text), err)
	}
	ops.rounding += rounding
	return ops.add(text, total, n)
}

// plainMembers are the members of an object that are read, as they are written.
type plainMembers map[string][]byte

// plainUnits is what a time is divided by.
var plainUnits = map[string]float64{"total_s": 1, "total_ms": 1e3, "total_us": 1e6}

// take reads a member and keeps it if it is one of those.
func (m plainMembers) take(key []byte, c *cursor) error {
	raw, err := c.value()
	if err != nil {
		return err
	}
	switch name := string(key); name {
	case "name", "calls", "operators", "total_s", "total_ms", "total_us":
		m[name] = raw
	}
	return nil
}

// seconds returns the time, and by how much the program's rounding may have
// moved it; ok is false where there is none. null counts as missing.
func (m plainMembers) seconds() (v, rounding float64, ok bool, err error) {
	var names []string
	for _, name := range []string{"total_ms", "total_s", "total_us"} {
		if raw := m[name]; raw != nil && !isNull(raw) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return 0, 0, false, nil
	case 1:
	default:
		return 0, 0, false, fmt.Errorf("it has both %s and %s: print one", names[0], names[1])
	}
	unit := plainUnits[names[0]]
	if v, err = number(m[names[0]]); err == nil {
		v /= unit
		err = inRange(v)
	}
	if err != nil {
		return 0, 0, false, fmt.Errorf("%s: %w: print a time of 0 or more", names[0], err)
	}
	return v, lastDigit(m[names[0]]) / unit / 2, true, nil
}
