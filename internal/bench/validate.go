package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The limits of a Run document: a file from elsewhere must not fill the memory.
const (
	MaxRunBytes = 256 << 20
	maxResults  = 500_000
	maxMetrics  = 1000
	maxValues   = 1000 // the most repeats that a suite may ask for
)

// DecodeRun reads a Run document, which may come from anywhere, and validates
// it. Unknown fields are refused: a field that is not understood could change
// what the others mean.
func DecodeRun(data []byte) (*Run, error) {
	if len(data) > MaxRunBytes {
		return nil, fmt.Errorf("run document of %d bytes is over the limit of %d", len(data), MaxRunBytes)
	}
	type plain Run
	document := struct {
		*plain
		Results results `json:"results"` // hides the field of plain
	}{plain: new(plain)}
	if err := strict(data, &document); err != nil {
		return nil, fmt.Errorf("decode run document: %w", err)
	}
	run := (*Run)(document.plain)
	run.Results = document.Results
	if err := run.Validate(); err != nil {
		return nil, err
	}
	return run, nil
}

func strict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more text follows the document")
	}
	return nil
}

// results are decoded and validated one by one: two bytes of input make a
// whole empty Result, and a list of millions of them must end at the first.
type results []Result

func (rs *results) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return errors.New("results must be a list")
	}
	for decoder.More() {
		if len(*rs) == maxResults {
			return fmt.Errorf("more than %d results", maxResults)
		}
		var r Result
		if err := decoder.Decode(&r); err != nil {
			return err
		}
		if err := r.validate(); err != nil {
			return fmt.Errorf("result %d: %w", len(*rs), err)
		}
		*rs = append(*rs, r)
	}
	return nil
}

// Validate reports what would make a comparison meaningless: an unknown
// schema, a case id or metric that stands twice, an unknown outcome or
// direction, a metric that is a fallback for one that cannot be gated, a number
// that is not finite, a sample without values.
func (r *Run) Validate() error {
	if r.Schema != RunSchema {
		return fmt.Errorf("run document has schema %d, this build reads %d: use the accelgate version that wrote it", r.Schema, RunSchema)
	}
	if err := validateMetrics(r.Metrics); err != nil {
		return err
	}
	if err := validateShards(r.Shards); err != nil {
		return err
	}
	for _, l := range r.LeftOut {
		if l.Cell == "" {
			return errors.New("a cell that was left out has no id")
		}
	}
	seen := make(map[string]bool, len(r.Results))
	for i := range r.Results {
		id := r.Results[i].Cell.ID()
		if id == "" || seen[id] {
			return fmt.Errorf("result %d: case id %q is empty or stands twice", i, id)
		}
		seen[id] = true
		if err := r.Results[i].validate(); err != nil {
			return fmt.Errorf("result %s: %w", id, err)
		}
	}
	return nil
}

const maxShards = 256

// validateShards demands parts of one splitting.
func validateShards(shards []string) error {
	of := ""
	for i, s := range shards {
		var k, n int
		if _, err := fmt.Sscanf(s, "%d/%d", &k, &n); err != nil || fmt.Sprintf("%d/%d", k, n) != s || k < 1 || k > n || n > maxShards {
			return fmt.Errorf("shard %q is not k/n with k up to n, and n up to %d", s, maxShards)
		}
		_, total, _ := strings.Cut(s, "/")
		if of != "" && of != total || slices.Contains(shards[:i], s) {
			return fmt.Errorf("shards %v are not different parts of one splitting", shards)
		}
		of = total
	}
	return nil
}

func validateMetrics(metrics []Metric) error {
	if len(metrics) > maxMetrics {
		return fmt.Errorf("%d metrics are more than %d", len(metrics), maxMetrics)
	}
	byName := make(map[string]Metric, len(metrics))
	for _, m := range metrics {
		if _, twice := byName[m.Name]; twice || m.Name == "" {
			return fmt.Errorf("metric %q has no name or stands twice", m.Name)
		}
		if m.Better != Higher && m.Better != Lower {
			return fmt.Errorf("metric %q: better is %q, want %q or %q", m.Name, m.Better, Higher, Lower)
		}
		if !Finite(m.Resolution) || m.Resolution < 0 {
			return fmt.Errorf("metric %q: resolution is %v, want a step of at least 0", m.Name, m.Resolution)
		}
		if len(m.Definition) > MaxFact {
			return fmt.Errorf("metric %.80q: its definition has more than %d bytes", m.Name, MaxFact)
		}
		if m.MinCount < 0 || (m.CountedBy == "") != (m.MinCount == 0) {
			return fmt.Errorf("metric %q: counted_by is %q and min_count %v, want both or neither", m.Name, m.CountedBy, m.MinCount)
		}
		if m.ConfirmedBy == m.Name {
			return fmt.Errorf("metric %q confirms itself", m.Name)
		}
		byName[m.Name] = m
	}
	for _, m := range metrics {
		if other, ok := byName[m.FallbackFor]; m.FallbackFor != "" && (!ok || !other.Gates()) {
			return fmt.Errorf("metric %q is a fallback for %q, which is not a metric that is always gated", m.Name, m.FallbackFor)
		}
	}
	return nil
}

// Validate reports what would make a result meaningless on its own: no case
// id, an unknown outcome, numbers that are not finite.
func (r *Result) Validate() error { return r.validate() }

func (r *Result) validate() error {
	if r.Cell.ID() == "" {
		return errors.New("has no case id")
	}
	if !r.Outcome.Valid() {
		return fmt.Errorf("unknown outcome %q", r.Outcome)
	}
	if r.Retries < 0 {
		return fmt.Errorf("was repeated %d times", r.Retries)
	}
	for i, s := range r.Samples {
		if len(r.Samples) > maxMetrics || len(s.Values) > maxValues {
			return fmt.Errorf("metric %q: more than %d metrics or %d values", s.Metric, maxMetrics, maxValues)
		}
		if slices.ContainsFunc(r.Samples[:i], func(o Sample) bool { return o.Metric == s.Metric }) {
			return fmt.Errorf("metric %q stands twice", s.Metric)
		}
		if (s.Summary == nil) == (len(s.Values) == 0) {
			return fmt.Errorf("metric %q needs values or a summary, one of the two", s.Metric)
		}
		for _, v := range s.Values {
			if !Finite(v) {
				return fmt.Errorf("metric %q holds %v, which is not a finite number", s.Metric, v)
			}
		}
		if m := s.Summary; m != nil && !(Finite(m.Median) && Finite(m.MAD) && m.MAD >= 0 && m.N >= 1) {
			return fmt.Errorf("metric %q has a summary that is not finite, or of nothing", s.Metric)
		}
		if err := s.validateEstimates(); err != nil {
			return fmt.Errorf("metric %q: %w", s.Metric, err)
		}
	}
	return r.validateFacts()
}

func (s *Sample) validateEstimates() error {
	if len(s.Estimates) > 0 && len(s.Estimates) != len(s.Values) {
		return fmt.Errorf("has %d estimates for %d values", len(s.Estimates), len(s.Values))
	}
	for _, e := range s.Estimates {
		if e.N < 0 || len(e.Method) > maxName || !Finite(e.Low) || !Finite(e.High) || e.Low > e.High {
			return fmt.Errorf("has an estimate from %d observations with the interval %v to %v", e.N, e.Low, e.High)
		}
	}
	return nil
}

const (
	// MaxFacts bounds each list of what else is said of a result, and MaxFact the
	// bytes of one of them.
	MaxFacts = 4096
	MaxFact  = 64 << 10
	maxName  = 255
)

func (r *Result) validateFacts() error {
	if len(r.Context) > MaxFacts || len(r.Counts) > MaxFacts || len(r.Files) > MaxFacts || len(r.Warnings) > MaxFacts {
		return fmt.Errorf("has more than %d conditions, counts, files or warnings", MaxFacts)
	}
	long := len(r.Doubt) > MaxFact || slices.ContainsFunc(r.Warnings, func(w string) bool { return len(w) > MaxFact })
	for name, value := range r.Context {
		long = long || len(name) > maxName || len(value) > MaxFact
	}
	if long {
		return fmt.Errorf("has a condition, a doubt or a warning of more than %d bytes", MaxFact)
	}
	for name, n := range r.Counts {
		if n < 0 || n > maxCount || len(name) > maxName {
			return fmt.Errorf("counts %d of %.80q", n, name)
		}
	}
	for _, f := range r.Files {
		if err := f.validate(); err != nil {
			return err
		}
	}
	return nil
}

// maxCount keeps sums of counts far from what an int holds.
const maxCount = 1 << 40

// validate demands a name that is one on every system: a file is opened by it.
func (f File) validate() error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) }
	if f.Name == "" || strings.Trim(f.Name, ".") == "" || len(f.Name) > maxName || strings.ContainsFunc(f.Name, odd) {
		return fmt.Errorf("names the file %.80q, want a plain name", f.Name)
	}
	if len(f.SHA256) != 64 || strings.Trim(f.SHA256, "0123456789abcdef") != "" {
		return fmt.Errorf("names the digest %.80q of the file %.80q, want a SHA-256", f.SHA256, f.Name)
	}
	return nil
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
