package jsonl

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/jsonread"
)

func quote(s string) string { return text.Quote(s, 80) }

// keys are those of a line.
var keys = []string{"id", "group", "better", "history", "baseline", "candidate", "paired"}

// parser reads lines. Lists of one line share memory.
type parser struct {
	jsonread.Reader
	text   []byte
	values []float64
	count  int // of values and runs
}

// parse reads one line. Errors are of type [*Error], of which only column and
// message are set. It is strict, because what is misspelt would be judged as if it
// was not there.
func (p *parser) parse(text []byte) (trial, error) {
	p.text, p.values, p.count = text, nil, 0
	p.Open(text)
	t, err := p.trial()
	if bad := (*jsontext.SyntacticError)(nil); errors.As(err, &bad) {
		err = p.wrong(min(int(bad.ByteOffset), len(text)), "JSON as it should go on")
	}
	if err == nil && !utf8.Valid(text) {
		err = fail(0, "the line is not UTF-8: write it as UTF-8")
	}
	if err != nil {
		return trial{}, err
	}
	return t, nil
}

func (p *parser) trial() (t trial, err error) {
	if err := p.expect('{', `an object, as in {"id": ...}`); err != nil {
		return t, err
	}
	better := ""
	seen := map[string]bool{}
	err = p.Object(func(name []byte) (err error) {
		key, at := string(name), int(p.InputOffset())-len(p.Key())
		if seen[key] {
			return fail(at, "key %s occurs twice: remove one of the two", quote(key))
		}
		seen[key] = true
		switch key {
		case "id":
			t.ID, err = p.name()
		case "group":
			if !p.null() {
				t.Group, err = p.name()
			}
		case "better":
			better, err = p.direction()
		case "history":
			t.History, err = p.runs()
		case "baseline":
			t.Baseline, err = p.run()
		case "candidate":
			t.Candidate, err = p.run()
		case "paired":
			if k := p.PeekKind(); k != 't' && k != 'f' {
				return p.wrong(p.Next(), "true or false")
			}
			t.Paired = p.PeekKind() == 't'
			err = p.SkipValue()
		default:
			err = unknown(key, at)
		}
		return err
	})
	if err != nil {
		return t, err
	}
	if p.PeekKind() != 0 || p.Next() < len(p.text) {
		return t, p.wrong(p.Next(), "the end of the line")
	}
	t.HigherIsBetter = better == "higher"
	return t, complete(&t, better)
}

func unknown(key string, at int) error {
	near := text.Nearest(key, keys)
	if near != "" {
		near = "did you mean " + near + "? "
	}
	return fail(at, "unknown key %s: %sa line has %s", quote(key), near, strings.Join(keys, ", "))
}

// complete refuses a line that cannot be judged.
func complete(t *trial, better string) error {
	switch {
	case t.ID == "":
		return fail(0, `there is no id: add "id", unique in its group`)
	case better == "":
		return fail(0, `there is no direction: add "better": "higher" or "lower"`)
	case t.Paired && len(t.Baseline) != len(t.Candidate):
		return fail(0,
			"%d values of the baseline and %d of the candidate are no pairs: give both the same number, null for a missing value, or leave paired out",
			len(t.Baseline), len(t.Candidate))
	}
	return nil
}

func (p *parser) name() (string, error) {
	if err := p.expect('"', "a string in quotes"); err != nil {
		return "", err
	}
	at := p.Next()
	s, err := p.Text()
	if err == nil && len(s) > MaxName {
		err = fail(at, "a name has more than %d bytes: shorten it", MaxName)
	}
	return string(s), err
}

func (p *parser) direction() (string, error) {
	at := p.Next()
	s, err := p.name()
	if err == nil && s != "higher" && s != "lower" {
		err = fail(at, `better is %s: write "higher" or "lower"`, quote(s))
	}
	return s, err
}

// runs reads the history; null is a run that lacks the cell.
func (p *parser) runs() (runs [][]float64, err error) {
	err = p.list("a list of runs, each a list of numbers, as in [[1.5], [1.6]]", func() error {
		run, err := p.run()
		runs = append(runs, run)
		return err
	})
	return runs, err
}

// run reads a list of numbers into memory that all lists of the line share.
func (p *parser) run() ([]float64, error) {
	from := len(p.values)
	err := p.list("a list of numbers, as in [1.5, 1.6]", func() error {
		v := math.NaN()
		switch p.PeekKind() {
		case 'n':
			if err := p.SkipValue(); err != nil {
				return err
			}
		case '0':
			raw, err := p.ReadValue()
			if err != nil {
				return err
			}
			if v, err = strconv.ParseFloat(string(raw), 64); err != nil {
				return fail(int(p.InputOffset())-len(raw), "%s is beyond what a number can be: use another unit", quote(string(raw)))
			}
		default:
			return p.wrong(p.Next(), "a number, or null for a missing one")
		}
		p.values = append(p.values, v)
		return nil
	})
	return p.values[from:len(p.values):len(p.values)], err
}

// list reads null, or a list whose items count.
func (p *parser) list(what string, item func() error) error {
	if p.null() {
		return nil
	}
	if err := p.expect('[', what); err != nil {
		return err
	}
	return p.List(func() error {
		if p.count++; p.count > MaxValues {
			return fail(p.Next(), "the line has more than %d values and runs: keep the newest", MaxValues)
		}
		return item()
	})
}

// null goes over null if it is next.
func (p *parser) null() bool { return p.PeekKind() == 'n' && p.SkipValue() == nil }

// expect refuses a value of another kind than the next one should be of.
func (p *parser) expect(kind jsontext.Kind, what string) error {
	if p.PeekKind() != kind {
		return p.wrong(p.Next(), what)
	}
	return nil
}

// wrong describes the value found and the value expected.
func (p *parser) wrong(at int, what string) error {
	rest := p.text[at:]
	if len(rest) == 0 {
		return fail(at, "the line ends where %s is expected: write it as a whole", what)
	}
	return fail(at, "found %s where %s is expected: correct it", quote(string(rest[:min(len(rest), 80)])), what)
}

func fail(at int, format string, args ...any) error {
	return &Error{Column: at + 1, Message: fmt.Sprintf(format, args...)}
}
