package jsonl

import (
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

func quote(s string) string { return text.Quote(s, 80) }

// keys are those of a line.
var keys = []string{"id", "group", "better", "history", "baseline", "candidate", "paired"}

// Parse reads one line. Errors are of type [*Error], of which only column and
// message are set. It is strict, because what is misspelt would be judged as if it
// was not there.
func Parse(text []byte) (Trial, error) {
	p := parser{text: text}
	t := p.trial()
	if p.err != nil {
		return Trial{}, p.err
	}
	return t, nil
}

func (p *parser) trial() (t Trial) {
	better := ""
	seen := map[string]bool{}
	p.object(func(key string, at int) {
		if seen[key] {
			p.fail(at, "key %s occurs twice: remove one of the two", quote(key))
		}
		seen[key] = true
		switch key {
		case "id":
			t.ID = p.name()
		case "group":
			if !p.null() {
				t.Group = p.name()
			}
		case "better":
			better = p.direction()
		case "history":
			t.History = p.runs()
		case "baseline":
			t.Baseline = p.run()
		case "candidate":
			t.Candidate = p.run()
		case "paired":
			t.Paired = p.bool()
		default:
			p.unknown(key, at)
		}
	})
	p.end()
	t.HigherIsBetter = better == "higher"
	p.complete(&t, better)
	return t
}

func (p *parser) unknown(key string, at int) {
	near := text.Nearest(key, keys)
	if near != "" {
		near = "did you mean " + near + "? "
	}
	p.fail(at, "unknown key %s: %sa line has %s", quote(key), near, strings.Join(keys, ", "))
}

// complete refuses a line that cannot be judged.
func (p *parser) complete(t *Trial, better string) {
	switch {
	case t.ID == "":
		p.fail(0, `there is no id: add "id", unique in its group`)
	case better == "":
		p.fail(0, `there is no direction: add "better": "higher" or "lower"`)
	case t.Paired && len(t.Baseline) != len(t.Candidate):
		p.fail(
			0,
			"%d values of the baseline and %d of the candidate are no pairs: give both the same number, null for a missing value, or leave paired out",
			len(t.Baseline),
			len(t.Candidate),
		)
	}
}

func (p *parser) name() string {
	at := p.at
	s := p.string()
	if len(s) > MaxName {
		p.fail(at, "a name has more than %d bytes: shorten it", MaxName)
	}
	return s
}

func (p *parser) direction() string {
	at := p.at
	s := p.string()
	if s != "higher" && s != "lower" {
		p.fail(at, `better is %s: write "higher" or "lower"`, quote(s))
	}
	return s
}

// runs reads the history; null is a run that lacks the cell.
func (p *parser) runs() (runs [][]float64) {
	if p.null() {
		return nil
	}
	p.list("a list of runs, each a list of numbers, as in [[1.5], [1.6]]", func() {
		p.another()
		runs = append(runs, p.run())
	})
	return runs
}

// run reads a list of numbers into memory that all lists of the line share.
func (p *parser) run() []float64 {
	if p.null() {
		return nil
	}
	from := len(p.values)
	p.list("a list of numbers, as in [1.5, 1.6]", func() {
		p.another()
		v := math.NaN()
		if !p.null() {
			v = p.number()
		}
		p.values = append(p.values, v)
	})
	return p.values[from:len(p.values):len(p.values)]
}

// another counts values and runs.
func (p *parser) another() {
	if p.count++; p.count > MaxValues {
		p.fail(p.at, "the line has more than %d values and runs: keep the newest", MaxValues)
	}
}

// fail keeps the first error, and ends parsing.
func (p *parser) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{Column: at + 1, Message: fmt.Sprintf(format, args...)}
	}
	p.at = len(p.text)
}
