package baseline_test

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// publicly compares what a caller can see.
var publicly = cmp.Options{
	cmpopts.IgnoreUnexported(baseline.File{}, baseline.Entry{}, baseline.Metric{}, baseline.Operator{}, baseline.Anchor{}),
	cmpopts.EquateEmpty(),
}

func parse(t *testing.T, data string) *baseline.File {
	t.Helper()
	f, err := baseline.Parse("b.json", []byte(data))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, data)
	}
	return f
}

func marshal(t *testing.T, f *baseline.File) string {
	t.Helper()
	data, err := baseline.Marshal(f)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	return string(data)
}

func metric(name, unit string, better bench.Direction, median, mad float64, n int) baseline.Metric {
	return baseline.Metric{
		Metric:  &bench.Metric{Name: name, Unit: unit, Better: better},
		Summary: bench.Summary{Median: median, MAD: mad, N: n},
	}
}

// anchored are the medians of an anchor.
func anchored(of map[string]float64) (ms baseline.Medians) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		ms = append(ms, baseline.Median{Name: name, Median: of[name]})
	}
	return ms
}

// anchorOf is what an entry's decode_tps is anchored at, and when.
func anchorOf(f *baseline.File, id string) (decode float64, at bench.Point) {
	r := f.Run().ByID()[id]
	if s := r.Sample("decode_tps"); s != nil {
		decode = s.Anchor
	}
	return decode, r.Anchored
}

// TestFormat reads the file that shows every field, and writes it back to the
// byte.
func TestFormat(t *testing.T) {
	path := filepath.Join("testdata", "baseline-linux-cuda.json")
	f, err := baseline.Load(path)
	if err != nil {
		t.Fatal(err)
	}

	captured := time.Date(2026, 3, 1, 9, 0, 0, 250e6, time.UTC)
	prefill := metric("prefill_tps", "tok/s", bench.Higher, 18250.4, 31.5, 5)
	prefill.FallbackFor = "decode_tps"
	decode := metric("decode_tps", "tok/s", bench.Higher, 412.7, 1.2, 5)
	decode.Resolution = 0.1
	maxErr := metric("max_abs_err", "", bench.Lower, 2.5e-7, 0, 5)
	maxErr.Exact = true
	load := metric("model_load_ms", "ms", bench.Lower, 890, 14, 5)
	load.Informational = true
	want := &baseline.File{
		HostLabel:  "linux-cuda",
		CapturedAt: captured,
		Commit:     new("0123abc"),
		Notes:      new(`new attention kernel: < 5 ms & "stable" — größer (accelgate v1.0.0)`),
		Schema:     1,
		Fingerprint: &bench.Fingerprint{
			OS: "linux", Arch: "amd64", CPU: "EPYC 9354", Cores: 32, MemoryGiB: 755, Driver: "570.86",
			Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "NVIDIA H200", MemoryGiB: 139}},
		},
		Entries: []baseline.Entry{{
			CaseID: "tiny__cuda__pp512__baseline", OK: true,
			PrefillTPS: new(18250.4),
			Metrics:    []baseline.Metric{prefill},
			Operators:  []baseline.Operator{{Name: "matmul", TotalMS: 21.75, Calls: 96}, {Name: "rope", TotalMS: 0.4, Calls: 48}},
			Anchor: &baseline.Anchor{
				CapturedAt: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), Commit: "89abdef",
				Metrics: anchored(map[string]float64{"prefill_tps": 17900}),
			},
		}, {
			CaseID: "tiny__cuda__tg128__KV_CACHE_DTYPE=q8_0", OK: true, CorrectnessOK: new(true),
			DecodeTPS: new(412.7), ModelLoadMS: new(890.0),
			Metrics: []baseline.Metric{decode, maxErr, load},
			Anchor: &baseline.Anchor{
				CapturedAt: captured, Commit: "0123abc",
				Metrics: anchored(map[string]float64{"decode_tps": 409.5, "max_abs_err": 2.5e-7, "model_load_ms": 890}),
			},
		}, {
			CaseID: "tiny__vulkan__tg128__baseline", CorrectnessOK: new(false),
		}},
	}
	if diff := cmp.Diff(want, f, publicly); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}

	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), marshal(t, f)); diff != "" {
		t.Errorf("Marshal (-file +written):\n%s", diff)
	}
}

// TestDescriptions: what an entry says of a metric wins over what the file says of it, wherever both mean the same, and a file in which
// each entry describes its metrics and has its own medians for an anchor is written with both once.
func TestDescriptions(t *testing.T) {
	const once = `{"descriptions": {"m": {"better": "lower", "unit": "ms", "owner": 1}, "gone": {"better": "lower", "owner": 2}}, "entries": [
		{"case_id": "a", "ok": true, "metrics": {"m": {"median": 2}}},
		{"case_id": "b", "ok": true, "metrics": {"m": {"median": 3, "better": "lower", "resolution": 0.5}}}]}`
	f := parse(t, once)
	a, b := f.Entries[0].Metric("m"), f.Entries[1].Metric("m")
	if a.Better != bench.Lower || a.Unit != "ms" || a.Resolution != 0 || b.Better != bench.Lower || b.Unit != "" || b.Resolution != 0.5 {
		t.Errorf("the metrics are %+v and %+v", a.Metric, b.Metric)
	}
	written := marshal(t, f)
	if !strings.Contains(written, `"m": {"better": "lower", "unit": "ms", "owner": 1}`) || strings.Contains(written, "gone") {
		t.Errorf("written:\n%s", written)
	}
	const each = `{"entries": [
		{"case_id": "a", "ok": true, "metrics": {"m": {"median": 2, "better": "lower", "unit": "ms"}}, "anchor": {"commit": "0", "metrics": {"m": 2}}},
		{"case_id": "b", "ok": true, "metrics": {"m": {"median": 3, "better": "lower", "resolution": 0.5}}}]}`
	if got := marshal(t, parse(t, each)); got != strings.Replace(written, `, "owner": 1`, "", 1) {
		t.Errorf("written:\n%s", got)
	}
	for wrong, want := range map[string]string{
		`{"entries": [{"case_id": "a"}], "descriptions": {}}`:                                                     "move them before",
		`{"descriptions": {"m": {"better": "up"}}}`:                                                               `write "higher" or "lower"`,
		`{"descriptions": {"m": {"better": "lower", "min_count": 2}}}`:                                            "write both, or neither",
		`{"descriptions": {"m": {}}, "entries": [{"case_id": "a", "ok": true, "metrics": {"m": {"median": 1}}}]}`: "has no better",
	} {
		if _, err := baseline.Parse("h", []byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", wrong, err, want)
		}
	}
}

// TestPackageComment keeps the example in the documentation true.
func TestPackageComment(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "baseline.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(source.Doc.Text(), "\n\n\t{")
	example, _, closed := strings.Cut(example, "\n\t}\n")
	if !found || !closed {
		t.Fatalf("no example in\n%s", source.Doc.Text())
	}
	example = strings.ReplaceAll("{"+example+"\n}\n", "\n\t", "\n")
	if diff := cmp.Diff(example, marshal(t, parse(t, example))); diff != "" {
		t.Errorf("the example is not what Marshal writes (-example +written):\n%s", diff)
	}
}

func TestNumbersAndStrings(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {1850, "1850"}, {95.3, "95.3"}, {-2.5, "-2.5"},
		{1e-6, "0.000001"}, {123456789012, "123456789012"}, {9.5e20, "950000000000000000000"}, {1e-9, "1e-09"},
		{math.SmallestNonzeroFloat64, "5e-324"},
	} {
		f := &baseline.File{Entries: []baseline.Entry{{CaseID: "a", Metrics: []baseline.Metric{metric("m", "", bench.Lower, c.v, 0, 1)}}}}
		if got := marshal(t, f); !strings.Contains(got, `{"median": `+c.want+`, "mad": 0, "n": 1}`) {
			t.Errorf("%v is written as\n%swant %s", c.v, got, c.want)
		}
	}
	for _, c := range []struct{ s, want string }{
		{"a\"b\\c\n\r\t", `a\"b\\c\n\r\t`},
		{"<b>&'é世界🚀", `<b>&'é世界🚀`},
		{"\x00\x1b[31m\x7f", `\u0000\u001b[31m\u007f`},
		{"left\u202eright\u200b\ufeff\U000E0041", `left\u202eright\u200b\ufeff\udb40\udc41`},
		{"bad\xff\xc3", "bad\ufffd\ufffd"},
	} {
		got := marshal(t, &baseline.File{Notes: &c.s})
		if !strings.Contains(got, `"notes": "`+c.want+"\"\n") && !strings.Contains(got, `"notes": "`+c.want+"\",\n") {
			t.Errorf("%q is written as\n%swant %s", c.s, got, c.want)
		}
	}
}

// TestMarshalRefuses what Parse would refuse.
func TestMarshalRefuses(t *testing.T) {
	refused := func(want string, entries ...baseline.Entry) {
		t.Helper()
		_, err := baseline.Marshal(&baseline.File{HostLabel: "h", Entries: entries})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Marshal error is %v, want one with %q", err, want)
		}
	}
	refused(`case_id "a" is on line 7 already`, baseline.Entry{CaseID: "a"}, baseline.Entry{CaseID: "b"}, baseline.Entry{CaseID: "a"})
	refused("case_id is empty", baseline.Entry{})
	refused(`"decode_tps" must be a number, not NaN`, baseline.Entry{CaseID: "a", DecodeTPS: new(math.NaN())})
	refused(`"decode_tps" must be a number, not +Inf`, baseline.Entry{CaseID: "a", DecodeTPS: new(math.Inf(1))})
	refused(`"prefill_tps" is negative`, baseline.Entry{CaseID: "a", PrefillTPS: new(-1.0)})
	refused(`"n" is -1`, baseline.Entry{CaseID: "a", Metrics: []baseline.Metric{metric("m", "", bench.Lower, 1, 0, -1)}})
	refused(`better is "up"`, baseline.Entry{CaseID: "a", Metrics: []baseline.Metric{metric("m", "", "up", 1, 0, 1)}})
	refused(`"m" appears twice`, baseline.Entry{CaseID: "a", Metrics: []baseline.Metric{metric("m", "", bench.Lower, 1, 0, 1), metric("m", "", bench.Lower, 2, 0, 1)}})

	_, err := baseline.Marshal(&baseline.File{Fingerprint: &bench.Fingerprint{MemoryGiB: math.NaN()}})
	if err == nil {
		t.Error("a fingerprint with NaN was written")
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := baseline.Path(filepath.Join(dir, "new", "folder"), "h")
	if _, err := baseline.Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of no file: error %v, want fs.ErrNotExist", err)
	}

	first := &baseline.File{HostLabel: "h", Entries: []baseline.Entry{{CaseID: "b"}, {CaseID: "a", OK: true}}}
	if err := baseline.Save(path, first); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := marshal(t, first); string(before) != want {
		t.Errorf("Save wrote\n%swant\n%s", before, want)
	}
	if first.Entries[0].CaseID != "b" {
		t.Error("Save sorted the entries of the caller")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode is %v (%v), want 0644", info.Mode(), err)
	}

	// A file that could not be read again leaves the old one alone, and Load
	// tells a corrupt file from a missing one.
	if err := baseline.Save(path, &baseline.File{Entries: []baseline.Entry{{}}}); err == nil {
		t.Error("Save wrote an entry without a case_id")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("a refused Save left\n%s(%v), want\n%s", after, err, before)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v (%v), want the baseline only", entries, err)
	}
	if err := os.WriteFile(path, before[:len(before)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := baseline.Load(path); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of half a file: error %v, want one that is not fs.ErrNotExist", err)
	}
	if err := baseline.Save(filepath.Join(path, "b.json"), first); err == nil {
		t.Error("Save created a file below a file")
	}
}

// TestSaveIsAtomic reads while another goroutine writes: every state that can
// be seen is a whole file.
func TestSaveIsAtomic(t *testing.T) {
	path := baseline.Path(t.TempDir(), "h")
	save := func(n int) error {
		f := &baseline.File{HostLabel: "h"}
		for i := range n {
			f.Entries = append(f.Entries, baseline.Entry{CaseID: fmt.Sprint(i), OK: true})
		}
		return baseline.Save(path, f)
	}
	if err := save(1); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		for i := range 40 {
			if err := save(1 + 500*(i%2)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		f, err := baseline.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Entries); n != 1 && n != 501 {
			t.Fatalf("%d entries, want 1 or 501", n)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestPrune(t *testing.T) {
	f := parse(t, `{"host_label":"h","entries":[{"case_id":"c","ok":true},{"case_id":"a","ok":true},{"case_id":"b","ok":false}],"kept":1}`)
	kept, removed := baseline.Prune(f, func(id string) bool { return id == "a" })
	if diff := cmp.Diff([]string{"b", "c"}, removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if got := marshal(t, kept); strings.Contains(got, `"b"`) || !strings.Contains(got, `"a"`) || !strings.Contains(got, `"kept": 1`) {
		t.Errorf("kept\n%s", got)
	}
	if len(f.Entries) != 3 {
		t.Errorf("Prune changed its argument: %d entries, want 3", len(f.Entries))
	}
}

func TestPath(t *testing.T) {
	if got, want := baseline.Path("baselines", "linux-cuda"), filepath.Join("baselines", "baseline-linux-cuda.json"); got != want {
		t.Errorf("Path = %q, want %q", got, want)
	}
}
