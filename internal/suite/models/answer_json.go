package models

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
)

// checkJSON holds the value at e.JSON of an answer that is JSON against e.
func checkJSON(answer string, e *expectation) error {
	doc := formats.NewDocument([]byte(answer))
	number, ok, err := doc.Number(*e.JSON)
	want, numeric := e.number()
	if e.Tolerance != nil || numeric && ok && err == nil {
		if err := readable(doc, ok, err, e.JSON, answer); err != nil || e.Tolerance.Holds(number, want) {
			return err
		}
		return fmt.Errorf("the answer's value at %s is %v, want %v%s", quoted(e.JSON.String()), number, want, e.Tolerance)
	}
	got, ok, err := doc.Plain(*e.JSON)
	if err := readable(doc, ok, err, e.JSON, answer); err != nil || got == *e.Equals {
		return err
	}
	return fmt.Errorf("the answer's value at %s %s", quoted(e.JSON.String()), difference(got, *e.Equals))
}

// number is Equals as a number.
func (e *expectation) number() (v float64, ok bool) {
	if e.Equals == nil || strings.ContainsAny(*e.Equals, "xXpP_") {
		return 0, false
	}
	v, err := strconv.ParseFloat(*e.Equals, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// readable returns why an answer has no value to compare.
func readable(doc *formats.Document, ok bool, err error, path *formats.Path, answer string) error {
	if err == nil && !ok {
		if err = doc.Err(); err == nil {
			err = errors.New("there is none")
		}
	}
	if err != nil {
		return fmt.Errorf("the answer has no value at %s: %w: got %s", quoted(path.String()), err, quoted(answer))
	}
	return nil
}

// tolerance is how far a number may be from the expected one: by at most limit, or by
// that share of the expected one. The nil tolerance is 0.
type tolerance struct {
	limit float64
	share bool
	text  string
}

// UnmarshalText implements [encoding.TextUnmarshaler] for "0.01" and "0.5%".
func (t *tolerance) UnmarshalText(text []byte) error {
	s := string(text)
	if strings.HasSuffix(s, "%") {
		var p config.Percent
		err := p.UnmarshalText(text)
		*t = tolerance{limit: float64(p) / 100, share: true, text: s}
		return err
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xXpP_") || !(v >= 0 && v <= math.MaxFloat64) {
		return fmt.Errorf("want a number from 0 on or a percentage, got %s; write for example 0.01 or 0.5%%", quoted(s))
	}
	*t = tolerance{limit: v, text: s}
	return nil
}

// Holds reports whether got is near enough to want. The limit itself is, in decimals.
func (t *tolerance) Holds(got, want float64) bool {
	const rounding = 1e-9 // of the limit: 21.6 - 21.5 is more than 0.1 in binary
	switch {
	case t == nil:
		return got == want
	case t.share:
		return math.Abs(got-want) <= t.limit*math.Abs(want)*(1+rounding)
	}
	return math.Abs(got-want) <= t.limit*(1+rounding)
}

// String is the end of a message.
func (t *tolerance) String() string {
	if t == nil {
		return ""
	}
	return " within " + t.text
}

func (e *expectation) checkJSONKeys(c *config.Suite, path string) error {
	want, numeric := e.number()
	switch {
	case e.JSON == nil && e.Equals != nil:
		return c.Errorf(path+".equals", "belongs to json: add json, the path of the value in the answer")
	case e.JSON != nil && e.Equals == nil:
		return c.Errorf(path+".json", "needs equals: add the value that it must be")
	case e.Tolerance != nil && !numeric:
		return c.Errorf(path+".tolerance", "belongs to equals, a number: add json and equals, or remove it")
	case e.Tolerance != nil && e.Tolerance.share && want == 0:
		return c.Errorf(path+".tolerance", "a share of 0 is 0: write a difference, such as 0.01")
	}
	return nil
}
