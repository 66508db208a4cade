package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// MaxRunBytes bounds a run.json: a file from elsewhere must not fill the memory.
const MaxRunBytes = 256 << 20

// DecodeRun reads a Run document, which may come from anywhere, and validates
// it. Unknown fields are refused: a field that is not understood could change
// what the others mean.
func DecodeRun(data []byte) (*Run, error) {
	if len(data) > MaxRunBytes {
		return nil, fmt.Errorf("run document of %d bytes is over the limit of %d", len(data), MaxRunBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var run Run
	if err := decoder.Decode(&run); err != nil {
		return nil, fmt.Errorf("decode run document: %w", err)
	}
	if decoder.More() {
		return nil, errors.New("decode run document: more than one document in the file")
	}
	if err := run.Validate(); err != nil {
		return nil, err
	}
	return &run, nil
}

// Validate reports what would make a comparison meaningless: an unknown
// schema, a case id that stands twice, an unknown outcome or direction, a
// number that is not finite, a passed cell with a sample without values.
func (r *Run) Validate() error {
	if r.Schema != RunSchema {
		return fmt.Errorf("run document has schema %d, this build reads %d: use the accelgate version that wrote it", r.Schema, RunSchema)
	}
	for _, m := range r.Metrics {
		if m.Name == "" || m.Better != Higher && m.Better != Lower {
			return fmt.Errorf("metric %q: better is %q, want %q or %q", m.Name, m.Better, Higher, Lower)
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

func (r *Result) validate() error {
	if !r.Outcome.Valid() {
		return fmt.Errorf("unknown outcome %q", r.Outcome)
	}
	for _, s := range r.Samples {
		if s.Summary == nil && len(s.Values) == 0 {
			return fmt.Errorf("metric %q has no values", s.Metric)
		}
		for _, v := range s.Values {
			if !Finite(v) {
				return fmt.Errorf("metric %q holds %v, which is not a finite number", s.Metric, v)
			}
		}
		if s.Summary != nil && !(Finite(s.Summary.Median) && Finite(s.Summary.MAD)) {
			return fmt.Errorf("metric %q has a summary that is not finite", s.Metric)
		}
	}
	return nil
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
