package inferencebench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// FromRun writes a Run with one result as an envelope, which [Parse] reads and
// [Envelope.Run] turns back into the same metrics, values and conditions. The
// same arguments yield the same bytes.
//
// Fields of base win; what base leaves empty comes from the Run's Context, by
// the names that [Envelope.Run] lists, from Started, Revision and Host. Every
// other condition is a driver option. An unknown value that v1 demands is
// written as the original's placeholder and listed in warnings and in
// x_placeholders. Shards, breakdowns, answers and logs are not written. The
// envelope is not signed.
//
// It is an error if the run does not validate, has not exactly one result, or
// has no number.
func FromRun(run *bench.Run, base Fields) ([]byte, error) {
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("write envelope: %w", err)
	}
	if n := len(run.Results); n != 1 {
		return nil, fmt.Errorf("write envelope: the run has %d cells and an envelope holds one: write one envelope for each cell", n)
	}
	if n := len(run.Context) + len(run.Results[0].Facts()); n > maxConditions {
		return nil, fmt.Errorf("write envelope: the run has %d conditions, more than %d: see what wrote them", n, maxConditions)
	}
	w := writer{run: withCellContext(run), base: base}
	data, err := w.write()
	if err != nil {
		return nil, fmt.Errorf("write envelope: %w", err)
	}
	if _, err := Parse(data); err != nil {
		return nil, fmt.Errorf("write envelope: this run does not fit into one: %w", err)
	}
	return data, nil
}

const maxConditions = 4096

// withCellContext returns the run of one result with that result's conditions
// among its own: an envelope has one place for both.
func withCellContext(run *bench.Run) *bench.Run {
	of := run.Results[0].Facts()
	if len(of) == 0 {
		return run
	}
	joined := *run
	joined.Context = make(map[string]string, len(run.Context)+len(of))
	maps.Copy(joined.Context, run.Context)
	maps.Copy(joined.Context, of)
	return &joined
}

type writer struct {
	run     *bench.Run
	base    Fields
	body    value
	unknown []string // paths of fields that hold placeholders
}

func (w *writer) write() ([]byte, error) {
	if err := w.complete(); err != nil {
		return nil, err
	}
	w.body.set("envelope_version", textValue(schema))
	options, err := w.options()
	if err != nil {
		return nil, err
	}
	for _, d := range fields {
		v := w.value(d)
		if d.path == "driver_options" {
			v = options
		}
		w.body.set(d.path, v)
	}
	if w.base.Quantization.Format == "" && w.base.Quantization.Method == "" {
		w.body.set("quantization", value{})
	}
	w.identify()
	if err := w.metrics(); err != nil {
		return nil, err
	}
	if err := w.extras(); err != nil {
		return nil, err
	}
	w.warnings()
	w.keepContext()
	if w.base.RunID == "" {
		w.body.set("run_id", textValue(runID(w.run.Started, w.body.canonical())))
	}
	return w.body.indented(), nil
}

// complete fills in those fields of base that the Run has and that v1
// accepts.
func (w *writer) complete() error {
	for _, d := range fields {
		if d.of == nil {
			continue
		}
		if given := *d.of(&w.base); given != "" {
			if !d.accepts(given) {
				return fmt.Errorf("%s is %.100q: %s", d.path, given, d.rule.want)
			}
			continue
		}
		v := w.run.Context[d.context]
		switch d.path {
		case "timestamp":
			if !w.run.Started.IsZero() {
				v = w.run.Started.UTC().Format(time.RFC3339Nano)
			}
		case "software_provenance.git_commit":
			v = w.run.Revision
		}
		if d.accepts(v) {
			*d.of(&w.base) = v
		}
	}
	return nil
}

// value returns what is written for a field, which may be a placeholder.
func (w *writer) value(d field) value {
	hardware := w.run.Host.Fingerprint
	switch d.path {
	case "hardware_fingerprint.gpus":
		return gpus(hardware.Accelerators)
	case "hardware_fingerprint.cpu":
		return members("model", orUnknown(hardware.CPU), "microcode", "")
	case "hardware_fingerprint.driver":
		return textValue(hardware.Driver)
	case "hardware_fingerprint.dmi_uuid":
		return w.placeholder(d.path, textValue("unknown"))
	case "software_provenance.pip_freeze_hash":
		return w.placeholder(d.path, textValue(emptySHA256))
	case "hardware_fingerprint.memory", "hardware_fingerprint.bios", "hardware_fingerprint.numa":
		return w.placeholder(d.path, unknownHardware[d.path])
	}
	if d.of == nil {
		return value{kind: d.kind} // the original writes "" and {} as well
	}
	if v := *d.of(&w.base); v != "" || d.optional {
		return d.value(v)
	}
	if d.path == "run_id" {
		return value{} // write sets it
	}
	return w.placeholder(d.path, d.value(d.placeholder))
}

func (w *writer) placeholder(path string, v value) value {
	w.unknown = append(w.unknown, path)
	return v
}

// unknownHardware is what the original writes without root's rights.
var unknownHardware = map[string]value{
	"hardware_fingerprint.memory": mustRead(`{"channels": 1, "speed_mts": 1, "ecc": false}`),
	"hardware_fingerprint.bios":   mustRead(`{"version": "", "resizable_bar": false, "above_4g": false}`),
	"hardware_fingerprint.numa":   mustRead(`{"nodes": []}`),
}

func mustRead(literal string) value {
	v, err := read([]byte(literal))
	if err != nil {
		panic(err) // a literal of this file
	}
	return v
}

func members(pairs ...string) (v value) {
	for pair := range slices.Chunk(pairs, 2) {
		v.add(pair[0], textValue(pair[1]))
	}
	return v
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func gpus(devices []bench.Accelerator) value {
	list := value{kind: array}
	for _, a := range devices {
		list.items = append(list.items, members("model", a.Model, "pci_id", "", "serial", "unknown", "vbios", ""))
	}
	return list
}

// identify hashes the hardware, unless an identity is given or
// nothing is known of the machine.
func (w *writer) identify() {
	if w.base.Fingerprint != "" || w.run.Context["hardware_fingerprint"] != "" || w.run.Host.Fingerprint.Unknown() {
		return
	}
	const path = "hardware_fingerprint.fingerprint_sha256"
	hardware, _ := w.body.get("hardware_fingerprint")
	w.body.set(path, textValue(hardware.fingerprint()))
	w.unknown = slices.DeleteFunc(w.unknown, func(p string) bool { return p == path })
}

// options returns the driver's options: base's, and every condition that is
// not a field.
func (w *writer) options() (value, error) {
	options := value{kind: object}
	if len(w.base.DriverOptions) > 0 {
		given, err := read(w.base.DriverOptions)
		if err != nil || given.kind != object {
			return options, errors.New("driver options are not a JSON object: write one")
		}
		options = given
	}
	for _, key := range slices.Sorted(maps.Keys(w.run.Context)) {
		if !isField(key) && !evidenceKey[key] && !slices.Contains(options.keys, key) {
			options.add(key, optionValue(w.run.Context[key]))
		}
	}
	return options, nil
}

// optionValue makes a number, an object and the like of a text that spells one
// canonically, so that reading it back yields the same text.
func optionValue(s string) value {
	const deepest = 32 // leaves room for what stands around it
	v, err := read([]byte(s))
	if err != nil || v.kind == null || v.kind == str || !json.Valid([]byte(s)) || strings.Count(s, "{")+strings.Count(s, "[") > deepest ||
		string(v.canonical()) != s {
		return textValue(s)
	}
	return v
}

// metrics writes medians as metrics, what describes them as x_metric_meta, and
// the single values as x_runs, of which the i-th holds the i-th of each.
func (w *writer) metrics() error {
	result := &w.run.Results[0]
	metrics, metas, runs := value{kind: object}, value{kind: object}, value{kind: array}
	for _, m := range w.described() {
		s := result.Sample(m.Name)
		said, center := describeSample(m, s)
		described, err := encode(said)
		if err != nil {
			return err
		}
		metrics.add(m.Name, center)
		metas.add(m.Name, described)
		if s == nil {
			continue
		}
		for i, f := range s.Values {
			if i == len(runs.items) {
				runs.items = append(runs.items, value{kind: object, keys: []string{"metrics"}, items: []value{{kind: object}}})
			}
			runs.items[i].items[0].add(m.Name, floatValue(f))
			if err := addEstimate(&runs.items[i], s, i); err != nil {
				return err
			}
		}
	}
	if len(result.Samples) == 0 {
		return errors.New("the run has no number: see in its result why nothing was measured")
	}
	w.body.set("metrics", metrics)
	w.body.set("x_metric_meta", metas)
	w.body.set("x_runs", runs)
	return nil
}

// described returns the run's metrics sorted by name. A sample that no metric
// describes is described by its name.
func (w *writer) described() []bench.Metric {
	list := slices.Clone(w.run.Metrics)
	for _, s := range w.run.Results[0].Samples {
		if w.run.Metric(s.Metric) == nil {
			list = append(list, (&Envelope{}).describe(s.Metric, meta{}))
		}
	}
	slices.SortFunc(list, func(a, b bench.Metric) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func describeSample(m bench.Metric, s *bench.Sample) (meta, value) {
	said := meta{Unit: m.Unit, Direction: string(m.Better), Exact: m.Exact, Informational: &m.Informational, Resolution: m.Resolution,
		FallbackFor: m.FallbackFor, Definition: m.Definition, CountedBy: m.CountedBy, ConfirmedBy: m.ConfirmedBy, MinCount: m.MinCount}
	switch {
	case s == nil:
		return said, value{}
	case s.Summary != nil:
		said.N, said.MAD = s.Summary.N, &s.Summary.MAD
		return said, floatValue(s.Median())
	}
	said.N = len(s.Values)
	if n := len(s.Estimates); n == 1 { // of more, x_runs says it of each
		last := s.Estimates[0]
		said.CI95, said.CIMethod, said.Observations = []float64{last.Low, last.High}, last.Method, last.N
	}
	return said, floatValue(s.Median())
}

// extras writes what identifies the run and has no place in v1.
func (w *writer) extras() error {
	result := &w.run.Results[0]
	cell, err := encode(result.Cell)
	if err != nil {
		return err
	}
	host, err := encode(w.run.Host)
	if err != nil {
		return err
	}
	w.body.set("x_cell", cell)
	w.body.set("x_host", host)
	w.body.set("x_outcome", textValue(string(result.Outcome)))
	w.body.set("x_tool", textValue(w.run.Tool))
	return w.evidence()
}

func (w *writer) warnings() {
	list, paths := value{kind: array}, value{kind: array}
	notes := slices.Concat(w.base.Warnings, w.run.Warnings, w.run.Results[0].Warnings)
	const begin = "not known, so written as placeholders: "
	notes = slices.DeleteFunc(notes, func(s string) bool { return strings.HasPrefix(s, begin) })
	for _, note := range notes[:min(len(notes), maxNotes-1)] {
		list.items = append(list.items, textValue(text.Cut(note, maxText/2)))
	}
	for _, path := range w.unknown {
		paths.items = append(paths.items, textValue(path))
	}
	if len(w.unknown) > 0 {
		list.items = append(list.items, textValue(begin+strings.Join(w.unknown, ", ")+": do not compare them"))
	}
	w.body.set("warnings", list)
	w.body.set("x_placeholders", paths)
}

// keepContext writes those conditions as x_context that v1's fields would not
// yield again.
func (w *writer) keepContext() {
	e := Envelope{Fields: w.base, body: w.body}
	yields := e.context()
	var kept value
	for _, key := range slices.Sorted(maps.Keys(w.run.Context)) {
		if got, ok := yields[key]; !ok || got != w.run.Context[key] {
			kept.add(key, textValue(w.run.Context[key]))
		}
	}
	if len(kept.keys) > 0 {
		w.body.set("x_context", kept)
	}
}

// runID makes a UUID of version 7 whose random part is taken from the
// document, so that writing twice yields the same file.
func runID(started time.Time, document []byte) string {
	sum := sha256.Sum256(document)
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(max(started.UnixMilli(), 0))<<16)
	copy(id[6:], sum[:10])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
