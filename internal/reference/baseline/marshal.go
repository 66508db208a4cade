package baseline

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// Marshal returns the file in its one written form: entries sorted by case id,
// one on a line but for its operators, what all say of a metric once, numbers as short
// as they read back the same, a newline at the end. It fails where [Parse] would refuse the result,
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
	const usual = 300 // bytes of an entry
	entries := sorted(f.Entries, byCaseID)
	e := encoder{make([]byte, 0, usual*(1+len(entries))), descriptions(entries)}
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
	e.descriptions(f.extraOf)
	e.key("  ", "entries").open('[')
	for i := range entries {
		e.item("    ").entry(&entries[i])
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
	e.open('{')
	e.key("", "case_id").string(entry.CaseID)
	e.key("", "ok").bool(entry.OK)
	if entry.CorrectnessOK != nil {
		e.key("", "correctness_ok").bool(*entry.CorrectnessOK)
	}
	for i, value := range entry.classicValues() {
		if *value != nil {
			e.key("", classic[i].Name).float(**value)
		}
	}
	e.conditions(entry.Conditions)
	e.optional("artifacts", entry.Artifacts)
	e.optional("suite", entry.Suite)
	e.metrics(entry.Metrics)
	if !entry.anchoredHere() {
		e.key("", "anchor").anchor(entry.Anchor)
	}
	e.operators(entry.Operators)
	e.extra("", entry.extra)
	e.close('}')
}

// descriptions are what metrics are, as the first entry of each says.
func descriptions(entries []Entry) map[string]*bench.Metric {
	first := map[string]*bench.Metric{}
	for i := range entries {
		for _, m := range entries[i].Metrics {
			if first[m.Name] == nil {
				first[m.Name] = m.Metric
			}
		}
	}
	return first
}

func (e *encoder) descriptions(extra map[string][]unknown) {
	if len(e.described) == 0 {
		return
	}
	e.key("  ", "descriptions").open('{')
	for _, name := range slices.Sorted(maps.Keys(e.described)) {
		e.key("    ", name).open('{')
		e.meaning(e.described[name])
		e.extra("", extra[name])
		e.close('}')
	}
	e.closeLine("  ", '}')
}

func (e *encoder) metrics(metrics []Metric) {
	if len(metrics) == 0 {
		return
	}
	e.key("", "metrics").open('{')
	for _, m := range sorted(metrics, byName) {
		e.key("", m.Name).metric(&m)
	}
	e.close('}')
}

func (e *encoder) metric(m *Metric) {
	e.open('{')
	e.key("", "median").float(m.Median)
	e.key("", "mad").float(m.MAD)
	e.key("", "n").int(int64(m.N))
	e.optionalNumber("", "noise", m.Noise)
	e.optionalNumber("", "mde", m.MDE)
	e.optionalNumber("", "stderr", m.StdErr)
	if first := e.described[m.Name]; m.Metric != first && *m.Metric != *first {
		e.meaning(m.Metric)
	}
	e.extra("", m.others())
	e.close('}')
}

// meaning writes what a metric is.
func (e *encoder) meaning(m *bench.Metric) {
	e.key("", "better").string(string(m.Better))
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
}

func (e *encoder) operators(operators []Operator) {
	if len(operators) == 0 {
		return
	}
	e.key("", "operators").open('[')
	for _, op := range operators {
		e.item("      ").open('{')
		e.key("", "name").string(op.Name)
		e.key("", "total_ms").float(op.TotalMS)
		e.key("", "calls").int(op.Calls)
		e.extra("", op.extra)
		e.close('}')
	}
	e.closeLine("    ", ']')
}

func (e *encoder) conditions(conditions map[string]string) {
	if len(conditions) == 0 {
		return
	}
	e.key("", "conditions").open('{')
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
