package packing_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestReadLengths(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format      packing.Format
		field, text string
		want        []int64
		err         string
	}{
		{packing.JSON, "", " [ 1,20 ,\n0]\n", []int64{1, 20, 0}, ""},
		{packing.JSON, "", "[]", nil, ""},
		{packing.JSON, "", "[9223372036854775807]", []int64{1<<63 - 1}, ""},
		{packing.JSON, "", "[1,\n\n2.5]", nil, `lengths, line 3: "2.5" is not a length: write an integer`},
		{packing.JSON, "", "[1,\n-2]", nil, `line 2: "-2" is not a length`},
		{packing.JSON, "", "[+2]", nil, `"+2" is not a length`},
		{packing.JSON, "", "[1e3]", nil, `"1e3" is not a length`},
		{packing.JSON, "", "[007]", nil, `"007" is not a length`},
		{packing.JSON, "", "[1_000]", nil, `"1_000" is not a length`},
		{packing.JSON, "", "[9223372036854775808]", nil, `"9223372036854775808" is not a length`},
		{packing.JSON, "", "[" + strings.Repeat("9", 99) + "]", nil, `"` + strings.Repeat("9", 40) + `" (cut) is not a length`},
		{packing.JSON, "", "[1,]", nil, `"" is not a length`},
		{packing.JSON, "", "[1 2]", nil, "line 1: no JSON array of integers"},
		{packing.JSON, "", "[1", nil, "no JSON array of integers"},
		{packing.JSON, "", "[1,", nil, "no JSON array of integers"},
		{packing.JSON, "", "[1 ", nil, "no JSON array of integers"},
		{packing.JSON, "", "[1]]", nil, "no JSON array of integers"},
		{packing.JSON, "", "[\n] 1", nil, "line 2: no JSON array of integers"},
		{packing.JSON, "", "", nil, "line 1: no JSON array of integers"},
		{packing.JSON, "", `{"length":1}`, nil, "no JSON array of integers"},
		{packing.JSON, "", "[[1]]", nil, `"[1" is not a length`},
		{packing.JSON, "", `["1"]`, nil, `"\"1\"" is not a length`},
		{packing.JSON, "len", "[1]", nil, `field "len" of a JSON array`},
		{packing.JSONL, "", "5\n{\"len\": 7, \"text\": \"a\\nb\"}\r\n{\"num_tokens\":0}", []int64{5, 7, 0}, ""},
		{packing.JSONL, "n", `{"n": 3, "len": 4}`, []int64{3}, ""},
		{packing.JSONL, "", `{"length": 3, "len": 4}`, nil, `both "length" and "len": keep one`},
		{packing.JSONL, "", `{"len": 3, "len": 4}`, nil, `both "len" and "len"`},
		{packing.JSONL, "", "5\n{\"tokens\":1}", nil, `line 2: no field "length, len, num_tokens": name the field`},
		{packing.JSONL, "", `{"Len": 3}`, nil, "no field"},
		{packing.JSONL, "", `{"x": {"len": 3}}`, nil, "no field"},
		{packing.JSONL, "", `{"len": "3"}`, nil, `"\"3\"" is not a length`},
		{packing.JSONL, "", `{"len": null}`, nil, `"null" is not a length`},
		{packing.JSONL, "", `{"len": 3} {"len": 4}`, nil, "no JSON object: write one"},
		{packing.JSONL, "", `{"len": 3`, nil, "no JSON object"},
		{packing.JSONL, "", "1\n\n2", nil, `line 2: "" is not a length`},
		{packing.JSONL, "", "", nil, "no lengths: write one"},
		{packing.CSV, "", "5\n7\n", []int64{5, 7}, ""},
		{packing.CSV, "", "tokens\n5\n", []int64{5}, ""},
		{packing.CSV, "", "\xef\xbb\xbfid,num_tokens\n1,5\n2,7\n", []int64{5, 7}, ""},
		{packing.CSV, "n", "id,n\n1,5\n2,7\n", []int64{5, 7}, ""},
		{packing.CSV, "2", "1,5\n2,7\n", []int64{5, 7}, ""},
		{packing.CSV, "2", "a,b\n\"x\ny\",5\n2,7\n", []int64{5, 7}, ""},
		{packing.CSV, "2", "a,b\n\"x\ny\",z\n", nil, `line 3: "z" is not a length`},
		{packing.CSV, "3", "1,5\n", nil, "line 1: no column 3: give 1 to 2"},
		{packing.CSV, "0", "1,5\n", nil, "no column 0"},
		{packing.CSV, "", "-5\n7\n", nil, `line 1: "-5" is not a length`},
		{packing.CSV, "", "5\n 7\n", nil, `line 2: " 7" is not a length`},
		{packing.CSV, "", "a,b\n1,2\n", nil, `no column "length, len, num_tokens" in the header: give the name or number`},
		{packing.CSV, "", "len,length\n1,2\n", nil, "both column 1 and column 2"},
		{packing.CSV, "n", "n,n\n1,2\n", nil, "both column 1 and column 2"},
		{packing.CSV, "", "len\n1,2\n", nil, "line 2: wrong number of fields: write records"},
		{packing.CSV, "", "len\n\"1\n", nil, "line 2: extraneous or missing \" in quoted-field: write"},
		{packing.CSV, "", "len\n", nil, "line 2: no lengths: write one"},
		{packing.CSV, "", "", nil, "line 1: no lengths: write one"},
		{"xml", "", "", nil, `unknown format "xml": use json, jsonl or csv`},
	} {
		got, err := packing.ReadLengths(strings.NewReader(test.text), test.format, test.field)
		switch {
		case test.err == "" && (err != nil || !slices.Equal(got, test.want)):
			t.Errorf("%s %q: got %v, %v", test.format, test.text, got, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s %q: got %v, %v, want %s", test.format, test.text, got, err, test.err)
		}
	}
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]packing.Format{"a.json": packing.JSON, "b.JSONL": packing.JSONL, "c.d.csv": packing.CSV, "json": "", "a.txt": ""} {
		if got, err := packing.FormatOf(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// endless is a file without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestFilesAreLimited(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	if _, err := packing.ReadLengths(endless{}, packing.CSV, ""); err == nil || !strings.Contains(err.Error(), "the lengths take more than 134217728 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestLengthsAreCountedThorough(t *testing.T) {
	testtier.Thorough(t)
	text := strings.Repeat("1\n", packing.MaxLengths+1)
	if _, err := packing.ReadLengths(strings.NewReader(text), packing.JSONL, ""); err == nil || !strings.Contains(err.Error(), "line 8388609: more than 8388608 lengths") {
		t.Errorf("got %v", err)
	}
}

func FuzzReadLengths(f *testing.F) {
	for _, text := range []string{
		"[1, 2,\n3]", "[]", "[1,]", "1\n2\n", `{"len": 3, "x": [1, {"len": 2}]}`, "a,len\n1,2\n", "\xef\xbb\xbflen\n\"3\"\n", "[9223372036854775807]",
		`{"len": 1e3}`, "\"a\"\"b\",1\n", "{\"\xff\": 1}\n", "[[[[", "len\n\"1\n",
	} {
		for format := range 3 {
			f.Add(format, "", text)
			f.Add(format, "len", text)
			f.Add(format, "2", text)
		}
	}
	f.Fuzz(func(t *testing.T, format int, field, text string) {
		formats := []packing.Format{packing.JSON, packing.JSONL, packing.CSV}
		lengths, err := packing.ReadLengths(strings.NewReader(text), formats[uint(format)%3], field)
		if err != nil {
			if s := err.Error(); !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 300 || !strings.Contains(s, ": ") {
				t.Errorf("message %q", s)
			}
			return
		}
		again, err := json.Marshal(append([]int64{}, lengths...))
		if err != nil {
			t.Fatal(err)
		}
		back, err := packing.ReadLengths(strings.NewReader(string(again)), packing.JSON, "")
		if err != nil || !slices.Equal(back, lengths) {
			t.Errorf("%s became %v, %v", again, back, err)
		}
		if formats[uint(format)%3] == packing.JSON {
			var other []int64
			if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &other); err != nil || !slices.Equal(other, lengths) {
				t.Errorf("%q: got %v, encoding/json %v, %v", text, lengths, other, err)
			}
		}
		for _, length := range lengths {
			if length < 0 {
				t.Errorf("length %d", length)
			}
		}
	})
}

// FuzzPack demands that any list of bytes is packed by every algorithm under
// every policy, or refused in one line.
func FuzzPack(f *testing.F) {
	f.Add([]byte{10, 200, 0, 30, 30, 30}, int64(100), 3, 0.5)
	f.Add([]byte{}, int64(1), 1, 0.0)
	f.Add([]byte{255, 255, 1}, int64(1)<<62, 131072, 1e300)
	f.Fuzz(func(t *testing.T, text []byte, limit int64, ranks int, square float64) {
		if len(text) > 64 || ranks > 1<<10 {
			return
		}
		p := packing.Problem{Max: limit, Ranks: ranks, Cost: packing.Cost{A: 1, B: square}}
		for _, c := range text {
			p.Lengths = append(p.Lengths, int64(c)<<(c%55))
		}
		for _, p.Policy = range append(packing.Policies(), packing.Legacy) {
			for _, a := range packing.Algorithms() {
				k, err := a.Pack(p)
				if err != nil {
					if strings.Contains(err.Error(), "broken") {
						t.Errorf("%s: %v", a.Name, err)
					}
					continue
				}
				if m := packing.Measure(p, k); m.RowsOverBound < 0 {
					t.Errorf("%s: %+v", a.Name, m)
				}
			}
		}
	})
}
