package baseline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// handWritten is a file as a person may leave it: other indentation, comments,
// commas too many, keys in any case, a zone, integers as floats.
const handWritten = `// our Mac
{
    "Host_Label": "macos-mlx", /* M3 */
    "CAPTURED_AT": "2026-03-01T10:00:00.5000000+01:00",
    "commit": null,
    "notes": "by hand",
    "entries": [
        {
            "case_id": "m__mlx__tg128__baseline",
            "OK": true,
            "correctness_ok": null, // not checked
            "prefill_tps": 0,
            "Decode_TPS": 31.50,
            "model_load_ms": 1.25e3,
        },
    ],
}
`

func TestParseTolerates(t *testing.T) {
	want := &baseline.File{
		HostLabel:  "macos-mlx",
		CapturedAt: time.Date(2026, 3, 1, 9, 0, 0, 500e6, time.UTC),
		Notes:      new("by hand"),
		Entries: []baseline.Entry{{
			CaseID: "m__mlx__tg128__baseline", OK: true,
			PrefillTPS: new(0.0), DecodeTPS: new(31.5), ModelLoadMS: new(1250.0),
		}},
	}
	for name, data := range map[string]string{
		"as it is":                handWritten,
		"byte order mark":         "\ufeff" + handWritten,
		"CRLF":                    strings.ReplaceAll(handWritten, "\n", "\r\n"),
		"BOM and CRLF":            "\ufeff" + strings.ReplaceAll(handWritten, "\n", "\r\n"),
		"no newline at the end":   strings.TrimSpace(handWritten),
		"comment without newline": handWritten + "// the end",
		"comment at the end":      handWritten + "/* the * / end **/",
	} {
		f, err := baseline.Parse("b.json", []byte(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, f, publicly); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseDefaults(t *testing.T) {
	for _, data := range []string{`{}`, `{"entries": null}`, `{"entries": []}`, `{"ENTRIES": [], "fingerprint": null, "captured_at": null}`} {
		if f := parse(t, data); !f.CapturedAt.IsZero() || f.Schema != 0 || len(f.Entries) != 0 || f.Fingerprint != nil {
			t.Errorf("Parse(%s) = %+v, want nothing in it", data, f)
		}
	}
	nulls := parse(t, `{"entries": [{"case_id": "a", "ok": false, "decode_tps": null, "metrics": null, "operators": null, "anchor": null},
		{"case_id": "b", "ok": false, "metrics": {"m": {"median": 0, "mad": null, "n": null, "better": null}}, "anchor": {"captured_at": null, "metrics": null}}]}`)
	want := []baseline.Entry{{CaseID: "a"}, {CaseID: "b", Metrics: []baseline.Metric{metric("m", "", "", 0, 0, 0)}, Anchor: &baseline.Anchor{}}}
	if diff := cmp.Diff(want, nulls.Entries, publicly); diff != "" {
		t.Errorf("nulls (-want +got):\n%s", diff)
	}
	for text, want := range map[string]time.Time{
		"2026-03-01T09:00:00Z":                  time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		"2026-03-01T09:00:00.123456789-08:00":   time.Date(2026, 3, 1, 17, 0, 0, 123456700, time.UTC),
		"2026-03-01T09:00:00.1234567":           time.Date(2026, 3, 1, 9, 0, 0, 123456700, time.UTC),
		"2026-03-01":                            time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"0001-01-01T00:00:00+00:00":             {},
		"9999-12-31T23:59:59.99999999999+00:00": time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC),
	} {
		if got := parse(t, `{"captured_at": "`+text+`"}`).CapturedAt; !got.Equal(want) {
			t.Errorf("captured_at %s = %v, want %v", text, got, want)
		}
	}
}

// TestParseKeepsTheUnknown at every level, however it was written.
func TestParseKeepsTheUnknown(t *testing.T) {
	f := parse(t, `{
  "zz": [1, 2.50, {"a" : 1e400, "b": "\u00e9\ud800", },], // kept
  "Aa": {},
  "fingerprint": {"os": "linux", "NPU": {"count": 4}},
  "entries": [{"case_id": "a", "ok": false, "Owner": "x", "metrics": {"m": {"median": 1, "p95": 2}},
    "operators": [{"name": "o", "gpu": 1}], "anchor": {"by": "me"}}],
}`)
	got := marshal(t, f)
	for _, want := range []string{
		`"zz": [1, 2.50, {"a": 1e400, "b": "é` + "\ufffd" + `"}]`,
		`"Aa": {},`,
		`"fingerprint": {"os": "linux", "NPU": {"count": 4}}`,
		`"Owner": "x"`,
		`"m": {"median": 1, "mad": 0, "n": 0, "p95": 2}`,
		`{"name": "o", "total_ms": 0, "calls": 0, "gpu": 1}`,
		`"metrics": {}, "by": "me"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lost %s in\n%s", want, got)
		}
	}
	f.Fingerprint.Cores = 8
	if got := marshal(t, f); !strings.Contains(got, `"fingerprint": {"os": "linux", "cores": 8}`) {
		t.Errorf("a changed fingerprint is not written as it is now:\n%s", got)
	}
}

func entries(lines ...string) string {
	return "{\"entries\": [\n" + strings.Join(lines, ",\n") + "\n]}"
}

func TestParseErrors(t *testing.T) {
	check := func(data string, want ...string) {
		t.Helper()
		f, err := baseline.Parse("b.json", []byte(data))
		if err == nil {
			t.Errorf("Parse(%.200s) = %+v, want errors %q", data, f, want)
			return
		}
		if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
			t.Errorf("Parse(%.200s) (-want +got):\n%s", data, diff)
		}
	}

	// Not a baseline at all.
	check("", "b.json:1:1: the file is empty: restore it from git, or delete it and then run accelgate baseline update")
	check("\ufeff \r\n", `b.json:2:1: the file ends where the { of a baseline should be: it was cut short, restore it from git`)
	check("[]", `b.json:1:1: '[' where the { of a baseline should be: correct it by hand, or restore the file from git`)
	check("{}\n{}", `b.json:2:1: '{' where the end of the file should be: correct it by hand, or restore the file from git`)
	check("{\n\"é\": \"\xff\"}", `b.json:2:7: byte 0xff is not UTF-8: save the file as UTF-8`)
	check("{\x00}", `b.json:1:2: '\x00' where a string should be: correct it by hand, or restore the file from git`)
	check(`{"schema": 2, "entries": 7}`, `b.json: schema 2 is newer than this build reads (1): upgrade accelgate`)

	// Syntax.
	check("{\"notes\": \"a\nb\"}", `b.json:1:11: this string is not closed on its line, or holds a tab: add the quote, or write \n and \t`)
	check(`{"notes": "C:\perf"}`, `b.json:1:11: this string has an escape that JSON does not have: write \\ for a backslash`)
	check("{\n  /* oops }", `b.json:2:3: this comment is not closed: write // to the end of the line, or /* and */`)
	check(`{"notes" "a"}`, `b.json:1:10: '"' where a colon should be: correct it by hand, or restore the file from git`)
	check(`{"notes": }`, `b.json:1:11: '}' where a string should be: correct it by hand, or restore the file from git`)
	check(`{,}`, `b.json:1:2: ',' where a string should be: correct it by hand, or restore the file from git`)
	check(`{"x": [1,,2]}`, `b.json:1:10: ',' where a value should be: correct it by hand, or restore the file from git`)
	check(`{"x": 01}`, `b.json:1:7: 01 is not a JSON value: write a number, true, false or null, or put it in quotes`)
	check(handWritten[:len(handWritten)/2], `b.json:9:33: the file ends where the end of a string should be: it was cut short, restore it from git`)

	// Values.
	check(`{"host_label": 7, "commit": [1], "notes": {"a": 1}, "captured_at": "today"}`,
		`b.json:1:16: "host_label" must be a string, not a number: correct it, or restore the file from git`,
		`b.json:1:29: "commit" must be a string, not an array: correct it, or restore the file from git`,
		`b.json:1:43: "notes" must be a string, not an object: correct it, or restore the file from git`,
		`b.json:1:68: "captured_at" is "today": write a time such as "2026-03-01T09:00:00Z"`)
	check(`{"captured_at": "9999-12-31T23:00:00-02:00", "schema": -1, "schema": 0}`,
		`b.json:1:17: "captured_at" is "9999-12-31T23:00:00-02:00": write a time such as "2026-03-01T09:00:00Z"`,
		`b.json:1:56: "schema" is -1: write a whole number from 0 to 1073741824`,
		`b.json:1:60: "schema" appears twice in the same object: delete one of them`)
	check(`{"fingerprint": {"cores": "many"}, "entries": {}}`,
		`b.json:1:17: fingerprint.cores has the wrong type (string): correct it, restore it from git, or delete the file and then run accelgate baseline update`,
		`b.json:1:47: "entries" must be an array, not an object: correct it, or restore the file from git`)
	check(`{"fingerprint": []}`, `b.json:1:17: fingerprint has the wrong type (array): correct it, restore it from git, or delete the file and then run accelgate baseline update`)

	// A metric is nothing without its median; null is none.
	check(entries(`{"case_id": "a", "metrics": {"decode_tps": {}}, "ok": false}`, `{"case_id": "b", "metrics": {"m": {"n": 1, "median": null}, "o": {"MEDIAN": 0}, "p": {"median": "x"}, "q": null}, "ok": false}`),
		`b.json:2:44: metric "decode_tps" has no median: correct it, restore it from git, or delete the file and then run accelgate baseline update`,
		`b.json:3:35: metric "m" has no median: correct it, restore it from git, or delete the file and then run accelgate baseline update`,
		`b.json:3:97: "median" must be a number, not a string: correct it, or restore the file from git`,
		`b.json:3:108: "q" must be an object, not null: correct it, or restore the file from git`)
	check(`{"entries": [null, {"case_id": "a", "operators": [7], "ok": false}]}`,
		`b.json:1:14: an entry must be an object, not null: correct it, or restore the file from git`,
		`b.json:1:51: an operator must be an object, not a number: correct it, or restore the file from git`)

	// One bad entry does not hide the others.
	check(entries(`{"case_id": "", "ok": false}`, `7`, `{"case_id": "b", "decode_tps": "fast", "ok": false}`, `{"case_id": "c", "Decode_TPS": 1e999, "prefill_tps": -1, "model_load_ms": NaN, "ok": false}`),
		`b.json:2:1: case_id is empty: name the cell, or delete the entry`,
		`b.json:3:1: an entry must be an object, not a number: correct it, or restore the file from git`,
		`b.json:4:32: "decode_tps" must be a number, not a string: correct it, or restore the file from git`,
		`b.json:5:32: "Decode_TPS" is 1e999, which nothing measures: correct it, restore it from git, or delete the file and then run accelgate baseline update`,
		`b.json:5:54: "prefill_tps" is negative: correct it, restore it from git, or delete the file and then run accelgate baseline update`,
		`b.json:5:75: "model_load_ms" must be a number, not NaN: correct it, or restore the file from git`)
	check(entries(`{"case_id": "a", "ok": false}`, `{"case_id": "b", "ok": false}`, `{"OK": true, "ok": 1, "case_id": "a"}`),
		`b.json:4:14: "ok" appears twice in the same object: delete one of them`,
		`b.json:4:20: "ok" must be true or false, not a number: correct it, or restore the file from git`,
		`b.json:4:34: case_id "a" is on line 2 already: delete one of the two entries`)
	check(entries(`{"case_id": "a" "ok": true}`, `{"case_id": "b", "ok": yes}`, `{"case_id": "c", ok: true, "ok": false}`, `{"case_id": "c", "ok": false}, {"case_id": "c", "ok": false}`),
		`b.json:2:17: '"' where a comma or '}' should be: correct it by hand, or restore the file from git`,
		`b.json:3:24: "ok" must be true or false, not yes: correct it, or restore the file from git`,
		`b.json:4:18: 'o' where a string should be: correct it by hand, or restore the file from git`,
		`b.json:5:44: case_id "c" is on line 5 already: delete one of the two entries`)
	check(entries(`{"case_id": "}\"", /* } */ "ok" true, "x": ["{", {}] // }`+"\n}", `{"case_id": "", "ok": false}`),
		`b.json:2:33: 't' where a colon should be: correct it by hand, or restore the file from git`,
		`b.json:4:1: case_id is empty: name the cell, or delete the entry`)
	check(entries(`{"case_id": "a",`+"\n<<<<<<< HEAD\n"+`"ok": true`+"\n=======\n"+`"ok": false`+"\n>>>>>>> x\n}", `{"case_id": "", "ok": false}`),
		`b.json:3:1: this is a merge conflict: take one side of it, restore the file from git, or delete it and then run accelgate baseline update`,
		`b.json:9:1: case_id is empty: name the cell, or delete the entry`)
	check(entries(`{"case_id": "a"`, `{"case_id": "", "ok": false}`), // where the first entry ends is anyone's guess
		`b.json:3:1: '{' where a string should be: correct it by hand, or restore the file from git`)
	check(entries(`{"case_id": "a", "metrics": {"m": {"median": 1, "mad": -1, "n": 2.5, "better": "up"}, "m": 3}, "operators": [{"calls": 1e17}], "anchor": {"metrics": {"x": null, "x": "y"}}, "ok": false}`),
		`b.json:2:56: "mad" is negative: correct it, restore it from git, or delete the file and then run accelgate baseline update`,
		`b.json:2:65: "n" is 2.5: write a whole number from 0 to 1073741824`,
		`b.json:2:80: better is "up": write "higher" or "lower"`,
		`b.json:2:87: "m" appears twice in the same object: delete one of them`,
		`b.json:2:92: "m" must be an object, not a number: correct it, or restore the file from git`,
		`b.json:2:120: "calls" is 1e+17: write a whole number from 0 to 9007199254740992`,
		`b.json:2:162: "x" appears twice in the same object: delete one of them`,
		`b.json:2:167: "x" must be a number, not a string: correct it, or restore the file from git`)

	// Only an explicit false is a known failure.
	const missing = "ok is missing: write true for a cell that passes, false for a known failure"
	check(entries(`{"case_id": "a"}`, `{"case_id": "b", "ok": null}`, `{"case_id": "c", "ok": "yes"}`, `  {}`),
		"b.json:2:1: "+missing,
		"b.json:3:1: "+missing,
		`b.json:4:24: "ok" must be true or false, not a string: correct it, or restore the file from git`,
		"b.json:5:3: "+missing,
		"b.json:5:3: case_id is empty: name the cell, or delete the entry")
	check(entries(`{"case_id": "a", "correctness_ok": false, "ok": true}`),
		"b.json:2:36: ok is true and correctness_ok is false: write ok false for a known failure, or correct correctness_ok")

	// What a metric is must be clear where it is judged, and the same everywhere.
	check(entries(`{"case_id": "a", "metrics": {"n": {"median": 1}, "m": {"median": 1, "better": null}, "decode_tps": {"median": 1}}, "ok": true}`,
		`{"case_id": "b", "metrics": {"x": {"median": 1}}, "ok": false}`),
		`b.json:2:55: metric "m" has no better: write "higher" or "lower"`,
		`b.json:2:35: metric "n" has no better: write "higher" or "lower"`)
	for _, other := range []string{`"better": "lower"`, `"better": "higher", "exact": true`, `"better": "higher", "informational": true`,
		`"better": "higher", "fallback_for": "x"`, `"better": "higher", "unit": "s"`} {
		check(entries(`{"case_id": "a", "ok": true, "metrics": {"m": {"median": 1, "better": "higher"}}}`,
			`{"case_id": "b", "ok": true, "metrics": {"m": {"median": 1, "better": "higher", "unit": "ms"}}}`,
			`{"case_id": "c", "ok": true, "metrics": {"m": {"median": 1, `+other+`}}}`),
			`b.json:4:47: metric "m" is described differently in entry "b" on line 3 and in entry "c" on line 4: make better, unit, exact, informational, fallback_for, counted_by and min_count equal`)
	}
}

// TestParseErrorPlace offers the place to annotations.
func TestParseErrorPlace(t *testing.T) {
	_, err := baseline.Parse("b.json", []byte("{\n\"notes\": 3}"))
	var place *baseline.ParseError
	if !errors.As(err, &place) || place.File != "b.json" || place.Line != 2 || place.Column != 10 {
		t.Errorf("error is %#v, want one at b.json:2:10", place)
	}
}

// TestRealFiles reads the baselines of other tools, where the host has any.
func TestRealFiles(t *testing.T) {
	dir := testtier.Data(t, "other tools' baselines were NOT read", "tensorsharp/baseline*.json")
	paths, err := filepath.Glob(filepath.Join(dir, "tensorsharp", "baseline*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no baselines in %s (%v)", dir, err)
	}
	for _, path := range paths {
		f, err := baseline.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(readAsTensorSharp(t, string(data)), readAsTensorSharp(t, marshal(t, f))); diff != "" {
			t.Errorf("%s (-read +written):\n%s", path, diff)
		}
	}
}

// FuzzParse: whatever parses is written and parses again to the same, and
// stands in the way of none of the other functions.
func FuzzParse(f *testing.F) {
	f.Add([]byte(handWritten))
	full, err := os.ReadFile(filepath.Join("testdata", "baseline-linux-cuda.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := baseline.Parse("b.json", data)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if file != nil || strings.Contains(line, "%!") || !harmless(line) {
					t.Fatalf("Parse = %v, %q", file, line)
				}
			}
			return
		}
		written := marshal(t, file)
		if !json.Valid([]byte(written)) {
			t.Fatalf("not JSON:\n%s", written)
		}
		again := parse(t, written)
		slices.SortFunc(file.Entries, func(a, b baseline.Entry) int { return strings.Compare(a.CaseID, b.CaseID) })
		if diff := cmp.Diff(file, again, publicly); diff != "" {
			t.Fatalf("read, written and read (-first +second):\n%s\n%s", diff, written)
		}
		if diff := cmp.Diff(written, marshal(t, again)); diff != "" {
			t.Fatalf("written twice (-first +second):\n%s", diff)
		}
		for _, p := range baseline.Lint("b.json", file, time.Time{}, 0) {
			if line := p.Format("b.json"); !harmless(line) {
				t.Fatalf("Format = %q", line)
			}
		}
		if run := file.Run(); len(run.Results) != len(file.Entries) {
			t.Fatalf("%d results of %d entries", len(run.Results), len(file.Entries))
		}
	})
}

// FuzzUnknown compares the reader with hujson's: a value that hujson accepts
// is kept, and means the same.
func FuzzUnknown(f *testing.F) {
	for _, s := range []string{`1`, `-0.5e+3`, `[1,/**/2,]`, `{"a":[{}],"b":null,}`, "// c\n\"\\u00e9\"", `"\ud83d\ude80"`, `tru`, `[,]`, `{"a" 1}`, `"a` + "\t" + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if !utf8.Valid(value) || bytes.Count(value, []byte("["))+bytes.Count(value, []byte("{")) >= 60 {
			return // hujson goes deeper, and looks for UTF-8 in comments only
		}
		data := append(append([]byte(`{"zz": `), value...), "\n}"...)
		file, err := baseline.Parse("b.json", data)
		standard, husonErr := hujson.Standardize(bytes.Clone(data))
		if husonErr != nil || !json.Valid(standard) {
			return // hujson accepts only comments of Unicode lines
		}
		want := map[string]any{}
		if err := decode(standard, &want); err != nil || len(want) != 1 {
			return // another member was smuggled in
		}
		if err != nil {
			t.Fatalf("hujson reads it: %v\n%s", err, data)
		}
		got := map[string]any{}
		if err := decode([]byte(marshal(t, file)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want["zz"], got["zz"]); diff != "" {
			t.Fatalf("%s (-hujson +kept):\n%s", data, diff)
		}
	})
}

func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}
