package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a Run document: a file from elsewhere must not fill the memory.
const (
	MaxRunBytes = 256 << 20
	maxResults  = 500_000
	maxMetrics  = 1000
	maxValues   = 1000 // the most repeats that a suite may ask for
	minResult   = 100  // bytes that one in a long list takes: fewer get no room beforehand
)

// DecodeRun reads a Run document, which may come from anywhere, and validates
// it. Unknown fields are refused: a field that is not understood could change
// what the others mean. So are keys that stand twice, of which readers choose
// different ones. The error quotes foreign text, cut short, and is one line.
func DecodeRun(data []byte) (*Run, error) {
	if len(data) > MaxRunBytes {
		return nil, fmt.Errorf("run document of %d bytes is over the limit of %d", len(data), MaxRunBytes)
	}
	n, err := scanDocument(data)
	if err != nil {
		return nil, fmt.Errorf("decode run document: %w", err)
	}
	type plain Run
	document := struct {
		*plain
		Results results `json:"results"` // hides the field of plain
	}{plain: new(plain)}
	document.Results.n = min(n, len(data)/minResult)
	if err := json.Unmarshal(data, &document, strictly, compact()); err != nil {
		return nil, fmt.Errorf("decode run document: %w", inOurWords(err))
	}
	run := (*Run)(document.plain)
	run.Results = document.Results.list
	if err := run.validate(); err != nil { // each result was validated when it was read
		return nil, err
	}
	return run, nil
}

// inOurWords names the place and the kind of a value that does not fit, without the types of this program. The
// package's own words differ from run to run.
func inOurWords(err error) error {
	var s *json.SemanticError
	if !errors.As(err, &s) {
		return err
	}
	for inner := s; errors.As(s.Err, &inner); {
		s = inner
	}
	switch {
	case errors.Is(s.Err, json.ErrUnknownName):
		return fmt.Errorf("unknown field %.80q at %.120q", s.JSONPointer.LastToken(), s.JSONPointer.Parent())
	case s.JSONKind != 0 && s.Err == nil:
		return fmt.Errorf("a %v does not fit at %.120q", s.JSONKind, s.JSONPointer)
	case s.JSONKind != 0:
		return fmt.Errorf("a %v does not fit at %.120q: %w", s.JSONKind, s.JSONPointer, s.Err)
	}
	return s.Err
}

// strictly refuses fields that are unknown or in another letter case. [scanDocument] refuses the rest: keys that
// stand twice, whose message names them, and null.
var strictly = json.JoinOptions(json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true))

// compact decodes lists of samples without room to grow, which would take as much again.
func compact() json.Options {
	var scratch []Sample
	return json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, samples *[]Sample) error {
		if d.PeekKind() != '[' {
			return json.SkipFunc
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		scratch = scratch[:0]
		for d.PeekKind() != ']' {
			scratch = append(scratch, Sample{})
			if err := json.UnmarshalDecode(d, &scratch[len(scratch)-1]); err != nil {
				return err
			}
		}
		*samples = slices.Clone(scratch)
		_, err := d.ReadToken()
		return err
	}))
}

// results are decoded and validated one by one: two bytes of input make a
// whole empty Result, and a list of millions of them must end at the first.
type results struct {
	list []Result
	n    int // to expect
}

// UnmarshalJSONFrom decodes a list of results.
func (rs *results) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	start, err := d.ReadToken()
	if err != nil || start.Kind() == 'n' { // null is how none are written
		return err
	}
	if start.Kind() != '[' {
		return errors.New("results must be a list")
	}
	rs.list = make([]Result, 0, rs.n)
	for d.PeekKind() != ']' {
		if len(rs.list) == maxResults {
			return fmt.Errorf("more than %d results", maxResults)
		}
		rs.list = append(rs.list, Result{})
		r := &rs.list[len(rs.list)-1]
		if err := json.UnmarshalDecode(d, r, strictly); err != nil {
			return err
		}
		if err := r.validate(); err != nil {
			return fmt.Errorf("result %d: %w", len(rs.list)-1, err)
		}
	}
	_, err = d.ReadToken()
	return err
}

// Validate reports what would make a comparison meaningless: an unknown
// schema, a case id or metric that stands twice, an unknown outcome or
// direction, a metric that is a fallback for one that cannot be gated, a number
// that is not finite, a sample without values.
func (r *Run) Validate() error {
	if err := r.validate(); err != nil {
		return err
	}
	for i := range r.Results {
		if err := r.Results[i].validate(); err != nil {
			return fmt.Errorf("result %.80q: %w", r.Results[i].Cell.ID(), err)
		}
	}
	return nil
}

// validate is Validate without what is wrong within a result.
func (r *Run) validate() error {
	if r.Schema != RunSchema {
		return fmt.Errorf("run document has schema %d, this build reads %d: use the accelgate version that wrote it", r.Schema, RunSchema)
	}
	if err := validateMetrics(r.Metrics); err != nil {
		return err
	}
	if err := validateShards(r.Shards); err != nil {
		return err
	}
	if err := r.validateFacts(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(r.Results))
	for i := range r.Results {
		id := r.Results[i].Cell.ID()
		if id == "" || seen[id] {
			return fmt.Errorf("result %d: case id %.80q is empty or occurs twice", i, id)
		}
		seen[id] = true
	}
	return nil
}

// validateFacts checks what is said of the run as a whole.
func (r *Run) validateFacts() error {
	if r.Host.Cores < 0 || r.Host.Cores > maxCount || !Finite(r.Host.MemoryGiB) || len(r.Host.Accelerators) > maxAccelerators {
		return fmt.Errorf("host has %d cores, %v GiB and %d accelerators", r.Host.Cores, r.Host.MemoryGiB, len(r.Host.Accelerators))
	}
	if len(r.Context) > MaxFacts {
		return fmt.Errorf("has more than %d conditions", MaxFacts)
	}
	for name, value := range r.Context {
		if len(name) > maxName || len(value) > MaxFact {
			return fmt.Errorf("condition %.80q has a name of more than %d bytes, or a value of more than %d", name, maxName, MaxFact)
		}
	}
	if r.Calibration != nil {
		if err := r.Calibration.validate(); err != nil {
			return err
		}
	}
	for _, l := range r.LeftOut {
		if l.Cell == "" || len(l.Cell) > MaxID {
			return fmt.Errorf("a cell that was left out has no id, or one of more than %d bytes", MaxID)
		}
	}
	for _, id := range r.Unselected {
		if id == "" || len(id) > MaxID {
			return fmt.Errorf("a cell that was not selected has no id, or one of more than %d bytes", MaxID)
		}
	}
	return nil
}

const (
	maxShards       = 256
	maxAccelerators = 1024
)

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
		if max(len(m.Name), len(m.Unit), len(m.FallbackFor), len(m.CountedBy), len(m.ConfirmedBy)) > maxName {
			return fmt.Errorf("metric %.80q: a name or a unit has more than %d bytes", m.Name, maxName)
		}
		if _, twice := byName[m.Name]; twice || m.Name == "" {
			return fmt.Errorf("metric %q has no name or occurs twice", m.Name)
		}
		if m.Better != Higher && m.Better != Lower {
			return fmt.Errorf("metric %q: better is %.80q, want %q or %q", m.Name, m.Better, Higher, Lower)
		}
		if !Finite(m.Explains) || m.Explains < 0 {
			return fmt.Errorf("metric %q: explains is %v, want a change of at least 0", m.Name, m.Explains)
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
	switch id := r.Cell.ID(); {
	case id == "":
		return errors.New("has no case id")
	case len(id) > MaxID:
		return fmt.Errorf("has a case id of more than %d bytes", MaxID)
	}
	if !r.Outcome.Valid() {
		return fmt.Errorf("unknown outcome %.80q", r.Outcome)
	}
	if r.Checked != "" && !slices.Contains(CheckKinds, r.Checked) {
		return fmt.Errorf("was checked for an unknown %.80q", r.Checked)
	}
	if r.Retries < 0 || r.Retries > maxCount || !Finite(r.WallMS) || r.WallMS < 0 {
		return fmt.Errorf("was repeated %d times and took %v ms", r.Retries, r.WallMS)
	}
	if len(r.Tokens) > MaxTokens {
		return fmt.Errorf("has more than %d token ids", MaxTokens)
	}
	if max(len(r.Samples), len(r.Resources)) > maxMetrics {
		return fmt.Errorf("has more than %d metrics", maxMetrics)
	}
	if r.Selected < 0 || r.Selected > maxValues || len(r.Artifacts) > maxName {
		return fmt.Errorf("was selected by %d values, of artifacts %.80q", r.Selected, r.Artifacts)
	}
	if r.Sessions < 0 || r.Sessions > maxValues {
		return fmt.Errorf("is of %d sessions", r.Sessions)
	}
	if r.Health != nil {
		if err := r.Health.validate(); err != nil {
			return err
		}
	}
	for _, samples := range [][]Sample{r.Samples, r.Resources} {
		if err := validateSamples(samples); err != nil {
			return err
		}
	}
	if err := r.validateAbsent(); err != nil {
		return err
	}
	if err := r.validateBreakdowns(); err != nil {
		return err
	}
	if err := r.validateCurve(); err != nil {
		return err
	}
	return r.validateFacts()
}

// repeats reports whether one of the samples before i is of the same metric. seen is for lists that are too long to look through.
func repeats(samples []Sample, i int, seen map[string]bool) (again bool) {
	name := samples[i].Metric
	if len(samples) > 32 {
		again, seen[name] = seen[name], true
		return again
	}
	for k := range i {
		again = again || samples[k].Metric == name
	}
	return again
}

func validateSamples(samples []Sample) error {
	seen := map[string]bool{}
	for i := range samples {
		s := &samples[i]
		if len(s.Metric) > maxName || len(s.Values) > maxValues || len(s.Caveat) > MaxFact {
			return fmt.Errorf("metric %.80q: a name of more than %d bytes or more than %d values", s.Metric, maxName, maxValues)
		}
		if repeats(samples, i, seen) {
			return fmt.Errorf("metric %q occurs twice", s.Metric)
		}
		if (s.Summary == nil) == (len(s.Values) == 0) {
			return fmt.Errorf("metric %q needs values or a summary, one of the two", s.Metric)
		}
		if len(s.Base) > len(s.Values) {
			return fmt.Errorf("metric %q has %d values of the base for %d of its own", s.Metric, len(s.Base), len(s.Values))
		}
		for _, values := range [][]float64{s.Values, s.Base} {
			if i := slices.IndexFunc(values, func(v float64) bool { return !Finite(v) }); i >= 0 {
				return fmt.Errorf("metric %q holds %v, which is not a finite number", s.Metric, values[i])
			}
		}
		if m := s.Summary; m != nil && !(Finite(m.Median) && Finite(m.MAD) && m.MAD >= 0 && m.N >= 1 && m.N <= maxCount) {
			return fmt.Errorf("metric %q has a summary that is not finite, of nothing, or of more than %d values", s.Metric, maxCount)
		}
		if m := s.Summary; m != nil &&
			!(Finite(m.Noise) && m.Noise >= 0 && Finite(m.MDE) && m.MDE >= 0 && Finite(m.StdErr) && m.StdErr >= 0) {
			return fmt.Errorf("metric %q has a noise of %v and finds changes from %v on, which cannot be", s.Metric, m.Noise, m.MDE)
		}
		if err := s.validateEstimates(); err != nil {
			return fmt.Errorf("metric %q: %w", s.Metric, err)
		}
	}
	return nil
}

// MaxTokens bounds the token ids that a result keeps, which is more than a
// configuration can list.
const MaxTokens = 30_000

const (
	maxBreakdowns = 100
	maxEntries    = 100_000
	maxCalls      = 1 << 53 // what a float64 counts
)

func (r *Result) validateBreakdowns() error {
	if len(r.Breakdowns) > maxBreakdowns {
		return fmt.Errorf("has more than %d breakdowns", maxBreakdowns)
	}
	for _, b := range r.Breakdowns {
		if len(b.Entries) > maxEntries {
			return fmt.Errorf("breakdown %.80q has more than %d entries", b.Title, maxEntries)
		}
		for _, e := range b.Entries {
			if e == (Entry{}) || !Finite(e.Total) || e.Calls < 0 || e.Calls > maxCalls {
				return fmt.Errorf("breakdown %.80q: %.80q took %v in %d calls", b.Title, e.Name, e.Total, e.Calls)
			}
		}
	}
	return nil
}

func (s *Sample) validateEstimates() error {
	if len(s.Estimates) > 0 && len(s.Estimates) != len(s.Values) {
		return fmt.Errorf("has %d estimates for %d values", len(s.Estimates), len(s.Values))
	}
	for _, e := range s.Estimates {
		if e.N < 0 || e.N > maxCount || len(e.Method) > maxName || !Finite(e.Low) || !Finite(e.High) || e.Low > e.High {
			return fmt.Errorf("has an estimate from %d observations with the interval %v to %v", e.N, e.Low, e.High)
		}
	}
	return nil
}

const (
	// MaxFacts bounds each list of further facts of a result, and MaxFact the
	// bytes of one of them.
	MaxFacts = 4096
	MaxFact  = 64 << 10
	// MaxID bounds the bytes of a case id.
	MaxID   = 4096
	maxName = 255
)

func (r *Result) validateFacts() error {
	if max(len(r.Context), len(r.Conditions), len(r.Counts), len(r.Files), len(r.Warnings)) > MaxFacts {
		return fmt.Errorf("has more than %d conditions, counts, files or warnings", MaxFacts)
	}
	long := len(r.Caveat) > MaxFact || slices.ContainsFunc(r.Warnings, func(w string) bool { return len(w) > MaxFact })
	for _, facts := range []map[string]string{r.Context, r.Conditions} {
		for name, value := range facts {
			long = long || len(name) > maxName || len(value) > MaxFact
		}
	}
	if long {
		return fmt.Errorf("has a condition, a caveat or a warning of more than %d bytes", MaxFact)
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

// FiniteOrZero returns a number that documents can hold: 0 in place of one that they cannot.
func FiniteOrZero(v float64) float64 {
	if !Finite(v) {
		return 0
	}
	return v
}
