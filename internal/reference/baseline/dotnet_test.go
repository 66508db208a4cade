package baseline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// tensorSharp is what TensorSharp.TestMatrix makes of a baseline: it reads its
// own fields and nothing else.
type tensorSharp struct {
	HostLabel  string
	CapturedAt time.Time
	Commit     *string
	Notes      *string
	Entries    []tensorSharpEntry
}

type tensorSharpEntry struct {
	CaseID                             string
	OK                                 bool
	CorrectnessOK                      *bool
	PrefillTPS, DecodeTPS, ModelLoadMS float64
}

// dotnet is a model of System.Text.Json with the options that TensorSharp
// reads with: names in any case, comments, trailing commas, unknown members
// skipped. A value of the wrong type throws, and so does a null for a bool, a
// number or a time; a null string or list stays null. Of two members with one
// name, the last one counts.
type dotnet struct{ *json.Decoder }

func readDotnet(data []byte) (ts tensorSharp, err error) {
	if !utf8.Valid(data) {
		return ts, errors.New("not UTF-8")
	}
	standard, err := hujson.Standardize(bytes.Clone(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err != nil || !json.Valid(standard) {
		return ts, fmt.Errorf("not JSON: %v", err)
	}
	d := dotnet{json.NewDecoder(bytes.NewReader(standard))}
	d.UseNumber()
	err = d.object(map[string]func() error{
		"host_label":  func() error { return orNull(d.text(&ts.HostLabel)) },
		"captured_at": func() error { return d.time(&ts.CapturedAt) },
		"commit":      func() error { return nullable(&ts.Commit, d.text) },
		"notes":       func() error { return nullable(&ts.Notes, d.text) },
		"entries": func() error {
			ts.Entries = nil
			return d.list(func() error {
				var e tensorSharpEntry
				err := d.entry(&e)
				ts.Entries = append(ts.Entries, e)
				return err
			})
		},
	})
	if err != nil {
		return ts, err
	}
	return ts, ts.index()
}

// index is the dictionary that its comparison begins with.
func (ts *tensorSharp) index() error {
	seen := map[string]bool{}
	for _, e := range ts.Entries {
		if seen[e.CaseID] {
			return fmt.Errorf("an item with the same key has already been added: %q", e.CaseID)
		}
		seen[e.CaseID] = true
	}
	return nil
}

func (d dotnet) entry(e *tensorSharpEntry) error {
	return d.object(map[string]func() error{
		"case_id":        func() error { return d.text(&e.CaseID) },
		"ok":             func() error { return d.flag(&e.OK) },
		"correctness_ok": func() error { return nullable(&e.CorrectnessOK, d.flag) },
		"prefill_tps":    func() error { return d.float(&e.PrefillTPS) },
		"decode_tps":     func() error { return d.float(&e.DecodeTPS) },
		"model_load_ms":  func() error { return d.float(&e.ModelLoadMS) },
	})
}

var errNull = errors.New("the JSON value could not be converted: null")

func orNull(err error) error {
	if errors.Is(err, errNull) {
		return nil
	}
	return err
}

func nullable[T any](dst **T, read func(*T) error) error {
	v := new(T)
	switch err := read(v); {
	case errors.Is(err, errNull):
		*dst = nil
		return nil
	case err != nil:
		return err
	}
	*dst = v
	return nil
}

func (d dotnet) object(members map[string]func() error) error {
	if err := d.expect(json.Delim('{')); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		read := members[strings.ToLower(name.(string))]
		if read == nil {
			var skipped json.RawMessage
			read = func() error { return d.Decode(&skipped) }
		}
		if err := read(); err != nil {
			return fmt.Errorf("%v: %w", name, err)
		}
	}
	_, err := d.Token()
	return err
}

func (d dotnet) list(item func() error) error {
	if err := d.expect(json.Delim('[')); err != nil {
		return orNull(err)
	}
	for d.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (d dotnet) expect(want json.Delim) error {
	switch got, err := d.Token(); {
	case err != nil:
		return err
	case got == nil:
		return errNull
	case got != want:
		return fmt.Errorf("the JSON value could not be converted: %v", got)
	}
	return nil
}

func scalar[T any](d dotnet, dst *T) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	v, ok := token.(T)
	switch {
	case token == nil:
		return errNull
	case !ok:
		return fmt.Errorf("the JSON value could not be converted: %v", token)
	}
	*dst = v
	return nil
}

func (d dotnet) flag(dst *bool) error { return scalar(d, dst) }

func (d dotnet) text(dst *string) error { return scalar(d, dst) }

func (d dotnet) float(dst *float64) error {
	var n json.Number
	err := scalar(d, &n)
	if err != nil {
		return err
	}
	*dst, err = n.Float64()
	return err
}

func (d dotnet) time(dst *time.Time) error {
	var text string
	if err := scalar(d, &text); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	*dst = t.UTC().Truncate(100)
	return err
}

// write is System.Text.Json with TensorSharp's options for writing: two spaces,
// members in this order, nulls written, relaxed escaping, shortest numbers, no
// newline at the end.
func (ts *tensorSharp) write(newline string) string {
	optional := func(s *string) string {
		if s == nil {
			return "null"
		}
		return dotnetString(*s)
	}
	b := []string{"{"}
	line := func(format string, args ...any) { b = append(b, fmt.Sprintf(format, args...)) }
	line(`  "host_label": %s,`, dotnetString(ts.HostLabel))
	line(`  "captured_at": "%s",`, ts.CapturedAt.Format("2006-01-02T15:04:05.9999999-07:00"))
	line(`  "commit": %s,`, optional(ts.Commit))
	line(`  "notes": %s,`, optional(ts.Notes))
	if len(ts.Entries) == 0 {
		line(`  "entries": []`)
		return strings.Join(append(b, "}"), newline)
	}
	line(`  "entries": [`)
	for i, e := range ts.Entries {
		correct := "null"
		if e.CorrectnessOK != nil {
			correct = fmt.Sprint(*e.CorrectnessOK)
		}
		line("    {")
		line(`      "case_id": %s,`, dotnetString(e.CaseID))
		line(`      "ok": %v,`, e.OK)
		line(`      "correctness_ok": %s,`, correct)
		line(`      "prefill_tps": %s,`, dotnetFloat(e.PrefillTPS))
		line(`      "decode_tps": %s,`, dotnetFloat(e.DecodeTPS))
		line(`      "model_load_ms": %s`, dotnetFloat(e.ModelLoadMS))
		line("    }%s", map[bool]string{true: ",", false: ""}[i < len(ts.Entries)-1])
	}
	return strings.Join(append(b, "  ]", "}"), newline)
}

// dotnetFloat is the shortest form that reads back the same.
func dotnetFloat(v float64) string {
	if abs := math.Abs(v); v == 0 || abs >= 1e-5 && abs < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'E', -1, 64)
}

// dotnetString escapes as JavaScriptEncoder.UnsafeRelaxedJsonEscaping: quotes,
// backslashes, controls, what is not assigned or private, and everything beyond
// the basic plane.
func dotnetString(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	var b strings.Builder
	for _, r := range s {
		switch {
		case short[r] != "":
			b.WriteString(short[r])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04X\u%04X`, high, low)
		case r != ' ' && r != unicode.ReplacementChar && !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
