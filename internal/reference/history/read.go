package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text/jsonread"
)

// Load reads the file at path, which need not be one of ours. An absent file is
// [os.ErrNotExist].
func Load(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fmt.Errorf("read the history: %s is not a file: name one that 'accelgate history record' wrote", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer file.Close()
	return Read(path, file)
}

// Read reads a history under a name for its errors. It is strict: what is not
// understood could change what the rest means. Only a last line without its end
// is nothing, because a writer was cut off in it.
func Read(name string, from io.Reader) (*File, error) {
	r := reader{File: &File{}}
	lines := bufio.NewReaderSize(io.LimitReader(from, MaxBytes+1), 1<<20)
	var line []byte
	size := 0
	for n := int32(1); ; n++ {
		var err error
		line, err = readLine(lines, line[:0])
		size += len(line)
		switch {
		case size > MaxBytes:
			return nil, fmt.Errorf("%s is larger than %d bytes: remove its first lines, which are the oldest runs", name, MaxBytes)
		case err == io.EOF:
			return r.File, nil
		case err != nil:
			return nil, fmt.Errorf("read the history %s: %w", name, err)
		case n > maxLines:
			return nil, fmt.Errorf("%s has more than %d lines: remove the first ones, which are the oldest runs", name, maxLines)
		}
		if err := r.line(n, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: remove the line, or the file, and record runs again", name, n, err)
		}
	}
}

// readLine appends the next line, whose end is missing only where there is an
// error.
func readLine(from *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// reader is a file that is being read.
type reader struct {
	*File
	json    jsonread.Reader
	last    []int32 // line that had an id last, by its place
	headers int     // bytes of members but cells, of all lines
	values  int     // of all lines above
}

// line reads one run. Runs stand in the order in which they started.
func (f *reader) line(n int32, text []byte) error {
	r, c := f.sized(), &f.json
	c.Open(text)
	seen := map[string]bool{}
	err := c.Object(func(key []byte) error {
		if seen[string(key)] {
			return fmt.Errorf("%.80q occurs twice", key)
		}
		seen[string(key)] = true
		if name := string(key); name == healthyCells || name == unhealthyCells {
			return f.cells(n, c, &r, name == unhealthyCells)
		}
		text, err := c.ReadValue()
		if err != nil {
			return err
		}
		if f.headers += len(text); f.headers > maxHeaders {
			return fmt.Errorf("has metrics and conditions that, with those above it, take more than %d bytes", maxHeaders)
		}
		if len(text) > maxMember && string(key) != "conditions" {
			return fmt.Errorf("%.80q takes more than %d bytes", key, maxMember)
		}
		return r.member(string(key), text)
	})
	if err == nil {
		err = c.End()
	}
	if jsonread.Malformed(err) || !utf8.Valid(text) {
		return errors.New("is not JSON")
	}
	if err == nil {
		err = r.validate(f.ids)
	}
	if err == nil && r.Failed != nil {
		f.failedLine(&r)
		return nil
	}
	if n := len(f.runs); err == nil && n > 0 && f.runs[n-1].Started.After(r.Started) {
		err = errors.New("started before the line above it")
	}
	f.runs = append(f.runs, r)
	f.values += len(r.values)
	f.passed(&r)
	return err
}

// sized is an empty run with room for as much as the one before it has.
func (f *reader) sized() (r run) {
	if n := len(f.runs); n > 0 {
		last := &f.runs[n-1]
		r.cells, r.spans = make([]cell, 0, len(last.cells)), make([]span, 0, len(last.spans))
		r.values = make([]float64, 0, len(last.values))
	}
	return r
}

// member reads one member of the header.
func (r *run) member(key string, text []byte) error {
	into, ok := map[string]any{
		"schema": &r.Schema, "revision": &r.Revision, "started": &r.Started, "fingerprint": &r.Fingerprint,
		"calibration_ms": &r.Calibration, "metrics": &r.Metrics, "conditions": &r.Conditions,
		"wall_ms": &r.Wall, "devices": &r.Devices, "on": &r.On, "accepted": &r.Accepted, "partial": &r.Partial, "suites": &r.Suites,
		"failed": &r.Failed,
	}[key]
	if !ok {
		return fmt.Errorf("%.80q is not known to this build", key)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: %.200s", key, err)
	}
	return nil
}

// cells reads {"id":[[metric,value...]...]...}.
func (f *reader) cells(line int32, c *jsonread.Reader, r *run, unhealthy bool) error {
	return c.Object(func(key []byte) error {
		id := f.intern(key)
		if int(id) == len(f.last) {
			f.last = append(f.last, 0)
		}
		if f.last[id] == line {
			return fmt.Errorf("cell %.80q occurs twice", key)
		}
		f.last[id] = line
		if len(r.cells) == maxCells || len(f.ids) > maxIDs {
			return fmt.Errorf("has more than %d cells, or the file more than %d different ones", maxCells, maxIDs)
		}
		conditions, err := r.spansOf(c)
		if err != nil {
			return fmt.Errorf("cell %.80q: %w", f.ids[id], err)
		}
		if f.values+len(r.values) > maxAllValues {
			return fmt.Errorf("has values that, with those above it, are more than %d", maxAllValues)
		}
		r.cells = append(r.cells, cell{id, int32(len(r.spans)), conditions, unhealthy})
		return nil
	})
}

// spansOf reads the list of a cell, and returns the place of its conditions.
func (r *run) spansOf(c *jsonread.Reader) (conditions int32, err error) {
	conditions = -1
	n := 0
	err = c.List(func() error {
		if n++; n > 1 || c.PeekKind() == '[' {
			return r.span(c)
		}
		v, err := c.Number()
		if err == nil && (v != math.Trunc(v) || v < 0 || v >= maxConditions) {
			err = errors.New("begins with a number that is not a place of conditions")
		}
		conditions = int32(v)
		return err
	})
	return conditions, err
}

// span reads [metric,value...].
func (r *run) span(c *jsonread.Reader) error {
	first, from := true, len(r.values)
	var metric float64
	err := c.List(func() error {
		v, err := c.Number()
		if err != nil {
			return err
		}
		if first {
			first, metric = false, v
			return nil
		}
		if len(r.values)-from == maxValues {
			return fmt.Errorf("has more than %d values", maxValues)
		}
		r.values = append(r.values, v)
		return nil
	})
	if err != nil {
		return err
	}
	if metric != math.Trunc(metric) || metric < 0 || metric >= maxMetrics || len(r.values) == from {
		return errors.New("has a list that is not the place of a metric and at least one value")
	}
	r.spans = append(r.spans, span{int32(metric), int32(len(r.values))})
	return nil
}

// validate reports what would make a run meaningless.
func (r *run) validate(ids []string) error {
	switch {
	case r.Schema != schema:
		return fmt.Errorf("has schema %d, this build reads %d: use the accelgate version that wrote it", r.Schema, schema)
	case r.Started.IsZero():
		return errors.New("does not state when the run started")
	case len(r.Revision) > maxName || len(r.Metrics) > maxMetrics || len(r.Conditions) > maxConditions:
		return fmt.Errorf("has too long a commit, more than %d metrics, or more than %d different conditions", maxMetrics, maxConditions)
	case len(r.Fingerprint.Accelerators) > maxDevices || !bench.Finite(r.Fingerprint.MemoryGiB):
		return fmt.Errorf("names more than %d devices", maxDevices)
	case !bench.Finite(r.Calibration) || r.Calibration < 0:
		return fmt.Errorf("has a calibration of %v ms", r.Calibration)
	}
	if err := cmp.Or(validMetrics(r.Metrics), r.validReference(), r.took.valid(len(r.cells))); err != nil {
		return err
	}
	return r.validCells(ids)
}

func validMetrics(metrics []metric) error {
	names := map[string]bool{}
	for _, m := range metrics {
		if m.Name == "" || names[m.Name] || len(m.Name) > maxName || len(m.Unit) > maxName {
			return fmt.Errorf("metric %.80q has no name, occurs twice, or is named too long", m.Name)
		}
		if m.Better != bench.Higher && m.Better != bench.Lower {
			return fmt.Errorf("metric %.80q: better is %.80q, want %q or %q", m.Name, m.Better, bench.Higher, bench.Lower)
		}
		names[m.Name] = true
	}
	return nil
}

// validCells demands known metrics, each once, in their order.
func (r *run) validCells(ids []string) error {
	for n, c := range r.cells {
		id := ids[c.id]
		if id == "" || len(id) > bench.MaxID {
			return fmt.Errorf("cell %.80q has no id, or one of more than %d bytes", id, bench.MaxID)
		}
		if int(c.conditions) >= len(r.Conditions) {
			return fmt.Errorf("cell %.80q has conditions %d of %d", id, c.conditions, len(r.Conditions))
		}
		spans, _ := r.of(n)
		last := int32(-1)
		for _, s := range spans {
			if s.metric <= last || int(s.metric) >= len(r.Metrics) {
				return fmt.Errorf("cell %.80q has metric %d of %d out of order, twice or not at all", id, s.metric, len(r.Metrics))
			}
			last = s.metric
		}
	}
	return nil
}
