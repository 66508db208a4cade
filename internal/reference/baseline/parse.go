package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
)

// Limits on what is read; files of 100,000 entries have about 80 MiB.
const (
	// MaxFileSize bounds a file, in bytes.
	MaxFileSize = 256 << 20
	maxEntries  = 1_000_000
	maxPerEntry = 1000 // metrics, operators, anchored medians
	minEntry    = 100  // bytes that one in a long list takes: fewer get no room beforehand

	maxFingerprint = 64 << 10
)

// Load reads the baseline file at path. Where there is none, errors.Is(err,
// fs.ErrNotExist); any other error means that the file cannot be trusted.
func Load(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load baseline: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("load baseline: %w", err)
	}
	if err := checkSize(path, info.Size()); err != nil {
		return nil, err
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(file, MaxFileSize+1)); err != nil { // a device has no size
		return nil, fmt.Errorf("load baseline: %w", err)
	}
	return Parse(path, data.Bytes())
}

// Parse reads a baseline from data; name stands for it in messages. It accepts
// comments, trailing commas, keys in any case, a byte order mark, CRLF,
// TensorSharp's files and unknown members. Missing members take their zero
// value, with three exceptions: an entry must say whether it is ok, a metric
// must have a median, and a metric of an ok entry a direction, which only
// TensorSharp's have by their name. An entry cannot be ok and incorrect, and no
// two entries may describe the same metric differently.
//
// The error joins one [ParseError] for everything that is wrong. Only damage that
// hides where an entry ends keeps the entries after it from being checked.
// The result keeps data, which must not be modified.
func Parse(name string, data []byte) (*File, error) {
	if err := readable(name, data); err != nil {
		return nil, err
	}
	f := &File{source: data}
	r := newReader(name, bytes.TrimPrefix(data, []byte("\ufeff")))
	r.file(f)
	if r.peek(); r.pos < len(r.data) {
		r.unexpected("the end of the file")
	}
	if f.Schema > Schema {
		return nil, fmt.Errorf("%s: schema %d is newer than this build reads (%d): upgrade accelgate", plain(name), f.Schema, Schema)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return f, nil
}

func checkSize(name string, size int64) error {
	if size > MaxFileSize {
		return fmt.Errorf("%s: larger than %d MiB: this is not a baseline, restore it from git", plain(name), MaxFileSize>>20)
	}
	return nil
}

// readable refuses what is not text of a reasonable size.
func readable(name string, data []byte) error {
	if err := checkSize(name, int64(len(data))); err != nil {
		return err
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fmt.Errorf("%s:1:1: the file is empty: restore it from git, or delete it and then run accelgate baseline update",
			plain(name))
	case utf8.Valid(data):
		return nil
	}
	at := 0
	for {
		c, size := utf8.DecodeRune(data[at:])
		if c == utf8.RuneError && size == 1 {
			return newReader(name, data).errorAt(at, "byte 0x%02x is not UTF-8: save the file as UTF-8", data[at])
		}
		at += size
	}
}

func (r *reader) file(f *File) {
	if r.peek() != '{' {
		r.unexpected("the { of a baseline")
		return
	}
	r.record(func(field, key string) {
		switch field {
		case "host_label":
			r.text(&f.HostLabel)
		case "captured_at":
			r.time(&f.CapturedAt)
		case "commit":
			optional(r, &f.Commit, r.text)
		case "notes":
			optional(r, &f.Notes, r.text)
		case "schema":
			f.Schema = int(r.count(maxCount))
		case "fingerprint":
			r.fingerprint(f)
		case "calibration_ms":
			r.positive(&f.CalibrationMS)
		case "descriptions":
			r.meanings(f)
		case "entries":
			r.entries(f)
		default:
			r.keep(&f.extra, key)
		}
	})
}

// fingerprint leaves the decoding to encoding/json, so that package bench
// alone has the facts of a host.
func (r *reader) fingerprint(f *File) {
	if r.null() {
		return
	}
	at := r.pos
	text := r.raw()
	if len(text) > maxFingerprint {
		r.fail(at, "fingerprint has more than %d KiB, which no host needs: "+mend, maxFingerprint>>10)
	}
	if r.bad != nil {
		return
	}
	var known bench.Fingerprint
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(text, &known); {
	case errors.As(err, &wrong):
		field := strings.TrimSuffix("fingerprint."+wrong.Field, ".")
		r.note(at, "%s has the wrong type (%s): "+mend, field, clip(wrong.Value))
	case err != nil:
		r.note(at, "fingerprint: %v: "+mend, err)
	}
	f.Fingerprint, f.machine = &known, machine{text: text, known: clone(known)}
}

func clone(p bench.Fingerprint) bench.Fingerprint {
	p.Accelerators = slices.Clone(p.Accelerators)
	return p
}

// meanings reads what metrics are, for all entries that do not say it themselves.
func (r *reader) meanings(f *File) {
	if r.null() {
		return
	}
	if at := r.next(); f.Entries != nil {
		r.note(at, "descriptions stand behind the entries: move them before the entries")
	}
	r.table(func(name string) {
		if !r.room(len(r.common), "descriptions") {
			return
		}
		m, at, extra := &bench.Metric{Name: name}, r.next(), []unknown(nil)
		r.record(func(field, key string) {
			if !r.meaning(field, m) {
				r.keep(&extra, key)
			}
		})
		r.common[name] = m
		r.complete(at, m)
		if len(extra) > 0 {
			if f.extraOf == nil {
				f.extraOf = map[string][]unknown{}
			}
			f.extraOf[name] = extra
		}
	})
}

func (r *reader) entries(f *File) {
	if r.null() {
		return
	}
	lines := map[string]int{} // of the case ids
	known := map[string]description{}
	n := 0
	f.Entries = slices.Grow(f.Entries, min(bytes.Count(r.data, []byte(`"case_id"`)), len(r.data)/minEntry))
	r.list(func() {
		r.item = "an entry"
		if r.peek() != '{' {
			r.mismatch("an object")
			return
		}
		start, depth := r.pos, r.depth
		if n++; n > maxEntries {
			r.fail(start, "more than %d entries: this is not a baseline, restore it from git", maxEntries)
			return
		}
		e := Entry{line: r.lineOf(start)}
		idAt := r.entry(&e)
		if r.bad != nil {
			r.resume(start, depth)
			return
		}
		switch line, twice := lines[e.CaseID]; {
		case twice:
			r.note(idAt, "case_id %s is on line %d already: delete one of the two entries", quote(e.CaseID), line)
		case strings.TrimSpace(e.CaseID) == "":
			r.note(start, "case_id is empty: name the cell, or delete the entry")
		default:
			lines[e.CaseID] = r.lineOf(idAt)
			f.Entries = append(f.Entries, e)
			r.describe(known, f.Entries)
		}
	})
}

// entry returns the position of the case id.
func (r *reader) entry(e *Entry) (idAt int) {
	idAt = r.pos
	start, correctAt, said := r.pos, 0, false
	r.metricsFound = r.metricsFound[:0]
	r.record(func(field, key string) {
		switch field {
		case "case_id":
			idAt = r.next()
			r.text(&e.CaseID)
		case "ok":
			if said = !r.null(); said {
				r.flag(&e.OK)
			}
		case "correctness_ok":
			correctAt = r.next()
			optional(r, &e.CorrectnessOK, r.flag)
		case "prefill_tps":
			optional(r, &e.PrefillTPS, r.positive)
		case "decode_tps":
			optional(r, &e.DecodeTPS, r.positive)
		case "model_load_ms":
			optional(r, &e.ModelLoadMS, r.positive)
		case "conditions":
			r.conditions(e)
		case "artifacts":
			r.shared(&e.Artifacts)
		case "suite":
			r.shared(&e.Suite)
		case "metrics":
			r.metrics(e)
		case "operators":
			r.operators(e)
		case "anchor":
			optional(r, &e.Anchor, r.anchor)
		default:
			r.keep(&e.extra, key)
		}
	})
	switch {
	case r.bad != nil:
	case !said:
		r.note(start, "ok is missing: write true for a cell that passes, false for a known failure")
	case e.OK:
		r.passing(e, correctAt)
	}
	return idAt
}

func (r *reader) metrics(e *Entry) {
	if r.null() {
		return
	}
	found := r.metricsFound[:0]
	r.table(func(name string) {
		if !r.room(len(found), "metrics in one entry") {
			return
		}
		r.described = bench.Metric{Name: name}
		m := located{Metric: Metric{Metric: &r.described}, at: r.next()}
		before := r.noted()
		r.metric(&m.Metric)
		if m.Metric.Metric == &r.described {
			m.Metric.Metric = r.shareDescription()
		}
		m.sound = r.noted() == before
		found = append(found, m)
	})
	if !slices.IsSortedFunc(found, byPlacedName) {
		slices.SortFunc(found, byPlacedName)
	}
	r.metricsFound = found
	e.Metrics = make([]Metric, len(found))
	for i := range found {
		e.Metrics[i] = found[i].Metric
	}
}

// room fails at a list that is longer than any that was measured:
// an element takes a few bytes of the file and much more memory.
func (r *reader) room(have int, what string) bool {
	if have == maxPerEntry {
		r.fail(r.next(), "more than %d %s: "+mend, maxPerEntry, what)
	}
	return r.bad == nil
}

func (r *reader) metric(m *Metric) {
	at, object, measured, own := r.next(), r.peek() == '{', false, false
	r.record(func(field, key string) {
		switch field {
		case "median":
			if measured = !r.null(); measured {
				r.number(&m.Median)
			}
		case "mad":
			r.positive(&m.MAD)
		case "n":
			m.N = int(r.count(maxCount))
		case "noise":
			r.positive(&m.Noise)
		case "mde":
			r.positive(&m.MDE)
		case "stderr":
			r.positive(&m.StdErr)
		default:
			if r.meaning(field, m.Metric) {
				own = true
			} else {
				r.keep(m.place(), key)
			}
		}
	})
	if common := r.common[m.Name]; common != nil && !own {
		m.Metric = common
	} else {
		r.complete(at, m.Metric)
	}
	if object && !measured && r.bad == nil {
		r.note(at, "metric %s has no median: "+mend, quote(m.Name))
	}
}

// complete checks a description that was read, and adds the direction of TensorSharp's metrics.
func (r *reader) complete(at int, m *bench.Metric) {
	if m.Better == "" {
		m.Better = knownDirection(m.Name)
	}
	if (m.CountedBy == "") != (m.MinCount == 0) {
		r.note(at, "metric %s has one of counted_by and min_count: write both, or neither", quote(m.Name))
	}
}

// meaning reads what describes a metric; it reports whether the field does.
func (r *reader) meaning(field string, m *bench.Metric) bool {
	switch field {
	case "better":
		r.direction(&m.Better)
	case "unit":
		r.shared(&m.Unit)
	case "kind":
		r.quantity(&m.Kind)
	case "resolution":
		r.positive(&m.Resolution)
	case "explains":
		r.positive(&m.Explains)
	case "exact":
		r.flag(&m.Exact)
	case "informational":
		r.flag(&m.Informational)
	case "counted":
		r.flag(&m.Counted)
	case "fallback_for":
		r.shared(&m.FallbackFor)
	case "confirmed_by":
		r.shared(&m.ConfirmedBy)
	case "counted_by":
		r.shared(&m.CountedBy)
	case "min_count":
		m.MinCount = int32(r.count(math.MaxInt32))
	default:
		return false
	}
	return true
}

func (r *reader) direction(d *bench.Direction) {
	var word string
	at := r.next()
	r.shared(&word)
	switch *d = bench.Direction(word); *d {
	case bench.Higher, bench.Lower, "":
	default:
		r.note(at, "better is %s: write \"higher\" or \"lower\"", quote(word))
	}
}

func (r *reader) quantity(q *bench.Quantity) {
	var word string
	at := r.next()
	r.shared(&word)
	if err := q.UnmarshalText([]byte(word)); err != nil {
		r.note(at, "%v", err)
	}
}

func (r *reader) operators(e *Entry) {
	if r.null() {
		return
	}
	found := r.operatorsFound[:0]
	r.list(func() {
		if !r.room(len(found), "operators in one entry") {
			return
		}
		var op Operator
		r.item = "an operator"
		r.record(func(field, key string) {
			switch field {
			case "name":
				r.shared(&op.Name)
			case "total_ms":
				r.positive(&op.TotalMS)
			case "calls":
				op.Calls = r.count(maxCalls)
			default:
				r.keep(&op.extra, key)
			}
		})
		found = append(found, op)
	})
	r.operatorsFound = found
	e.Operators = slices.Clone(found)
}

func (r *reader) conditions(e *Entry) {
	if r.null() {
		return
	}
	r.table(func(name string) {
		if !r.room(len(e.Conditions), "conditions in one entry") {
			return
		}
		if e.Conditions == nil {
			e.Conditions = map[string]string{}
		}
		var value string
		r.shared(&value)
		e.Conditions[name] = value
	})
}

func (r *reader) anchor(a *Anchor) {
	r.record(func(field, key string) {
		switch field {
		case "captured_at":
			r.time(&a.CapturedAt)
		case "commit":
			r.shared(&a.Commit)
		case "metrics":
			r.anchorMetrics(a)
		default:
			r.keep(&a.extra, key)
		}
	})
}

func (r *reader) anchorMetrics(a *Anchor) {
	if r.null() {
		return
	}
	found := r.mediansFound[:0]
	r.table(func(name string) {
		if !r.room(len(found), "anchored medians in one entry") {
			return
		}
		m := Median{Name: name}
		r.number(&m.Median)
		found = append(found, m)
	})
	r.mediansFound = found
	slices.SortFunc(found, func(a, b Median) int { return strings.Compare(a.Name, b.Name) })
	a.Metrics = slices.Clone(found)
}
