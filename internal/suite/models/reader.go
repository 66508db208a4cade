package models

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
	names     []string // of all metrics
	required  []string // metrics of which at least one must be printed
	answer    source
	tokens    *parse.Path
	operators *parse.Path
	output    string       // where the numbers stand
	format    parse.Format // nil: metrics and answer say where they stand
	failures  []failure
}

func (b *body) reader(c *config.Suite) (r reader, err error) {
	var specs []parse.Spec
	for _, m := range b.Metrics {
		r.names = append(r.names, m.Name)
		if b.Parser == "" {
			specs = append(specs, parse.Spec{Metric: m.Name, JSON: m.JSON, Regexp: m.Regexp})
		}
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
	if r.format, err = b.format(c); err != nil {
		return r, err
	}
	if b.Answer != nil {
		if err := b.Answer.check(c, r.format != nil); err != nil {
			return r, err
		}
		r.answer = *b.Answer
	}
	r.tokens, r.operators, r.output, r.failures = b.Tokens, b.Operators, cmp.Or(b.Output, outputStdout), b.Failures
	return r, nil
}

func (a *source) check(c *config.Suite, parser bool) error {
	n := 0
	for _, given := range []bool{a.JSON != nil, a.Regexp != nil, a.Parser} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return c.Errorf("answer", "needs json, regexp or parser: true: write one of them")
	case a.Parser && !parser:
		return c.Errorf("answer.parser", "the suite has no parser: add parser, or use json or regexp")
	}
	return nil
}

// maxOutput bounds the answer that a result keeps for the report.
const maxOutput = 4 << 10

// conclude fills in the result from the child's end and output. The log is kept
// only where it explains something: a run of 100,000 cells must stay readable.
func (r *reader) conclude(result *bench.Result, response worker.Response, file string, expected []expectation) {
	result.WallMS = float64(response.Wall.Microseconds()) / 1000
	result.Retries = response.Restarts // a process had died before it read the request
	result.Outcome, result.Reason = bench.Passed, ""
	fail := func(cause bench.Cause, reason string) {
		result.Outcome, result.Cause, result.Reason = bench.Failed, cause, reason
	}
	switch {
	case response.End == worker.TimedOut:
		result.Outcome, result.Cause, result.Reason = bench.Timeout, bench.CauseTimeout, response.Reason()
	case response.End == worker.Refused:
		fail(r.cause(response), response.Reason()+": "+response.Message)
	case !response.OK():
		fail(r.cause(response), response.Reason())
	case response.StdoutTruncated && r.output != outputFile:
		fail(bench.CauseOutput, "printed more than accelgate keeps, so its numbers cannot be trusted to be there")
	default:
		printed, err := r.printed(response, file)
		if err != nil {
			fail(bench.CauseOutput, err.Error())
			break
		}
		r.read(result, printed, expected)
		// Some programs say what is wrong and exit with 0.
		if c := cause(r.failures, response.Stderr, response.Stdout); result.Cause == bench.CauseOutput && c != "" {
			result.Cause = c
		}
	}
	if result.Outcome != bench.Passed {
		result.Log = response.Log
	}
}

// cause tells the ends of a child that did not succeed apart. What the child
// printed is asked first: an engine that reports its device's lack of memory
// exits with a code like any other.
func (r *reader) cause(response worker.Response) bench.Cause {
	if c := cause(r.failures, response.Stderr, response.Stdout, []byte(response.Message)); c != "" {
		return c
	}
	switch {
	case response.OutOfMemory:
		return bench.CauseOOM
	case response.End == worker.NotStarted && errors.Is(response.StartErr, worker.ErrNotFound):
		return bench.CauseInput
	case response.End == worker.NotStarted:
		return bench.CauseStart
	case response.End == worker.Signalled, response.Unanswered:
		return bench.CauseCrash
	}
	return bench.CauseExit
}

// printed returns what the numbers are read from.
func (r *reader) printed(response worker.Response, file string) (parse.Output, error) {
	out := parse.Output{Stdout: response.Stdout, Stderr: response.Stderr}
	switch r.output {
	case outputBoth:
		if r.format == nil {
			out.Stdout = slices.Concat(response.Stderr, []byte(between), response.Stdout)
		}
	case outputFile:
		data, err := readResult(file)
		if err != nil {
			return out, err
		}
		out.Stdout = data
	}
	return out, nil
}

// between stands between the two streams where both are read.
const between = "\n"

// readResult reads the file that a program was told to write.
func readResult(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.New("wrote no result to {output}: check that command passes the path on")
	}
	if !info.Mode().IsRegular() { // opening a pipe would block, a link lead elsewhere
		return nil, errors.New("the result at {output} is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the result at {output}: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, worker.DefaultMaxStdout+1))
	if err != nil {
		return nil, fmt.Errorf("read the result at {output}: %w", err)
	}
	if len(data) > worker.DefaultMaxStdout {
		return nil, fmt.Errorf("the result at {output} is larger than %d bytes", worker.DefaultMaxStdout)
	}
	return data, nil
}

// read takes everything from the output. A number that cannot be used fails
// the cell; an answer that is not the expected one makes it incorrect, with
// its numbers kept.
func (r *reader) read(result *bench.Result, printed parse.Output, expected []expectation) {
	doc := parse.NewDocument(printed.Stdout)
	answer, err := r.numbers(result, doc, printed)
	if err != nil {
		result.Outcome, result.Cause, result.Reason = bench.Failed, bench.CauseOutput, err.Error()
		return
	}
	for _, e := range expected {
		if err := r.check(result, doc, answer, e); err != nil {
			result.Outcome, result.Cause, result.Reason = bench.Incorrect, bench.CauseAnswer, err.Error()
			return
		}
	}
}

// numbers takes metrics and operators, and says where the answer comes from.
func (r *reader) numbers(result *bench.Result, doc *parse.Document, printed parse.Output) (answer func() (string, error), err error) {
	answer = func() (string, error) { return r.text(doc, printed.Stdout, printed.Stderr) }
	if r.format != nil {
		reading, err := r.format(printed)
		if err != nil {
			return nil, err
		}
		if r.answer.Parser {
			answer = func() (string, error) {
				if !reading.HasAnswer {
					return "", errors.New("printed no answer")
				}
				return reading.Answer, nil
			}
		}
		return answer, r.sample(result, reading.Values, unknown(reading.Values, r.names))
	}
	values, _, err := r.metrics.Extract(doc)
	if err != nil {
		return nil, err
	}
	if err := r.sample(result, values, doc.Err()); err != nil {
		return nil, err
	}
	if r.operators == nil {
		return answer, nil
	}
	entries, ok, err := doc.Entries(*r.operators)
	if ok {
		result.Breakdowns = []bench.Breakdown{{Title: "operators", Unit: "ms", Entries: entries}}
	}
	return answer, err
}

// sample keeps the values of the suite's metrics. It demands at least one that
// is gated: a program that ran and measured nothing has not passed.
func (r *reader) sample(result *bench.Result, values []parse.Value, why error) error {
	for _, v := range values {
		if slices.Contains(r.names, v.Metric) {
			result.Samples = append(result.Samples, bench.Sample{Metric: v.Metric, Values: []float64{v.Value}})
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

// unknown says which metrics a parser found that the suite does not have.
func unknown(values []parse.Value, names []string) error {
	const most = 10
	var found []string
	for _, v := range values {
		if !slices.Contains(names, v.Metric) && len(found) < most {
			found = append(found, v.Metric)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("the parser found %s", strings.Join(found, ", "))
}

// text returns the answer: where nothing says where it stands, all of what the
// program printed on standard output, or of its file.
func (r *reader) text(doc *parse.Document, stdout, stderr []byte) (string, error) {
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
	if r.output == outputBoth && r.format == nil { // the log before it is no answer
		stdout = stdout[len(stderr)+len(between):]
	}
	return strings.TrimSpace(string(stdout)), nil
}
