// Package inferencebench reads and writes the result files of InferenceBench
// (github.com/yobitelcomm/bench, version 0.1.0, Apache-2.0): envelopes of
// version v1. It has their fields, their hashes and their directions, and
// views an envelope as a Run and a Run as an envelope. It judges nothing and
// checks no signature.
//
// What it writes is a superset of v1: members that begin with "x_" hold what a
// Run has and v1 lacks, and the original ignores them.
package inferencebench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fields are those members of an envelope that say what was measured. A text
// is "" where the envelope has none; placeholders are kept, see [Unknown].
type Fields struct {
	SuiteID, SuiteVersion string
	RunID                 string // UUID
	Timestamp             string // RFC 3339
	Model                 struct{ ID, Revision, Provider, EndpointHash string }
	Engine                struct{ Name, Version, ConfigHash, ImageDigest string }
	Quantization          struct{ Format, Method string }
	Fingerprint           string // fingerprint_sha256 of the hardware
	Dataset               struct{ ID, Hash string }
	Seed                  string // an integer of any size, as it is spelled
	SoftwareProvenance    struct{ GitCommit string }
	SLOTemplate           string
	// DriverOptions is an object in canonical form, so that equal options are
	// equal bytes; nil if there are none. Python may have put NaN into it, which
	// encoding/json refuses.
	DriverOptions json.RawMessage
	Warnings      []string
}

// Metric is one entry of metrics.
type Metric struct {
	Name string
	// Value is in the unit that [Unit] says. It may be infinite; it is NaN if
	// Has is false.
	Value float64
	Has   bool // false for a null, a text and NaN
	// Text is the text of a text, the spelling of a number, "" for null.
	Text string
}

// Envelope is one file. It is not changed after Parse, and so safe for
// concurrent use.
type Envelope struct {
	Fields
	Metrics []Metric // sorted by name
	// Extra holds the top-level members that v1 does not know, in canonical
	// form.
	Extra map[string]json.RawMessage

	body value
}

const (
	schema     = "v1"
	maxMetrics = 4096
	maxName    = 256 // bytes of a metric's name
	maxNotes   = 1000
)

// IsEnvelope reports whether data is an object with a member
// envelope_version. It looks at the top level only and does not validate.
func IsEnvelope(data []byte) bool {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if !bytes.HasPrefix(data, []byte("{")) {
		return false
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := stringEnd(data, i)
			if depth == 1 && string(data[i:end]) == `"envelope_version"` &&
				bytes.HasPrefix(bytes.TrimLeft(data[end:], " \t\r\n"), []byte(":")) {
				return true
			}
			i = end - 1
		}
	}
	return false
}

// stringEnd returns the position behind the string that starts at i, or the
// end of data.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// Parse reads an envelope, which may come from anywhere. Members that v1 does
// not know are allowed and kept; a member that v1 demands and that is missing
// or against v1 is an error, which names it.
func Parse(data []byte) (*Envelope, error) {
	body, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	e := &Envelope{body: body}
	if err := e.fill(); err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return e, nil
}

func (e *Envelope) fill() error {
	v, ok := e.body.get("envelope_version")
	if !ok {
		return errors.New("envelope_version is missing: see whether this is the right file")
	}
	if v.kind != str || v.text != schema {
		return fmt.Errorf("envelope_version is %.40q, this build reads %q: use a file of that version", v.plain(), schema)
	}
	for _, d := range fields {
		if err := d.take(e.body, &e.Fields); err != nil {
			return err
		}
	}
	if options, ok := e.body.get("driver_options"); ok && options.kind == object {
		e.DriverOptions = options.canonical()
	}
	if err := e.fillWarnings(); err != nil {
		return err
	}
	e.fillExtra()
	return e.fillMetrics()
}

func (e *Envelope) fillWarnings() error {
	list, _ := e.body.get("warnings")
	if len(list.items) > maxNotes {
		return fmt.Errorf("warnings are %d, which is more than %d: see what wrote them", len(list.items), maxNotes)
	}
	for _, w := range list.items {
		if w.kind != str || len(w.text) > maxText {
			return fmt.Errorf("warnings hold %s or a text of more than %d bytes: write short texts", w.kind, maxText)
		}
		e.Warnings = append(e.Warnings, w.plain())
	}
	return nil
}

func (e *Envelope) fillExtra() {
	e.Extra = map[string]json.RawMessage{}
	for i, key := range e.body.keys {
		known := func(d field) bool { top, _, _ := strings.Cut(d.path, "."); return top == key }
		if key != "envelope_version" && !slices.ContainsFunc(fields, known) {
			e.Extra[key] = e.body.items[i].canonical()
		}
	}
}

func (e *Envelope) fillMetrics() error {
	metrics, _ := e.body.get("metrics")
	if n := len(metrics.keys); n == 0 || n > maxMetrics {
		return fmt.Errorf("metrics has %d entries: v1 demands one, and this build reads up to %d: write the others to a second envelope", n,
			maxMetrics)
	}
	for i, name := range metrics.keys {
		if name == "" || len(name) > maxName || !utf8.ValidString(name) {
			return fmt.Errorf("metrics has the name %.40q: write 1 to %d bytes of text", name, maxName)
		}
		m := Metric{Name: name, Value: math.NaN()}
		switch v := metrics.items[i]; v.kind {
		case null:
		case str:
			m.Text = v.plain()
		case number:
			m.Value, _ = v.float()
			m.Text, m.Has = v.text, !math.IsNaN(m.Value)
		default:
			return fmt.Errorf("metrics.%s is %s: write a number, a text or null", name, v.kind)
		}
		e.Metrics = append(e.Metrics, m)
	}
	slices.SortFunc(e.Metrics, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
