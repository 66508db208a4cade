package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// reader takes metrics, answer, token ids and operators from what a child
// printed.
type reader struct {
	metrics   *formats.Extractor
	stdErrs   *formats.Extractor // by the names of the metrics
	trials    *formats.Extractor // likewise
	names     []string           // of all metrics
	required  []string           // metrics of which at least one must be printed
	paths     []string           // JSON paths of those
	answer    source
	tokens    *formats.Path
	operators *formats.Path
	file      bool           // the numbers stand in the file {output}
	format    formats.Format // nil: metrics and answer say where they stand
	failures  []failure
}

func (b *body) reader(c *config.Suite) (r reader, err error) {
	var specs, stdErrs, trials []formats.Spec
	for i, m := range b.Metrics {
		r.names = append(r.names, m.Name)
		if b.Parser == "" && !b.rowMetric(m.Name) {
			steps, err := m.steps()
			if err != nil {
				return r, c.Errorf(fmt.Sprintf("metrics[%d].steps", i), "%v", err)
			}
			specs = append(specs, formats.Spec{Metric: m.Name, JSON: m.JSON, Regexp: m.Regexp, Steps: steps})
		}
		if m.N != "" {
			if b.Parser != "" || m.StdErr != "" {
				return r, c.Errorf(fmt.Sprintf("metrics[%d].n", i), "n excludes parser and stderr: remove one of the two")
			}
			spec := formats.Spec{Metric: m.Name, Regexp: m.N}
			if m.JSON != "" {
				spec = formats.Spec{Metric: m.Name, JSON: m.N}
			}
			trials = append(trials, spec)
		}
		switch {
		case m.StdErr == "":
		case b.Parser != "":
			return r, c.Errorf(fmt.Sprintf("metrics[%d].stderr", i), "the suite's parser %s reads the standard error: remove stderr",
				b.Parser)
		case m.JSON != "":
			stdErrs = append(stdErrs, formats.Spec{Metric: m.Name, JSON: m.StdErr})
		default:
			stdErrs = append(stdErrs, formats.Spec{Metric: m.Name, Regexp: m.StdErr})
		}
		if !m.Informational && !b.rowMetric(m.Name) {
			r.required = append(r.required, m.Name)
		}
	}
	if len(r.required) == 0 { // a suite that only shows numbers must print one of these
		for _, m := range b.Metrics {
			if !b.rowMetric(m.Name) {
				r.required = append(r.required, m.Name)
			}
		}
	}
	for _, m := range b.Metrics {
		if m.JSON != "" && slices.Contains(r.required, m.Name) {
			r.paths = append(r.paths, m.JSON)
		}
	}
	if r.metrics, err = formats.Compile(specs); err != nil {
		return r, c.Errorf("metrics", "%v", err)
	}
	if r.stdErrs, err = formats.Compile(stdErrs); err != nil {
		return r, c.Errorf("metrics", "stderr: %v", err)
	}
	if r.trials, err = formats.Compile(trials); err != nil {
		return r, c.Errorf("metrics", "n: %v", err)
	}
	if r.format, err = b.format(c); err != nil {
		return r, err
	}
	if b.Answer != nil {
		if err := b.Answer.check(c); err != nil {
			return r, err
		}
		r.answer = *b.Answer
	}
	r.tokens, r.operators, r.file, r.failures = b.Tokens, b.Operators, b.writes(), b.Failures
	return r, nil
}

func (a *source) check(c *config.Suite) error {
	n := 0
	for _, given := range []bool{a.JSON != nil, a.Regexp != nil, a.parser} {
		if given {
			n++
		}
	}
	if n != 1 {
		return c.Errorf("answer", "needs json or regexp: write one of them")
	}
	return nil
}

// maxFolder bounds the files of a folder of results together.
const maxFolder = 8 * worker.DefaultMaxStdout

// maxOutput bounds the answer that a result keeps for the report.
const maxOutput = 4 << 10

// conclude fills in the result from the child's end and output. The log is kept
// only where it explains something: a run of 100,000 cells must stay readable. It
// returns what names the numbers that the output holds.
func (r *reader) conclude(result *bench.Result, response worker.Response, output func() (formats.Output, error),
	read func(formats.Output)) (keys func() []string) {
	keys = func() []string { return nil }
	suite.Conclude(result, response)
	switch {
	case result.Outcome == bench.Failed:
		// What the child printed comes first: an engine that reports its device's
		// lack of memory exits with a code like any other.
		result.Cause = cmp.Or(cause(r.failures, response.Stderr, response.Stdout, []byte(response.Message)), result.Cause)
	case result.Outcome != bench.Passed:
	case response.StdoutTruncated && !r.file:
		suite.Fail(result, bench.CauseOutput, suite.Truncated)
	default:
		printed, err := output()
		if err != nil {
			suite.Fail(result, bench.CauseOutput, err.Error())
			break
		}
		read(printed)
		keys = r.keysOf(printed)
		// Some programs say what is wrong and exit with 0.
		if c := cause(r.failures, response.Stderr, response.Stdout); result.Cause == bench.CauseOutput && c != "" {
			result.Cause = c
		}
	}
	if result.Outcome != bench.Passed {
		result.Log = response.Log
	}
	return keys
}

// printed returns what the numbers are read from.
func (r *reader) printed(response worker.Response, file string) (formats.Output, error) {
	out := formats.Output{Stdout: response.Stdout, Stderr: response.Stderr}
	if r.file {
		if files, err := suite.ReadFolder(file, "{output}", maxFolder); files != nil || err != nil {
			out.Files = files
			return out, err
		}
		data, err := suite.ReadResult(file, "{output}", worker.DefaultMaxStdout)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("wrote no result to {output}: check that command passes the path on")
		}
		if err != nil {
			return out, err
		}
		out.Stdout = data
	}
	return out, nil
}

// read takes everything from the output. A number that cannot be used fails
// the cell; an answer that is not the expected one makes it incorrect, with
// its numbers kept.
func (r *reader) read(result *bench.Result, printed formats.Output, expected []expectation) {
	doc := printed.Document()
	answer, err := r.numbers(result, doc, printed)
	if err != nil {
		suite.Unusable(result, err)
		return
	}
	var wrong []error
	for _, e := range expected {
		wrong = append(wrong, r.check(result, doc, answer, e)...)
	}
	if err := listed(wrong); err != nil {
		result.Outcome, result.Cause, result.Reason = bench.Incorrect, bench.CauseAnswer, err.Error()
	}
}

// elsewhere returns what numbers the JSON of an output has where none of the suite's are.
func (r *reader) elsewhere(doc *formats.Document) error {
	if err := doc.Err(); err != nil || len(r.paths) == 0 {
		return err
	}
	has := "no number"
	if keys := doc.Keys(bench.MaxKeys, bench.MaxKey); len(keys) > 0 {
		has = strings.Join(keys, ", ")
	}
	return fmt.Errorf("json: %s; the output has %s", strings.Join(r.paths, ", "), has)
}

// numbers takes metrics and operators, and says where the answer comes from.
func (r *reader) numbers(result *bench.Result, doc *formats.Document, printed formats.Output) (answer func() (string, error), err error) {
	answer = func() (string, error) { return r.text(doc, printed.Stdout) }
	if r.format != nil {
		reading, err := r.format(printed)
		if err != nil {
			return nil, err
		}
		if r.answer.parser {
			answer = func() (string, error) {
				if !reading.HasAnswer {
					return "", errors.New("printed no answer")
				}
				return reading.Answer, nil
			}
		}
		return answer, r.sample(result, reading.Values, reading.StdErrs, unknown(reading.Values, r.names))
	}
	values, _, err := r.metrics.Extract(doc)
	if err != nil {
		return nil, err
	}
	stdErrs, err := r.errors(doc)
	if err != nil {
		return nil, err
	}
	if err := r.sample(result, values, stdErrs, r.elsewhere(doc)); err != nil {
		return nil, err
	}
	if err := r.shares(result, doc); err != nil {
		return nil, err
	}
	if r.operators == nil {
		return answer, nil
	}
	entries, ok, err := doc.Entries(*r.operators)
	if ok {
		result.Breakdowns = []bench.Breakdown{{Title: bench.OperatorsTitle, Unit: "ms", Entries: entries}}
	}
	return answer, err
}

// errors reads the standard errors that the configuration names.
func (r *reader) errors(doc *formats.Document) (map[string]float64, error) {
	values, _, err := r.stdErrs.Extract(doc)
	if err != nil {
		return nil, fmt.Errorf("stderr: %w", err)
	}
	stdErrs := make(map[string]float64, len(values))
	for _, v := range values {
		if v.Value < 0 {
			return nil, fmt.Errorf("stderr of %s is %v, and none is below 0: correct the path", v.Metric, v.Value)
		}
		stdErrs[v.Metric] = v.Value
	}
	return stdErrs, nil
}

// shares makes the samples of which the configuration names the number of trials shares of that number.
func (r *reader) shares(result *bench.Result, doc *formats.Document) error {
	values, _, err := r.trials.Extract(doc)
	if err != nil {
		return fmt.Errorf("n: %w", err)
	}
	for _, v := range values {
		s := result.Sample(v.Metric)
		if s == nil {
			continue
		}
		share := s.Values[0]
		if !(share >= 0 && share <= 1) || v.Value != math.Trunc(v.Value) || !(v.Value >= 1 && v.Value <= 1e6) {
			return fmt.Errorf("%s is %v of n = %v trials, and must be a share from 0 to 1 of a whole number: correct json and n", v.Metric, share, v.Value)
		}
		s.Estimates = []bench.Estimate{bench.ShareEstimate(share, int(v.Value))}
	}
	return nil
}

// sample keeps the values of the suite's metrics. It demands at least one that
// is gated: a program that ran and measured nothing has not passed.
func (r *reader) sample(result *bench.Result, values []formats.Value, stdErrs map[string]float64, why error) error {
	for _, v := range values {
		if slices.Contains(r.names, v.Metric) {
			result.Samples = append(result.Samples, v.Sample(stdErrs))
		}
	}
	for _, name := range r.required {
		if result.Sample(name) != nil {
			return nil
		}
	}
	reason := "printed none of the metrics " + strings.Join(r.required, ", ")
	if why != nil {
		reason += " (" + why.Error() + ")"
	}
	return errors.New(reason)
}

// unknown returns which metrics a parser found that the suite does not have.
func unknown(values []formats.Value, names []string) error {
	const maximum = 10
	var found []string
	for _, v := range values {
		if !slices.Contains(names, v.Metric) && len(found) < maximum {
			found = append(found, v.Metric)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("the parser found %s", strings.Join(found, ", "))
}

// text returns the answer: where no place is configured, all that the
// program printed on standard output, or of its file.
func (r *reader) text(doc *formats.Document, stdout []byte) (string, error) {
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
