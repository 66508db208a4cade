package baseline

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Marshal returns the file in its one written form: entries sorted by case id,
// one metric or operator on a line, numbers as short as they read back the
// same, a newline at the end. It fails where [Parse] would refuse the result,
// so what is written can always be read. f is not modified.
func Marshal(f *File) ([]byte, error) {
	data, err := encode(f)
	if err != nil {
		return nil, err
	}
	if _, err := Parse("baseline", data); err != nil {
		return nil, fmt.Errorf("write baseline of %s: it could not be read again: %w", quote(f.HostLabel), err)
	}
	return data, nil
}

func encode(f *File) ([]byte, error) {
	const usual = 700 // bytes of an entry
	e := encoder{make([]byte, 0, usual*(1+len(f.Entries)))}
	e.open('{')
	e.key("  ", "host_label").string(f.HostLabel)
	e.key("  ", "captured_at").time(f.CapturedAt)
	e.key("  ", "commit").optionalString(f.Commit)
	e.key("  ", "notes").optionalString(f.Notes)
	if f.Schema != 0 {
		e.key("  ", "schema").int(int64(f.Schema))
	}
	if f.Fingerprint != nil {
		text, err := f.fingerprint()
		if err != nil {
			return nil, err
		}
		e.key("  ", "fingerprint").raw(text)
	}
	e.optionalNumber("  ", "calibration_ms", f.CalibrationMS)
	e.key("  ", "entries").open('[')
	for _, entry := range sorted(f.Entries, byCaseID) {
		e.item("    ").entry(&entry)
	}
	e.closeLine("  ", ']')
	e.extra("  ", f.extra)
	e.closeLine("", '}')
	return append(e.b, '\n'), nil
}

// sorted returns s itself if it is sorted already.
func sorted[T any](s []T, cmp func(a, b T) int) []T {
	if slices.IsSortedFunc(s, cmp) {
		return s
	}
	s = slices.Clone(s)
	slices.SortStableFunc(s, cmp)
	return s
}

// fingerprint returns the text that was read, unless it was replaced since.
func (f *File) fingerprint() (json.RawMessage, error) {
	if f.machine.text != nil && reflect.DeepEqual(*f.Fingerprint, f.machine.known) {
		return f.machine.text, nil
	}
	text, err := json.Marshal(f.Fingerprint)
	if err != nil {
		return nil, fmt.Errorf("write the fingerprint of %s: %w", quote(f.HostLabel), err)
	}
	return newReader("fingerprint", text).raw(), nil
}

func (e *encoder) entry(entry *Entry) {
	const indent = "      "
	e.open('{')
	e.key(indent, "case_id").string(entry.CaseID)
	e.key(indent, "ok").bool(entry.OK)
	e.key(indent, "correctness_ok")
	if entry.CorrectnessOK == nil {
		e.raw([]byte("null"))
	} else {
		e.bool(*entry.CorrectnessOK)
	}
	for i, value := range entry.classicValues() {
		if *value != nil {
			e.key(indent, classic[i].Name).float(**value)
		}
	}
	e.conditions(entry.Conditions)
	if entry.Artifacts != "" {
		e.key(indent, "artifacts").string(entry.Artifacts)
	}
	if entry.Suite != "" {
		e.key(indent, "suite").string(entry.Suite)
	}
	e.metrics(entry.Metrics)
	e.operators(entry.Operators)
	if entry.Anchor != nil {
		e.key(indent, "anchor").anchor(entry.Anchor)
	}
	e.extra(indent, entry.extra)
	e.closeLine("    ", '}')
}

func (e *encoder) metrics(metrics []Metric) {
	if len(metrics) == 0 {
		return
	}
	e.key("      ", "metrics").open('{')
	for _, m := range sorted(metrics, byName) {
		e.key("        ", m.Name).metric(&m)
	}
	e.closeLine("      ", '}')
}

func (e *encoder) metric(m *Metric) {
	e.open('{')
	e.key("", "median").float(m.Median)
	e.key("", "mad").float(m.MAD)
	e.key("", "n").int(int64(m.N))
	e.optionalNumber("", "noise", m.Noise)
	e.optionalNumber("", "mde", m.MDE)
	e.optionalNumber("", "stderr", m.StdErr)
	e.optional("better", string(m.Better))
	e.optional("unit", m.Unit)
	e.optional("kind", m.Kind.String())
	e.optionalNumber("", "resolution", m.Resolution)
	e.optionalNumber("", "explains", m.Explains)
	e.optionalFlag("exact", m.Exact)
	e.optionalFlag("informational", m.Informational)
	e.optionalFlag("counted", m.Counted)
	e.optional("fallback_for", m.FallbackFor)
	e.optional("confirmed_by", m.ConfirmedBy)
	e.optional("counted_by", m.CountedBy)
	if m.MinCount != 0 {
		e.key("", "min_count").int(int64(m.MinCount))
	}
	e.extra("", m.others())
	e.close('}')
}

func (e *encoder) operators(operators []Operator) {
	if len(operators) == 0 {
		return
	}
	e.key("      ", "operators").open('[')
	for _, op := range operators {
		e.item("        ").open('{')
		e.key("", "name").string(op.Name)
		e.key("", "total_ms").float(op.TotalMS)
		e.key("", "calls").int(op.Calls)
		e.extra("", op.extra)
		e.close('}')
	}
	e.closeLine("      ", ']')
}

func (e *encoder) conditions(conditions map[string]string) {
	if len(conditions) == 0 {
		return
	}
	e.key("      ", "conditions").open('{')
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		e.key("", name).string(conditions[name])
	}
	e.close('}')
}

func (e *encoder) anchor(a *Anchor) {
	e.open('{')
	e.key("", "captured_at").time(a.CapturedAt)
	e.key("", "commit").string(a.Commit)
	e.key("", "metrics").open('{')
	for _, m := range a.Metrics {
		e.key("", m.Name).float(m.Median)
	}
	e.close('}')
	e.extra("", a.extra)
	e.close('}')
}
