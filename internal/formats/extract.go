package formats

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// Spec describes where a metric is found in the output of a program: at a JSON path
// (see [Path]) or by a regular expression over the whole output (see
// [Pattern]), of which exactly one is set. With Steps, the place has several numbers.
type Spec struct {
	Metric, JSON, Regexp string
	Steps                *Reduction
}

// Value is one measured number.
type Value struct {
	Metric string
	Value  float64 // finite
}

// Extractor finds metrics in outputs. It may be used by several goroutines at
// once.
type Extractor struct {
	rules []rule
}

type rule struct {
	metric  string
	path    Path
	pattern *Pattern // nil: use path
	steps   *Reduction
}

// Compile checks all specs and reports everything that is wrong with them at
// once, by metric.
func Compile(specs []Spec) (*Extractor, error) {
	x := &Extractor{}
	var errs []error
	seen := map[string]bool{}
	for i, s := range specs {
		r, err := compile(s)
		switch {
		case s.Metric == "":
			errs = append(errs, fmt.Errorf("metric %d has no name; give it one", i+1))
		case seen[s.Metric]:
			errs = append(errs, fmt.Errorf("metric %q is listed twice; remove one", s.Metric))
		case err != nil:
			errs = append(errs, fmt.Errorf("metric %q: %w", s.Metric, err))
		}
		seen[s.Metric] = true
		x.rules = append(x.rules, r)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return x, nil
}

func compile(s Spec) (r rule, err error) {
	r.metric, r.steps = s.Metric, s.Steps
	switch {
	case (s.JSON == "") == (s.Regexp == ""):
		return r, errors.New("needs a JSON path or a regular expression; write one of the two")
	case s.JSON != "":
		r.path, err = ParsePath(s.JSON)
	default:
		r.pattern = new(Pattern)
		*r.pattern, err = ParsePattern(s.Regexp)
	}
	if err == nil && r.steps == nil && r.path.Several() {
		err = fmt.Errorf("JSON path %q names several values: add steps, such as median", cut(s.JSON, 100))
	}
	return r, err
}

// Extract returns the metrics found, in the order of the specs, and the names
// of those that are missing. The error joins one error per metric that is
// there and unusable; the other metrics are returned all the same. A document
// that contradicts itself is one error, and there are no metrics.
func (x *Extractor) Extract(d *Document) (values []Value, missing []string, err error) {
	var errs []error
	for _, r := range x.rules {
		v, ok, err := r.number(d)
		switch {
		case errors.Is(err, bench.ErrContradiction):
			return nil, nil, err
		case errors.Is(err, errNaN), errors.Is(err, errInfinite):
			errs = append(errs, fmt.Errorf("metric %q: %w: see why the program computes no number, such as a division by 0", r.metric, err))
		case err != nil:
			errs = append(errs, fmt.Errorf("metric %q: %w", r.metric, err))
		case !ok:
			missing = append(missing, r.metric)
		default:
			values = append(values, Value{r.metric, v})
		}
	}
	return values, missing, errors.Join(errs...)
}

func (r rule) number(d *Document) (v float64, ok bool, err error) {
	if r.steps != nil {
		points, err := r.points(d)
		if err != nil || len(points) == 0 {
			return 0, false, err
		}
		v, err = r.steps.of(points)
		return v, true, err
	}
	if r.pattern == nil {
		return d.Number(r.path)
	}
	found, ok := r.pattern.Find(d.text)
	if !ok {
		found, ok = r.pattern.Find(d.Log)
	}
	if !ok {
		return 0, false, nil
	}
	v, err = finite(string(bytes.TrimSpace(found)))
	return v, true, err
}

// points are the numbers of all steps.
func (r rule) points(d *Document) ([]Point, error) {
	if r.pattern == nil {
		return d.steps(r.path)
	}
	points, err := r.pattern.steps(d.text)
	if err == nil && len(points) == 0 {
		return r.pattern.steps(d.Log)
	}
	return points, err
}

// Record gives steps what they are compared with: read returns the recorded outputs that their words name.
func (x *Extractor) Record(read func(file string) ([]byte, error)) error {
	docs := map[string]*Document{}
	for _, r := range x.rules {
		if r.steps == nil {
			continue
		}
		for _, file := range r.steps.Files() {
			if docs[file] == nil {
				data, err := read(file)
				if err != nil {
					return fmt.Errorf("metric %q: %w", r.metric, err)
				}
				docs[file] = NewDocument(data)
			}
			points, err := r.points(docs[file])
			if err == nil {
				err = r.steps.record(file, points)
			}
			if err != nil {
				return fmt.Errorf("metric %q: %s: %w", r.metric, file, err)
			}
		}
	}
	return nil
}
