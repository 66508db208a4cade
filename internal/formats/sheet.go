package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// sheet is what a file lists under names of its own: benchmarks, tasks, tests. Each
// row becomes a cell of an imported run. Metrics describe all values of the rows.
type sheet struct {
	key        string // the parameter of a cell that holds a row's name
	metrics    []bench.Metric
	rows       []Benchmark
	context    map[string]string
	revision   string            // the commit that was measured
	breakdowns []bench.Breakdown // of the only row
	warnings   []string
	at         map[string]int // of rows, by name
	values     int
}

// row returns the row of the name, which is made if there is none. An empty name is
// the only row of a file that measures one thing.
func (s *sheet) row(name string) (*Benchmark, error) {
	name = strings.ToValidUTF8(strings.TrimSpace(name), "\ufffd")
	if i, known := s.at[name]; known {
		return &s.rows[i], nil
	}
	if len(name) > maxText {
		return nil, fmt.Errorf("the name %s is longer than %d bytes: shorten it", text.Quote(name, 80), maxText)
	}
	if len(s.rows) >= maxBenchmarks {
		return nil, fmt.Errorf("the result holds more than %d names: split the file", maxBenchmarks)
	}
	if s.at == nil {
		s.at = map[string]int{}
	}
	s.at[name] = len(s.rows)
	s.rows = append(s.rows, Benchmark{Name: name})
	return &s.rows[len(s.rows)-1], nil
}

// add adds a value to a row. Two values of one metric in a row are an error, and so
// is a value that the metric cannot have.
func (s *sheet) add(name string, m bench.Metric, v float64) error {
	row, err := s.row(name)
	if err != nil {
		return err
	}
	switch {
	case m.Name == "":
		return fmt.Errorf("a metric of %s has no name: give it one", text.Quote(name, 80))
	case len(m.Name) > maxText || len(m.Unit) > maxText:
		return fmt.Errorf("the metric %s of %s has a name or a unit of more than %d bytes: shorten it", text.Quote(m.Name, 80),
			text.Quote(name, 80), maxText)
	case !bench.Finite(v) || v < 0 && m.Quantity() != bench.Score:
		return fmt.Errorf("%s of %s is %v, which no measurement yields: see the log of the program", text.Quote(m.Name, 80),
			text.Quote(name, 80), v)
	case slices.ContainsFunc(row.Values, func(known Value) bool { return known.Metric == m.Name }):
		return fmt.Errorf("%w: %s of %s occurs twice; give each a name of its own", bench.ErrContradiction, text.Quote(m.Name, 80),
			text.Quote(name, 80))
	}
	if s.values++; s.values > maxRepetitions {
		return fmt.Errorf("the result holds more than %d values: split the file", maxRepetitions)
	}
	if err := s.describe(m); err != nil {
		return err
	}
	row.Values = append(row.Values, Value{m.Name, v})
	return nil
}

// stdErr notes the standard error of a value. A text such as "N/A", or a number below 0, is
// left out.
func (s *sheet) stdErr(name, metric, number string) {
	v, err := finite(number)
	row, rowErr := s.row(name)
	if err != nil || rowErr != nil || v < 0 {
		return
	}
	if row.stdErrs == nil {
		row.stdErrs = map[string]float64{}
	}
	row.stdErrs[metric] = v
}

// describe adds a metric, of which a file must not give two descriptions.
func (s *sheet) describe(m bench.Metric) error {
	i := slices.IndexFunc(s.metrics, func(known bench.Metric) bool { return known.Name == m.Name })
	switch {
	case i >= 0 && s.metrics[i] != m:
		return fmt.Errorf("%w: one %s is better higher and another one lower; give each a file of its own", bench.ErrContradiction,
			text.Quote(m.Name, 80))
	case i < 0 && len(s.metrics) >= maxList:
		return fmt.Errorf("the result holds more than %d metrics: split the file", maxList)
	case i < 0:
		s.metrics = append(s.metrics, m)
	}
	return nil
}

// fail notes why a row has no values.
func (s *sheet) fail(name, why string) error {
	row, err := s.row(name)
	if err == nil {
		row.Failed = text.Plain(why, 500)
	}
	return err
}

func (s *sheet) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); len(s.warnings) < maxWarnings && !slices.Contains(s.warnings, w) {
		s.warnings = append(s.warnings, w)
	}
}

// run is the sheet as an imported file.
func (s *sheet) run(format string) (*bench.Run, error) {
	run := &bench.Run{
		Schema:   bench.RunSchema,
		Host:     bench.Host{Label: HostLabel},
		Revision: s.revision,
		Metrics:  s.metrics,
		Context:  s.context,
		Warnings: s.warnings,
	}
	slices.SortFunc(run.Metrics, func(a, b bench.Metric) int { return strings.Compare(a.Name, b.Name) })
	for _, row := range s.rows {
		r := bench.Result{Cell: bench.Cell{Suite: format}, Outcome: bench.Passed, Breakdowns: s.breakdowns}
		if r.Cell.Params = []bench.Param{{Key: s.key, Value: row.Name}}; row.Name == "" {
			r.Cell.Params = []bench.Param{{Key: "suite", Value: format}}
		}
		switch {
		case row.Failed != "":
			r.Outcome, r.Reason, r.Cause = bench.Failed, row.Failed, bench.CauseOutput
		case len(row.Values) == 0:
			r.Outcome, r.Reason, r.Cause = bench.Failed, "the file holds no number for it: see the tool's log", bench.CauseOutput
		}
		for _, v := range row.Values {
			if r.Outcome == bench.Passed {
				r.Samples = append(r.Samples, v.Sample(row.stdErrs))
			}
		}
		run.Results = append(run.Results, r)
	}
	if len(run.Results) == 0 {
		return nil, errors.New("the result holds no number that is known: give the file that the tool saves at its end")
	}
	return run, run.Validate()
}

// listed makes a door for suites of a reader of sheets. A value is NAME.METRIC; also
// NAME where the row has no other, and METRIC where the sheet has no other row.
func listed(read func([]byte) (*sheet, error)) Format {
	return func(out Output) (Reading, error) {
		s, err := read(out.Stdout)
		if err != nil || s == nil {
			return Reading{}, err
		}
		var values []Value
		stdErrs := map[string]float64{}
		for _, row := range s.rows {
			if row.Failed != "" {
				return Reading{}, fmt.Errorf("%s failed: %s", text.Quote(row.Name, 80), row.Failed)
			}
			for _, v := range row.Values {
				names := s.names(row, v)
				values = append(values, names...)
				if stdErr, ok := row.stdErrs[v.Metric]; ok {
					for _, n := range names {
						stdErrs[n.Metric] = stdErr
					}
				}
			}
		}
		reading, err := newReading(values)
		reading.StdErrs = stdErrs
		return reading, err
	}
}

// Sample is the value with its standard error, if it has one.
func (v Value) Sample(stdErrs map[string]float64) bench.Sample {
	s := bench.Sample{Metric: v.Metric, Values: []float64{v.Value}}
	if stdErr, ok := stdErrs[v.Metric]; ok {
		s.Estimates = []bench.Estimate{bench.StdErrEstimate(v.Value, stdErr)}
	}
	return s
}

func (s *sheet) names(row Benchmark, v Value) (values []Value) {
	if row.Name != "" {
		values = append(values, Value{row.Name + "." + v.Metric, v.Value})
	}
	if row.Name != "" && len(row.Values) == 1 {
		values = append(values, Value{row.Name, v.Value})
	}
	if len(s.rows) == 1 {
		values = append(values, v)
	}
	return values
}

// ofBenchmarks is what a harness measured as a sheet.
func ofBenchmarks(read func([]byte) ([]Benchmark, error), data []byte) (*sheet, error) {
	all, err := read(data)
	if err != nil {
		return nil, err
	}
	s := &sheet{key: "benchmark"}
	for _, b := range all {
		row, err := s.row(b.Name)
		if err != nil {
			return nil, err
		}
		row.Failed = b.Failed
		for _, v := range b.Values {
			i := slices.IndexFunc(BenchmarkMetrics, func(m bench.Metric) bool { return m.Name == v.Metric })
			if err := s.add(b.Name, BenchmarkMetrics[i], v.Value); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}
