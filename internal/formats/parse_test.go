package formats_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
)

const output = `loading model
{"event":"progress","decode_tps":1}
{"timing":{"decode_tps":41.5,"zero":0,"null":null,"text":"12","huge":1e999,"tiny":1e-999,"flag":true},
 "never": "pretty-printed results need the whole output"}
{"timing":{"decode_tps":41.5,"zero":0,"null":null,"text":"12","huge":1e999,"tiny":1e-999,"flag":true},"runs":[{"ms":3},{"ms":-2.5e1}],"tokens/s":7,"a b":{"c":[8]},"ids":[1,-2,9007199254740993],"mixed":[1,"2"],"halves":[1.5],"empty":[]}
done in 3.5 s
`

func path(t testing.TB, text string) formats.Path {
	t.Helper()
	p, err := formats.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNumber(t *testing.T) {
	doc := formats.NewDocument([]byte(output))
	if err := doc.Err(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path  string
		want  float64
		ok    bool
		error string
	}{
		{path: "$.timing.decode_tps", want: 41.5, ok: true},
		{path: "timing.decode_tps", want: 41.5, ok: true},
		{path: "timing.zero", want: 0, ok: true},
		{path: "timing.null"},
		{path: "timing.absent"},
		{path: "absent.absent"},
		{path: "timing.decode_tps.deeper"},
		{path: "timing[0]"},
		{path: "runs.ms"},
		{path: "runs[0].ms", want: 3, ok: true},
		{path: "$.runs[-1].ms", want: -25, ok: true},
		{path: "runs[-2].ms", want: 3, ok: true},
		{path: "runs[2].ms"},
		{path: "runs[-3].ms"},
		{path: "$['tokens/s']", want: 7, ok: true},
		{path: `["a b"].c[0]`, want: 8, ok: true},
		{path: `$["a b"]['c'][0]`, want: 8, ok: true},
		{path: "timing.text", ok: true, error: `value at timing.text is the string "12", not a number`},
		{path: "timing.huge", ok: true, error: `value at timing.huge: "1e999" is too large for a number`},
		{path: "timing.tiny", ok: true, error: `value at timing.tiny: "1e-999" is too small for a number`},
		{path: "timing.flag", ok: true, error: "value at timing.flag is a boolean, not a number"},
		{path: "timing", ok: true, error: "value at timing is an object, not a number"},
		{path: "runs", ok: true, error: "value at runs is an array, not a number"},
		{path: "$", ok: true, error: "value at $ is an object, not a number"},
	}
	for _, tt := range tests {
		got, ok, err := doc.Number(path(t, tt.path))
		if got != tt.want || ok != tt.ok || text(err) != tt.error {
			t.Errorf("%s: got %v, %v, %q, want %v, %v, %q", tt.path, got, ok, text(err), tt.want, tt.ok, tt.error)
		}
	}
}

// TestNumberNotFinite: words that JSON does not have, as Python and C++ print them, are named
// as what they are, and the other values stand.
func TestNumberNotFinite(t *testing.T) {
	for _, test := range []struct{ word, error string }{
		{"NaN", "it is NaN, not a number"}, {"nan", "it is NaN, not a number"}, {`"NaN"`, "it is NaN, not a number"},
		{"Infinity", "it is infinite"}, {"-Infinity", "it is infinite"}, {"inf", "it is infinite"}, {`"-inf"`, "it is infinite"},
	} {
		for _, stdout := range []string{`log
{"v": ` + test.word + `, "w": 1}`, "{\n \"w\": 1,\n \"v\": " + test.word + "\n}\n", `{"v": ` + test.word + `, "text": "NaN, inf {", "w": 1}`} {
			doc := formats.NewDocument([]byte(stdout))
			if _, ok, err := doc.Number(path(t, "v")); !ok || text(err) != "value at v: "+test.error {
				t.Errorf("%s: %v, %v", stdout, ok, err)
			}
			if w, ok, err := doc.Number(path(t, "w")); w != 1 || !ok || err != nil {
				t.Errorf("%s: %v, %v, %v", stdout, w, ok, err)
			}
		}
	}
	if err := formats.NewDocument([]byte(`{"v": NaN, "v": 1}`)).Err(); err != nil {
		t.Error(err)
	}
	if _, _, err := formats.NewDocument([]byte(`{"v": NaN, "v": 1}`)).Number(path(t, "v")); !errors.Is(err, bench.ErrContradiction) {
		t.Errorf("a key twice: %v", err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDocumentChoosesItsJSON(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	tests := map[string]struct {
		stdout string
		want   float64
		ok     bool
		err    string
	}{
		"whole":           {stdout: "{\n  \"v\": 1\n}\n", want: 1, ok: true},
		"byte order mark": {stdout: "\ufeff{\"v\": 1}", want: 1, ok: true},
		"last line":       {stdout: "{\"v\": 1}\n{\"v\": 2}\n", want: 2, ok: true},
		"logs around":     {stdout: "x {\"v\": 0}\r\n  {\"v\": 3}\r\n{not json\r\nbye", want: 3, ok: true},
		"deep then good":  {stdout: deep + "\n{\"v\": 5}", want: 5, ok: true},
		"empty":           {err: "no line starts with a JSON object"},
		"prose":           {stdout: "v: 1\n", err: "no line starts with a JSON object"},
		"scalar":          {stdout: "12\n", err: "no line starts with a JSON object"},
		"cut short":       {stdout: "{\"v\": 1", err: "unexpected EOF"},
		"broken line":     {stdout: "log\n{\"v\": 1,}\n", err: "invalid character '}'"},
		"trailing text":   {stdout: "{\"v\": 1} tail", err: "more text follows"},
		"too deep":        {stdout: deep, err: "exceeded max depth"},
		"array of lines":  {stdout: "log\n[1]\n", err: "no line starts with a JSON object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			doc := formats.NewDocument([]byte(tt.stdout))
			got, ok, err := doc.Number(path(t, "v"))
			if got != tt.want || ok != tt.ok || err != nil {
				t.Errorf("got %v, %v, %v, want %v, %v", got, ok, err, tt.want, tt.ok)
			}
			if tt.err == "" && doc.Err() != nil || !strings.Contains(text(doc.Err()), tt.err) {
				t.Errorf("got Err %v, want %q", doc.Err(), tt.err)
			}
		})
	}
}

func TestText(t *testing.T) {
	doc := formats.NewDocument([]byte(`{"s":"a\u0000b","e":"","n":1,"x":null,"bad":"\ud800"}`))
	for p, want := range map[string]struct {
		s     string
		ok    bool
		error string
	}{
		"s":   {s: "a\x00b", ok: true},
		"e":   {ok: true},
		"bad": {s: "\ufffd", ok: true},
		"x":   {}, "absent": {},
		"n": {ok: true, error: "value at n is the number 1, not a string"},
	} {
		got, ok, err := doc.Text(path(t, p))
		if got != want.s || ok != want.ok || text(err) != want.error {
			t.Errorf("%s: got %q, %v, %v, want %+v", p, got, ok, err, want)
		}
	}
}

func TestInts(t *testing.T) {
	doc := formats.NewDocument([]byte(output))
	for p, want := range map[string]struct {
		ids   []int64
		ok    bool
		error string
	}{
		"ids":    {ids: []int64{1, -2, 9007199254740993}, ok: true},
		"empty":  {ids: []int64{}, ok: true},
		"absent": {},
		"mixed":  {ok: true, error: `value at mixed[1] is the string "2", not a whole number`},
		"halves": {ok: true, error: "value at halves[0] is the number 1.5, not a whole number"},
		"timing": {ok: true, error: "value at timing is an object, not an array"},
	} {
		got, ok, err := doc.Ints(path(t, p))
		if diff := cmp.Diff(got, want.ids); diff != "" || ok != want.ok || text(err) != want.error {
			t.Errorf("%s: got %v, %v, want %+v", p, ok, err, want)
		}
	}
	many := formats.NewDocument([]byte("[" + strings.Repeat("1,", 1<<20) + "1]"))
	if _, ok, err := many.Ints(formats.Path{}); !ok || err == nil || !strings.Contains(err.Error(), "more than the 1048576 allowed") {
		t.Errorf("got %v, %v, want too many elements", ok, err)
	}
}

func TestEntries(t *testing.T) {
	long := strings.Repeat("é", 150)
	doc := formats.NewDocument(fmt.Appendf(nil, `[{"name":"matmul","total_ms":1.5,"calls":3,"other":1},{"name":%q,"total_ms":0,"calls":0}]`, long))
	got, ok, err := doc.Entries(formats.Path{})
	want := []bench.Entry{{Name: "matmul", Total: 1.5, Calls: 3}, {Name: long[:200], Total: 0, Calls: 0}}
	if diff := cmp.Diff(got, want); diff != "" || !ok || err != nil {
		t.Errorf("got %v, %v; -got +want:\n%s", ok, err, diff)
	}
	for list, want := range map[string]string{
		`[1]`:                                                           "breakdown entry ops[0]: name is missing",
		`[{"total_ms":1,"calls":1}]`:                                    "breakdown entry ops[0]: name is missing",
		`[{"name":"","calls":1}]`:                                       "breakdown entry ops[0]: name is missing",
		`[{"name":7,"calls":1}]`:                                        "breakdown entry ops[0]: value at name is the number 7, not a string",
		`[{"name":"a","calls":1}]`:                                      "breakdown entry ops[0]: total_ms is missing or negative",
		`[{"name":"a","total_ms":-1}]`:                                  "breakdown entry ops[0]: total_ms is missing or negative",
		`[{"name":"a","total_ms":1e999,"calls":1}]`:                     `breakdown entry ops[0]: value at total_ms: "1e999" is too large for a number`,
		`[{"name":"a","total_ms":1}]`:                                   "breakdown entry ops[0]: calls is missing or not a count",
		`[{"name":"a","total_ms":1,"calls":1.5}]`:                       "breakdown entry ops[0]: calls is missing or not a count",
		`[{"name":"a","total_ms":1,"calls":-1}]`:                        "breakdown entry ops[0]: calls is missing or not a count",
		`[{"name":"a","total_ms":1,"calls":1e99}]`:                      "breakdown entry ops[0]: calls is missing or not a count",
		`{"name":"a"}`:                                                  "value at ops is an object, not an array",
		"[" + strings.TrimSuffix(strings.Repeat("1,", 4097), ",") + "]": "array at ops has 4097 elements, more than the 4096 allowed",
	} {
		doc := formats.NewDocument([]byte(`{"ops":` + list + `}`))
		got, ok, err := doc.Entries(path(t, "ops"))
		if got != nil || !ok || text(err) != want {
			t.Errorf("%.60s: got %v, %v, %v, want %s", list, got, ok, err, want)
		}
	}
	if _, ok, err := doc.Entries(path(t, "absent")); ok || err != nil {
		t.Errorf("absent: got %v, %v, want missing", ok, err)
	}
}

func TestParsePathRefuses(t *testing.T) {
	for _, s := range []string{"", "a..b", "a.", "..a", "$$", "a[", "a[]", "a[+1]", "a[1", "a['b]", "a[99999999999999999999]", "a b", "a]", "$x", "a\nb", "a\xff", "['\u202e']", "a.*", "a[0]b", strings.Repeat("a.", 64) + "a"} {
		p, err := formats.ParsePath(s)
		if err == nil {
			t.Errorf("%q: got %v, want an error", s, p)
			continue
		}
		if !strings.Contains(err.Error(), "; write for example $.timing.decode_tps") {
			t.Errorf("%q: got %v, want a next step", s, err)
		}
	}
}

func TestPathIsAConfigurationValue(t *testing.T) {
	var p formats.Path
	if err := p.UnmarshalText([]byte("a[")); err == nil || p.String() != "$" {
		t.Errorf("got %v, %v, want an error and the zero path", p, err)
	}
	if err := p.UnmarshalText([]byte("a[0]")); err != nil || p.String() != "a[0]" {
		t.Errorf("got %v, %v, want a[0]", p, err)
	}
}

func TestExtract(t *testing.T) {
	x, err := formats.Compile([]formats.Spec{
		{Metric: "decode_tps", JSON: "timing.decode_tps"},
		{Metric: "gone", JSON: "timing.gone"},
		{Metric: "zero", JSON: "timing.zero"},
		{Metric: "seconds", Regexp: `done in ([0-9.]+) s`},
		{Metric: "first", Regexp: `"ms":\s*([-0-9.e]+)`},
		{Metric: "named", Regexp: `(done) in (?P<value>\S+)`},
		{Metric: "huge", JSON: "timing.huge"},
		{Metric: "word", Regexp: `loading (\w+)`},
		{Metric: "no match", Regexp: `never (\d+)`},
		{Metric: "other branch", Regexp: `done|(\d+) tokens`},
		{Metric: "empty", Regexp: `done()`},
	})
	if err != nil {
		t.Fatal(err)
	}
	values, missing, err := x.Extract(formats.NewDocument([]byte(output)))
	wantValues := []formats.Value{{"decode_tps", 41.5}, {"zero", 0}, {"seconds", 3.5}, {"first", 3}, {"named", 3.5}}
	if diff := cmp.Diff(values, wantValues); diff != "" {
		t.Errorf("values: -got +want:\n%s", diff)
	}
	if diff := cmp.Diff(missing, []string{"gone", "no match", "other branch"}); diff != "" {
		t.Errorf("missing: -got +want:\n%s", diff)
	}
	wantErr := `metric "huge": value at timing.huge: "1e999" is too large for a number
metric "word": "model" is not a number
metric "empty": "" is not a number`
	if text(err) != wantErr {
		t.Errorf("got error %v\nwant %s", err, wantErr)
	}
}

func TestExtractNumbersFromText(t *testing.T) {
	x, err := formats.Compile([]formats.Spec{{Metric: "v", Regexp: `v=(\S*)`}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]float64{"1": 1, "-1.5e3": -1500, "0": 0, "0.0e5": 0, "+2": 2, ".5": 0.5} {
		values, _, err := x.Extract(formats.NewDocument([]byte("v=" + in)))
		if err != nil || len(values) != 1 || values[0].Value != want {
			t.Errorf("%s: got %v, %v, want %v", in, values, err, want)
		}
	}
	for _, in := range []string{"", "NaN", "Inf", "-inf", "1e999", "-1e999", "1e-999", "0x10", "1_000", "1,5", "١", "12%", "1.2.3"} {
		values, missing, err := x.Extract(formats.NewDocument([]byte("v=" + in)))
		if err == nil || len(values) != 0 || len(missing) != 0 {
			t.Errorf("%s: got %v, %v, %v, want an error only", in, values, missing, err)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	_, err := formats.Compile([]formats.Spec{
		{Metric: "a"},
		{Metric: "b", JSON: "x", Regexp: "(y)"},
		{Metric: "c", JSON: "x["},
		{Metric: "d", Regexp: "("},
		{Metric: "e", Regexp: "no group"},
		{Metric: "f", JSON: "x"},
		{Metric: "f", JSON: "y"},
		{JSON: "x"},
	})
	got := strings.Split(text(err), "\n")
	want := []string{
		`metric "a": needs a JSON path or a regular expression; write one of the two`,
		`metric "b": needs a JSON path or a regular expression; write one of the two`,
		`metric "c": JSON path "x[": an index or a quoted name is expected in brackets; write for example $.timing.decode_tps, runs[-1].ms or ['tokens/s']`,
		`metric "d": regular expression "(": missing closing ) at "("; see https://pkg.go.dev/regexp/syntax`,
		`metric "e": regular expression "no group" has no group; put parentheses around what it should find`,
		`metric "f" is listed twice; remove one`,
		"metric 8 has no name; give it one",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte(output), "timing.decode_tps", `([-0-9.eE+]+)`)
	f.Add([]byte(`[{"name":"a","total_ms":1,"calls":2}]`), "$", `calls":(\d+)`)
	f.Add([]byte(`{"ids":[1,2,-3]}`), "ids", `(.*)`)
	f.Add([]byte("{\"v\":1e999}\n{\"v\":-0}"), "['v']", `(?P<value>1e9+)`)
	f.Fuzz(func(t *testing.T, stdout []byte, text, re string) {
		doc := formats.NewDocument(slices.Clone(stdout))
		p, err := formats.ParsePath(text)
		if err != nil {
			p = formats.Path{}
		}
		if v, ok, err := doc.Number(p); math.IsNaN(v) || math.IsInf(v, 0) || v != 0 && (!ok || err != nil) {
			t.Errorf("Number: got %v, %v, %v", v, ok, err)
		}
		if s, _, _ := doc.Text(p); !utf8.ValidString(s) {
			t.Errorf("Text: got invalid UTF-8 %q", s)
		}
		if ids, ok, err := doc.Ints(p); ids != nil && (!ok || err != nil) {
			t.Errorf("Ints: got %v, %v, %v", ids, ok, err)
		}
		entries, _, _ := doc.Entries(p)
		for _, e := range entries {
			if e.Name == "" || len(e.Name) > 200 || !utf8.ValidString(e.Name) || !(e.Total >= 0) || math.IsInf(e.Total, 0) || e.Calls < 0 {
				t.Errorf("Entries: got %+v", e)
			}
		}
		x, err := formats.Compile([]formats.Spec{{Metric: "re", Regexp: re}, {Metric: "path", JSON: text}})
		if err != nil {
			return
		}
		values, missing, err := x.Extract(doc)
		for _, v := range values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
				t.Errorf("Extract: got %v", v)
			}
		}
		if n := len(values) + len(missing); n > 2 || n < 2 && err == nil {
			t.Errorf("Extract: got %d values, %d missing, %v", len(values), len(missing), err)
		}
	})
}

func BenchmarkNewDocument(b *testing.B) {
	stdout := []byte(strings.Repeat("some line of a log that a program wrote\n", 10_000) + `{"decode_tps":41.5}`)
	p := path(b, "decode_tps")
	b.SetBytes(int64(len(stdout)))
	for b.Loop() {
		if _, ok, err := formats.NewDocument(stdout).Number(p); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
