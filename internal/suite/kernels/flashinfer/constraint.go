package flashinfer

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// CheckConstraints returns which of the definition's constraints a workload does
// not satisfy, and which could not be evaluated, joined to one error; nil if
// all hold. The axes are those of the workload, the shapes those of the actual
// tensors (see [Definition.Shapes]), and last returns the last element of a
// tensor of whole numbers. Without last, constraints that need it are passed
// over.
func (d *Definition) CheckConstraints(axes map[string]int, shapes map[string][]int, last func(tensor string) (int64, error)) error {
	sizes, err := d.sizes(axes)
	if err != nil {
		return err
	}
	var all []error
	for _, text := range d.Constraints {
		err := checkConstraint(text, &scope{sizes, shapes, last})
		if err != nil && !errors.Is(err, errNoElements) {
			all = append(all, fmt.Errorf("constraint %s: %w", quote(text), err))
		}
	}
	return errors.Join(all...)
}

// scope is what the names in a constraint stand for.
type scope struct {
	axes   map[string]int
	shapes map[string][]int
	last   func(tensor string) (int64, error)
}

// errNoElements is why a constraint was not evaluated without the
// elements of tensors.
var errNoElements = errors.New("the elements of tensors are not known here: give them")

func checkConstraint(text string, s *scope) error {
	c, err := parseConstraint(text)
	if err != nil {
		return err
	}
	left, err := c.terms[0].value64(s)
	if err != nil {
		return err
	}
	for i, operator := range c.operators {
		right, err := c.terms[i+1].value64(s)
		if err != nil {
			return err
		}
		if !compare(left, operator, right) {
			return fmt.Errorf("does not hold, because %d %s %d is false: correct the workload", left, operator, right)
		}
		left = right
	}
	return nil
}

func compare(a int64, operator string, b int64) bool {
	switch operator {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// value64 returns the value of a term with Python's rules: division rounds
// down, and a remainder has the sign of the divisor.
func (t *term) value64(s *scope) (int64, error) {
	switch t.op {
	case "int":
		return t.value, nil
	case "axis", "shape", "last":
		return t.lookUp(s)
	}
	a, err := t.left.value64(s)
	if err != nil {
		return 0, err
	}
	b := int64(0)
	if t.right != nil {
		if b, err = t.right.value64(s); err != nil {
			return 0, err
		}
	}
	return calculate(a, t.op, b)
}

func (t *term) lookUp(s *scope) (int64, error) {
	if t.op == "axis" {
		if size, ok := s.axes[t.name]; ok {
			return int64(size), nil
		}
		return 0, fmt.Errorf("%s is none of the axes: correct the name", quote(t.name))
	}
	shape, ok := s.shapes[t.name]
	switch {
	case !ok:
		return 0, fmt.Errorf("%s is not a tensor of the definition: correct the name", quote(t.name))
	case t.op == "last" && s.last == nil:
		return 0, errNoElements
	case t.op == "last":
		n, err := s.last(t.name)
		if err != nil {
			return 0, fmt.Errorf("last element of %s: %w", quote(t.name), err)
		}
		return n, nil
	}
	i, ok := t.axisOf(len(shape))
	if !ok {
		return 0, fmt.Errorf("%s has %d axes, so there is none with the index %d: correct the index", quote(t.name), len(shape), t.value)
	}
	return int64(shape[i]), nil
}

// axisOf returns the index of an axis, counted from the front.
func (t *term) axisOf(rank int) (int, bool) {
	i := t.value
	if i < 0 {
		i += int64(rank)
	}
	return int(i), i >= 0 && i < int64(rank)
}

var (
	errOverflow = errors.New("a number does not fit into 64 bits: make the workload's axes smaller")
	errZero     = errors.New("divides by zero: correct the workload or the constraint")
)

func calculate(a int64, operator string, b int64) (int64, error) {
	switch operator {
	case "neg":
		return subtract(0, a)
	case "+":
		if sum := a + b; (sum > a) == (b > 0) {
			return sum, nil
		}
		return 0, errOverflow
	case "-":
		return subtract(a, b)
	case "*":
		return multiply(a, b)
	}
	if b == 0 {
		return 0, errZero
	}
	if a == math.MinInt64 && b == -1 && operator == "//" {
		return 0, errOverflow
	}
	quotient, remainder := a/b, a%b
	if remainder != 0 && (remainder < 0) != (b < 0) {
		quotient, remainder = quotient-1, remainder+b
	}
	if operator == "//" {
		return quotient, nil
	}
	return remainder, nil
}

func subtract(a, b int64) (int64, error) {
	if difference := a - b; (difference < a) == (b > 0) {
		return difference, nil
	}
	return 0, errOverflow
}

func multiply(a, b int64) (int64, error) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case high != 0 || low > 1<<63 || low == 1<<63 && !negative:
		return 0, errOverflow
	case negative:
		return -int64(low), nil
	}
	return int64(low), nil
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// checkNames returns what is wrong with a constraint whatever the workload is.
func (d *Definition) checkNames(t *term) error {
	switch t.op {
	case "int":
		return nil
	case "axis":
		if d.axis(t.name) == nil {
			return fmt.Errorf("%s is none of the axes: correct the name", quote(t.name))
		}
		return nil
	case "shape", "last":
		return d.checkTensor(t)
	}
	err := d.checkNames(t.left)
	if err == nil && t.right != nil {
		err = d.checkNames(t.right)
	}
	return err
}

func (d *Definition) checkTensor(t *term) error {
	of := d.tensor(t.name)
	if of == nil {
		return fmt.Errorf("%s is not a tensor of the definition: correct the name", quote(t.name))
	}
	if _, ok := t.axisOf(len(of.Shape)); t.op == "shape" && !ok {
		return fmt.Errorf("%s has %d axes, so there is none with the index %d: correct the index", quote(t.name), len(of.Shape), t.value)
	}
	if t.op == "last" && len(of.Shape) != 1 {
		return fmt.Errorf("%s has %d axes, so it has no last number: name a tensor of one axis", quote(t.name), len(of.Shape))
	}
	return nil
}
