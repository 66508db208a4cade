package models

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/parse"
	"github.com/accelgate/accelgate/internal/worker"
)

// reader takes metrics, answer, token ids and operators from what a child
// printed.
type reader struct {
	metrics   *parse.Extractor
	required  []string // metrics of which at least one must be printed
	answer    source
	tokens    *parse.Path
	operators *parse.Path
}

func (b *body) reader(c *config.Suite) (r reader, err error) {
	var specs []parse.Spec
	for _, m := range b.Metrics {
		specs = append(specs, parse.Spec{Metric: m.Name, JSON: m.JSON, Regexp: m.Regexp})
		if !m.Informational {
			r.required = append(r.required, m.Name)
		}
	}
	if len(r.required) == 0 { // a suite that only shows numbers must print one of these
		for _, m := range b.Metrics {
			r.required = append(r.required, m.Name)
		}
	}
	if r.metrics, err = parse.Compile(specs); err != nil {
		return r, c.Errorf("metrics", "%v", err)
	}
	if b.Answer != nil {
		if (b.Answer.JSON == nil) == (b.Answer.Regexp == nil) {
			return r, c.Errorf("answer", "needs json or regexp: write one of the two")
		}
		r.answer = *b.Answer
	}
	r.tokens, r.operators = b.Tokens, b.Operators
	return r, nil
}

// maxOutput bounds the answer that a result keeps for the report.
const maxOutput = 4 << 10

// judge fills in the result from the child's end and output. The log is kept
// only where it explains something: a run of 100,000 cells must stay readable.
func (r *reader) judge(result *bench.Result, response worker.Response, expected []expectation) {
	result.WallMS = float64(response.Wall.Microseconds()) / 1000
	result.Outcome, result.Reason = bench.Passed, ""
	switch {
	case response.End == worker.TimedOut:
		result.Outcome, result.Reason = bench.Timeout, response.Reason()
	case !response.OK():
		result.Outcome, result.Reason = bench.Failed, response.Reason()
	case response.StdoutTruncated:
		result.Outcome, result.Reason = bench.Failed, "printed more than accelgate keeps, so its numbers cannot be trusted to be there"
	default:
		r.read(result, parse.NewDocument(response.Stdout), response.Stdout, expected)
	}
	if result.Outcome != bench.Passed {
		result.Log = response.Log
	}
}

// read takes everything from the output. A number that cannot be used fails
// the cell; an answer that is not the expected one makes it incorrect, with
// its numbers kept.
func (r *reader) read(result *bench.Result, doc *parse.Document, stdout []byte, expected []expectation) {
	if err := r.readMetrics(result, doc); err != nil {
		result.Outcome, result.Reason = bench.Failed, err.Error()
		return
	}
	if r.operators != nil {
		entries, ok, err := doc.Entries(*r.operators)
		if err != nil {
			result.Outcome, result.Reason = bench.Failed, err.Error()
			return
		}
		if ok {
			result.Breakdowns = []bench.Breakdown{{Title: "operators", Unit: "ms", Entries: entries}}
		}
	}
	for _, e := range expected {
		if err := r.check(result, doc, stdout, e); err != nil {
			result.Outcome, result.Reason = bench.Incorrect, err.Error()
			return
		}
	}
}

// readMetrics demands at least one metric that is gated: a program that ran and
// measured nothing has not passed.
func (r *reader) readMetrics(result *bench.Result, doc *parse.Document) error {
	values, _, err := r.metrics.Extract(doc)
	if err != nil {
		return err
	}
	for _, v := range values {
		result.Samples = append(result.Samples, bench.Sample{Metric: v.Metric, Values: []float64{v.Value}})
	}
	for _, name := range r.required {
		if result.Sample(name) != nil {
			return nil
		}
	}
	reason := "printed none of the metrics " + strings.Join(r.required, ", ")
	if err := doc.Err(); err != nil {
		reason += " (" + err.Error() + ")"
	}
	return fmt.Errorf("%s", reason)
}

// text returns the answer.
func (r *reader) text(doc *parse.Document, stdout []byte) (string, error) {
	switch {
	case r.answer.JSON != nil:
		s, ok, err := doc.Text(*r.answer.JSON)
		if err == nil && !ok {
			err = fmt.Errorf("printed no answer at %s", r.answer.JSON)
		}
		return s, err
	case r.answer.Regexp != nil:
		found, ok := r.answer.Regexp.Find(stdout)
		if !ok {
			return "", fmt.Errorf("printed no answer that matches %s", r.answer.Regexp)
		}
		return string(found), nil
	}
	return strings.TrimSpace(string(stdout)), nil
}
