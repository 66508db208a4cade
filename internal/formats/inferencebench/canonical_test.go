package inferencebench

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func published(t *testing.T) map[string][]byte {
	t.Helper()
	dir := testtier.Data(t, "published envelopes were NOT read", "inferencebench/*.json")
	files := map[string][]byte{}
	for _, name := range []string{"c1-79d354b13545", "c4-95cbfd4f49dc", "c16-b91875fdf860", "f06278fb9eb4", "self-regression-baseline"} {
		data, err := os.ReadFile(filepath.Join(dir, "inferencebench", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

func TestPublishedHashes(t *testing.T) {
	t.Parallel()
	for name, data := range published(t) {
		e, err := Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		content, err := ContentHash(data)
		suffix := name[strings.LastIndex(name, "-")+1:]
		if name == "self-regression-baseline" {
			suffix = "b29e2387e87a" // what Python computes; the file has another name
		}
		if err != nil || !strings.HasPrefix(content, suffix) {
			t.Errorf("%s: content hash is %s, %v", name, content, err)
		}
		hardware, err := FingerprintHash(data)
		if err != nil || hardware != e.Fingerprint {
			t.Errorf("%s: fingerprint is %s, the file says %s, %v", name, hardware, e.Fingerprint, err)
		}
	}
}

// TestPythonNumbers compares with what json.dumps(json.loads(s)) of CPython
// prints.
func TestPythonNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0.0", "-0.0": "-0.0", "-0e5": "-0.0", "20.0": "20.0", "20": "20", "1e2": "100.0", "1E+2": "100.0",
		"0.0001": "0.0001", "0.00001": "1e-05", "0.00001698732790695847": "1.698732790695847e-05", "123e-7": "1.23e-05",
		"1e15": "1000000000000000.0", "1e16": "1e+16", "9999999999999998.0": "9999999999999998.0", "12345678901234567890.0": "1.2345678901234567e+19",
		"12345678901234567890": "12345678901234567890", "-170141183460469231731687303715884105728": "-170141183460469231731687303715884105728",
		"0.1": "0.1", "0.30000000000000004": "0.30000000000000004", "1.7976931348623157e308": "1.7976931348623157e+308",
		"5e-324": "5e-324", "1e-400": "0.0", "1e400": "Infinity", "-1e400": "-Infinity", "NaN": "NaN", "-Infinity": "-Infinity",
		"1e22": "1e+22", "100000.0": "100000.0", "2.50": "2.5",
	} {
		v, err := read([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got := string(v.canonical()); got != want {
			t.Errorf("%s becomes %s, Python prints %s", in, got, want)
		}
	}
}

func TestPythonTexts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"<a&b>"`:                          `"<a&b>"`,
		`"\u00e9\u4e2d"`:                   `"\u00e9\u4e2d"`,
		`"é中😀"`:                            `"\u00e9\u4e2d\ud83d\ude00"`,
		`"\ud83d\ude00"`:                   `"\ud83d\ude00"`,
		`"\uD83D"`:                         `"\ud83d"`,
		`"\ude00\ud83d"`:                   `"\ude00\ud83d"`,
		`"\/\b\f\n\r\t\"\\"`:               `"/\b\f\n\r\t\"\\"`,
		`"\u0000\u001f\u007f"`:             `"\u0000\u001f\u007f"`,
		`{"b":1,"a":[ true , null,{} ]}`:   `{"a":[true,null,{}],"b":1}`,
		`{"😀":1,"\uffff":2,"\ud800":3}`:    `{"\ud800":3,"\uffff":2,"\ud83d\ude00":1}`, // by code point, not by UTF-16 unit
		`{"a.b":1,"A":2,"_":3,"":4}`:       `{"":4,"A":2,"_":3,"a.b":1}`,
		"\ufeff {\"NaN\": \"NaN, -0\" }\n": `{"NaN":"NaN, -0"}`,
	} {
		v, err := read([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got := string(v.canonical()); got != want {
			t.Errorf("%s becomes %s, Python prints %s", in, got, want)
		}
	}
}

// TestAgainstPython asks the real Python about random bit patterns.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		testtier.Missing(t, "floats were NOT compared with Python's: install python3")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	list := value{kind: array}
	for range 20_000 {
		f := math.Float64frombits(rng.Uint64())
		list.items = append(list.items, floatValue(f), floatValue(rng.NormFloat64()), floatValue(math.Round(rng.ExpFloat64()*1e17)),
			floatValue(math.Pow(10, float64(rng.IntN(40)-20))))
	}
	for c := range rune(0x11000) {
		list.items = append(list.items, value{kind: str, text: string(appendCodePoint(nil, c))})
	}
	ours := list.canonical()
	cmd := exec.CommandContext(t.Context(), python, "-c",
		`import json,sys; sys.stdout.write(json.dumps(json.load(sys.stdin), sort_keys=True, separators=(",", ":")))`)
	cmd.Stdin = strings.NewReader(string(ours))
	theirs, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(ours), ","), strings.Split(string(theirs), ",")
	if len(a) != len(b) {
		t.Fatalf("Python prints %d parts, we %d", len(b), len(a))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("item %d is %s, Python prints %s", i, a[i], b[i])
		}
	}
}

// FuzzFloat checks that what is printed reads back as the same number.
func FuzzFloat(f *testing.F) {
	for _, v := range []float64{0, 1, 1e16, 9.999e-5, 5e-324, math.MaxFloat64, math.Inf(1)} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, want float64) {
		v, err := read([]byte(pythonFloat(want)))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := v.float()
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%v is printed as %s", want, v.text)
		}
		if integer.MatchString(v.text) {
			t.Errorf("%v is printed as the integer %s", want, v.text)
		}
	})
}

// FuzzRead checks the reader against encoding/json, and that the canonical
// form is a fixed point.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e3,"\ud83d\ude00",null,true]}`, `{"a":1,"a":2}`, `[NaN,-Infinity]`, `"\ud800x"`, `[1,]`, "[01]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := read(data)
		if err != nil {
			if v, ok := decodeAll(data); ok && !hasTwice(err) && len(data) < 1000 {
				t.Fatalf("encoding/json reads %.200q as %v: %v", data, v, err)
			}
			return
		}
		once := v.canonical()
		again, err := read(once)
		if err != nil || string(again.canonical()) != string(once) {
			t.Fatalf("%.200q is written as %.200q, which is not a fixed point: %v", data, once, err)
		}
		indented, err := read(v.indented())
		if err != nil || string(indented.canonical()) != string(once) {
			t.Fatalf("indenting changes %.200q: %v", once, err)
		}
	})
}

func hasTwice(err error) bool {
	return strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "UTF-8") || strings.Contains(err.Error(), "nested")
}

func decodeAll(data []byte) (any, bool) {
	var v any
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	return v, json.Valid(data) && decoder.Decode(&v) == nil
}
