package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
)

var (
	start   = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	machine = bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC", Cores: 8, Driver: "550.54.15"}
	metrics = []bench.Metric{{Name: "tps", Unit: "tok/s", Better: bench.Higher}, {Name: "ms", Unit: "ms", Better: bench.Lower}, {Name: "note", Better: bench.Lower, Informational: true}}
)

// made is a run of the nth day with cells a, b, c... of one value each.
func made(n int, values ...float64) *bench.Run {
	run := &bench.Run{Schema: bench.RunSchema, Revision: fmt.Sprintf("rev%d", n), Started: start.AddDate(0, 0, n), Host: bench.Host{Label: "desk", Fingerprint: machine},
		Metrics: metrics}
	for i, v := range values {
		run.Results = append(run.Results, bench.Result{Cell: bench.Cell{Raw: string(rune('a' + i))}, Outcome: bench.Passed, Samples: []bench.Sample{
			{Metric: "note", Values: []float64{1}}, {Metric: "ms", Values: []float64{1000 / v}}, {Metric: "tps", Values: []float64{v, v}}}})
	}
	return run
}

// reference is a committed baseline with cells a, b, c... of these medians.
func reference(values ...float64) *bench.Run {
	run := made(0, values...)
	for i, v := range values {
		run.Results[i].Samples = []bench.Sample{{Metric: "tps", Summary: &bench.Summary{Median: v, MAD: 0, N: 3}}}
	}
	return run
}

func add(t testing.TB, f *history.File, runs ...*bench.Run) {
	t.Helper()
	for _, run := range runs {
		if _, err := f.Add(run); err != nil {
			t.Fatal(err)
		}
	}
}

// again returns what a file says after it was written and read.
func again(t testing.TB, f *history.File) *history.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", history.Name("desk"))
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	read, err := history.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestKeptRunsAreReadAgain(t *testing.T) {
	t.Parallel()
	var f history.File
	run := made(2, 10, 20.123456789)
	run.Calibration = &bench.Calibration{Before: []float64{3, 5}, After: []float64{4}}
	run.Results[1].Conditions = map[string]string{"rate": "4"}
	add(t, &f, run, made(1, 11), made(3, 12, 22, 32))
	if added, err := f.Add(made(2, 99)); err != nil || !added.Known || f.Len() != 3 {
		t.Errorf("a run that is known was added: %+v, %v", added, err)
	}
	got := again(t, &f).Runs("desk")
	if len(got) != 3 || got[0].Revision != "rev1" || got[1].Revision != "rev2" || got[2].Revision != "rev3" {
		t.Fatalf("got %d runs, want rev1 to rev3", len(got))
	}
	want := []bench.Sample{{Metric: "tps", Values: []float64{20.12346, 20.12346}}, {Metric: "ms", Values: []float64{49.69325}}}
	if diff := cmp.Diff(want, got[1].Results[1].Samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if got[1].Results[1].Conditions["rate"] != "4" || got[1].Metric("note") != nil || got[1].Metric("ms").Better != bench.Lower || got[1].Host.CPU != "EPYC" {
		t.Errorf("got %+v", got[1])
	}
	for _, run := range got {
		if err := run.Validate(); err != nil {
			t.Errorf("%s: %v", run.Revision, err)
		}
	}
}

func TestOnlyWhatIsFitIsKept(t *testing.T) {
	t.Parallel()
	run := made(1, 10, 20, 30, 40, 50, 60)
	run.Metrics = append([]bench.Metric{{Name: "p99", Better: bench.Lower, CountedBy: "note", MinCount: 100}}, metrics...)
	run.Results[1].Outcome = bench.Incorrect
	run.Results[2].Caveat = "the client was slow"
	run.Results[3].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"throttled"}}
	run.Results[4].Samples = []bench.Sample{{Metric: "p99", Values: []float64{5}}, {Metric: "note", Values: []float64{99}}}
	run.Results[5].Health = &bench.Health{Status: bench.HealthUnknown}
	var f history.File
	added, err := f.Add(run)
	if err != nil {
		t.Fatal(err)
	}
	want := history.Added{Cells: 3, Unhealthy: 1, Left: []history.Left{{"b", "it did not pass: incorrect"}, {"c", "its numbers are doubtful: the client was slow"},
		{"e", "it has no number that is gated"}}}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	broken := made(2, 1)
	broken.Results[0].Outcome = bench.Failed
	if _, err := f.Add(broken); !errors.Is(err, history.ErrNothing) || f.Len() != 1 {
		t.Errorf("a run without anything fit: %v, %d runs", err, f.Len())
	}
}

func TestTheNewestRunsStay(t *testing.T) {
	t.Parallel()
	var f history.File
	for n := range history.MaxRuns + 5 {
		add(t, &f, made(n, 10))
	}
	if added, err := f.Add(made(-1, 10)); !errors.Is(err, history.ErrNothing) || added.Cells != 0 {
		t.Errorf("one older than all: %+v, %v", added, err)
	}
	if got := f.Runs("desk"); f.Len() != history.MaxRuns || got[0].Revision != "rev5" {
		t.Errorf("%d runs from %s, want %d from rev5", f.Len(), got[0].Revision, history.MaxRuns)
	}
	whole, err := f.Marshal(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	half, err := f.Marshal(len(whole) / 2)
	if err != nil || len(half) > len(whole)/2 || len(half) < len(whole)/3 || !bytes.HasSuffix(whole, half) {
		t.Errorf("%d bytes of %d, %v; want the newest runs in at most half", len(half), len(whole), err)
	}
	if _, err := f.Marshal(100); err == nil || !strings.Contains(err.Error(), "fewer cells") {
		t.Errorf("a run that does not fit: %v", err)
	}
}

func TestAbsentAndTorn(t *testing.T) {
	t.Parallel()
	if _, err := history.Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := history.Load(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
	var f history.File
	add(t, &f, made(1, 10), made(2, 20))
	data, err := f.Marshal(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range data {
		read, err := history.Read("f", bytes.NewReader(data[:cut]))
		if want := bytes.Count(data[:cut], []byte("\n")); err != nil || read.Len() != want {
			t.Fatalf("cut at %d: %v, %d runs, want %d", cut, err, read.Len(), want)
		}
	}
}

// TestStrict gives what no build of ours writes. Each case is a line that is
// right but for one thing.
func TestStrict(t *testing.T) {
	t.Parallel()
	const line = `{"schema":1,"revision":"r","started":"2026-03-01T09:00:00Z","fingerprint":{"cpu":"x"},"metrics":[{"name":"m","better":"lower"}],"cells":{"a":[[0,1]]}}`
	if _, err := history.Read("f", strings.NewReader(line+"\n")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"schema":          {`"schema":1`, `"schema":2`, "schema 2, this build reads 1"},
		"no schema":       {`"schema":1,`, ``, "schema 0"},
		"no start":        {`"started":"2026-03-01T09:00:00Z",`, ``, "when the run started"},
		"unknown member":  {`"schema":1`, `"schema":1,"more":{"x":[1]}`, `"more" is not known`},
		"key twice":       {`"schema":1`, `"schema":1,"schema":1`, `"schema" occurs twice`},
		"other case":      {`"schema":1`, `"Schema":1`, `"Schema" is not known`},
		"cell twice":      {`"a":[[0,1]]`, `"a":[[0,1]],"a":[[0,1]]`, `cell "a" occurs twice`},
		"escaped twice":   {`"a":[[0,1]]`, `"a":[[0,1]],"\u0061":[[0,1]]`, `cell "a" occurs twice`},
		"no id":           {`"a":[[`, `"":[[`, "no id"},
		"long id":         {`"a":[[`, `"` + strings.Repeat("a", bench.MaxID+1) + `":[[`, "more than 4096 bytes"},
		"text":            {`[[0,1]]`, `[[0,"1"]]`, "number belongs"},
		"null":            {`[[0,1]]`, `[[0,null]]`, "number belongs"},
		"not a list":      {`[[0,1]]`, `[0,1]`, "list belongs"},
		"not an object":   {`{"a":[[0,1]]}`, `[]`, "object belongs"},
		"too large":       {`[[0,1]]`, `[[0,1e999]]`, "too large"},
		"no value":        {`[[0,1]]`, `[[0]]`, "at least one value"},
		"empty":           {`[[0,1]]`, `[[]]`, "at least one value"},
		"no such metric":  {`[[0,1]]`, `[[1,1]]`, "out of order, twice or not at all"},
		"metric twice":    {`[[0,1]]`, `[[0,1],[0,1]]`, "out of order, twice or not at all"},
		"half a metric":   {`[[0,1]]`, `[[0.5,1]]`, "place of a metric"},
		"negative metric": {`[[0,1]]`, `[[-1,1]]`, "place of a metric"},
		"huge metric":     {`[[0,1]]`, `[[1e18,1]]`, "place of a metric"},
		"many values":     {`[[0,1]]`, `[[0` + strings.Repeat(",1", 1001) + `]]`, "more than 1000 values"},
		"direction":       {`"lower"`, `"up"`, `want "higher" or "lower"`},
		"calibration":     {`"schema":1`, `"schema":1,"calibration_ms":-1`, "calibration of -1 ms"},
		"conditions":      {`[[0,1]]`, `[0,[0,1]]`, "has conditions 0 of 0"},
		"half conditions": {`[[0,1]]`, `[0.5,[0,1]]`, "not a place of conditions"},
		"many conditions": {`"schema":1`, `"schema":1,"conditions":[{}` + strings.Repeat(",{}", 10_000) + `]`, "more than 10000 different conditions"},
		"long header":     {`"schema":1`, `"schema":1,"conditions":[{}` + strings.Repeat(" ", 16<<20) + `]`, "take more than 16777216 bytes"},
		"long metrics":    {`"metrics":[`, `"metrics":[` + strings.Repeat(" ", 4<<20), `"metrics" takes more than 4194304 bytes`},
		"metric's key":    {`"better"`, `"x":1,"better"`, "metrics: "},
		"both healths":    {`{"a":[[0,1]]}`, `{"a":[[0,1]]},"unhealthy":{"a":[[0,1]]}`, `cell "a" occurs twice`},
		"health twice":    {`{"a":[[0,1]]}`, `{},"unhealthy":{"a":[[0,1]]},"unhealthy":{}`, `"unhealthy" occurs twice`},
		"no cells":        {`{"a":[[0,1]]}`, `{},"unhealthy":[]`, "object belongs"},
		"not JSON":        {`{"schema"`, `{schema`, "not JSON"},
		"not UTF-8":       {`"revision":"r"`, "\"revision\":\"\xff\"", "not JSON"},
		"not a document":  {line, `7`, "object belongs"},
		"blank line":      {line, ``, "not JSON"},
		"order":           {line, line + "\n" + strings.Replace(line, "2026", "2025", 1), "f:2: started before"},
	} {
		text := strings.Replace(line, c.old, c.new, 1) + "\n"
		_, err := history.Read("f", strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "record runs again") {
			t.Errorf("%s: %v, want %q and a next step", name, err, c.want)
		}
		if err != nil && (len(err.Error()) > 600 || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: the error is long: %.700v", name, err)
		}
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	var f history.File
	add(t, &f, made(1, 100, 50), made(2, 104), made(3, 85, 51), made(4, 96, 52))
	other := made(5, 101, 50)
	other.Host.Cores = 4
	driver := made(6, 101, 50)
	driver.Host.Driver = "560.1"
	unknown := made(7, 102, 49)
	unknown.Host.Driver = ""
	minor := made(8, 103, 50)
	minor.Host.Driver = "550.90"
	unit := made(9, 103, 50)
	unit.Metrics = []bench.Metric{{Name: "tps", Unit: "req/s", Better: bench.Higher}}
	asked := made(10, 103, 50)
	asked.Results[0].Conditions = map[string]string{"rate": "4"}
	add(t, &f, other, driver, unknown, minor, unit, asked)
	ref := reference(100, 50, 7)
	ref.Results[2].Samples[0].History = [][]float64{{1}} // of before
	again(t, &f).Attach(ref)
	two := func(v float64) []float64 { return []float64{v, v} }
	want := [][]float64{two(100), two(104), two(85), two(96), two(102), two(103), nil, nil} // the last ones are of another unit or load
	if diff := cmp.Diff(want, ref.Results[0].Samples[0].History); diff != "" {
		t.Errorf("history of a (-want +got):\n%s", diff)
	}
	want = [][]float64{two(50), nil, two(51), two(52), two(49), two(50), nil, two(50)}
	if diff := cmp.Diff(want, ref.Results[1].Samples[0].History); diff != "" {
		t.Errorf("history of b (-want +got):\n%s", diff)
	}
	if got := ref.Results[2].Samples[0].History; got != nil {
		t.Errorf("history of c is %v, want none", got)
	}
}

// TestChangePointsBeginALevel holds that the runs after the last change of level are
// the history, that single odd runs are noise and stay, and that a noisy history is
// kept whole.
func TestChangePointsBeginALevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		value func(run int) float64
		from  int // first run that is attached
	}{
		{"noise of 8 %", func(run int) float64 { return 100 + 8*math.Sin(float64(run*run)) }, 0},
		{"an odd run", func(run int) float64 { return 100 + 0.2*float64(run%3) + map[bool]float64{true: 40}[run == 20] }, 0},
		{"a step of 5 %", func(run int) float64 { return 100 + 0.2*float64(run%3) + map[bool]float64{true: 5}[run >= 18] }, 18},
		{"two steps", func(run int) float64 {
			return 100 + 0.2*float64(run%3) + map[bool]float64{true: 30}[run >= 10] - map[bool]float64{true: 12}[run >= 21]
		}, 21},
	} {
		var f history.File
		for run := range 32 {
			add(t, &f, made(run, c.value(run)))
		}
		ref := reference(100)
		f.Attach(ref)
		got := ref.Results[0].Samples[0].History
		if first := slices.IndexFunc(got, func(values []float64) bool { return len(values) > 0 }); len(got) != 32 || first != c.from {
			t.Errorf("%s: attached from run %d of %d, want %d", c.name, first, len(got), c.from)
		}
	}
}

func TestAttachesTheNewest(t *testing.T) {
	t.Parallel()
	var f history.File
	for n := range 60 {
		add(t, &f, made(n, 100+float64(n%7)/10))
	}
	ref := reference(100)
	f.Attach(ref)
	got := ref.Results[0].Samples[0].History
	if len(got) != history.MaxAttached || got[0][0] != 100.6 || got[len(got)-1][0] != 100.3 {
		t.Errorf("%d runs from %v to %v, want %d from 100.6 to 100.3", len(got), got[0], got[len(got)-1], history.MaxAttached)
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/history-linux-cuda.jsonl": "linux-cuda", "history-.jsonl": "", "history-A.jsonl": "", "run.json": "", "history-x.json": "", "history-..jsonl": ""} {
		got, ok := history.Label(name)
		if ok != (want != "") || ok && got != want {
			t.Errorf("Label(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	if got := history.Path("d", "x"); got != filepath.Join("d", "history-x.jsonl") {
		t.Error(got)
	}
}

// FuzzRead demands that what is read can be written, and then says the same.
func FuzzRead(f *testing.F) {
	var h history.File
	add(f, &h, made(1, 10, 20), made(2, 30))
	data, err := h.Marshal(1 << 20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":1,"started":"2026-03-01T09:00:00Z","metrics":[{"name":"m","better":"lower"}],"conditions":[{"x":"y"}],"cells":{ "a\"" : [ 0 , [0 , -1.5e3, 2] ] , "<b>":[]}}` + "\n"))
	f.Add([]byte(`{"schema":1,"started":"2026-03-01T09:00:00Z","accepted":"why","partial":true,"suites":{"s":["a","b"]},"metrics":[{"name":"m","better":"lower","full":{"name":"m","better":"lower","min_count":3}}],"cells":{"a":[[0,1]]}}` + "\n"))
	f.Add([]byte("{}\n[]\n"))
	f.Add([]byte(`{"schema":1,"revision":"a","started":"2026-03-01T09:00:00Z","fingerprint":{},"failed":{"a":["z",""],"b":[""]}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := history.Read("f", bytes.NewReader(data))
		if err != nil {
			return
		}
		first, err := read.Marshal(history.MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		second, err := history.Read("f", bytes.NewReader(first))
		if err != nil {
			t.Fatalf("%v of %q", err, first)
		}
		twice, err := second.Marshal(history.MaxBytes)
		if err != nil || !bytes.Equal(first, twice) {
			t.Fatalf("%v: %q became %q", err, first, twice)
		}
		for _, run := range second.Runs("desk") {
			second.Attach(run)
		}
		if ref := second.Reference("desk", 3); (ref == nil) != (len(second.Runs("desk")) == 0) {
			t.Fatalf("reference %v of %q", ref, first)
		}
	})
}

// TestFail: what the gate failed in the newest run counts until a newer run is there, and moves no number.
func TestFail(t *testing.T) {
	t.Parallel()
	var h history.File
	failed := map[string][]string{"a": {"tps"}}
	add(t, &h, made(1, 10))
	old, same, newer := made(0, 5), made(1, 10), made(2, 5)
	for _, run := range []*bench.Run{old, same} {
		if h.Fail(run, failed) {
			t.Errorf("a run of %v counts, and one is newer or the same", run.Started)
		}
	}
	if !h.Fail(newer, failed) || h.Fail(newer, failed) || h.Fail(made(3, 1), nil) {
		t.Error("the newest run does not count once")
	}
	data, err := h.Marshal(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	read, err := history.Read("f", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if _, got := read.Failing(); read.Len() != 1 || read.Empty() || !maps.EqualFunc(got, failed, slices.Equal) {
		t.Errorf("read %d runs and %v", read.Len(), got)
	}
	add(t, read, made(3, 10))
	if _, got := read.Failing(); got != nil || read.Len() != 2 {
		t.Errorf("a newer run leaves %v", got)
	}
	data = append(data, bytes.ReplaceAll(data[:bytes.IndexByte(data, '\n')+1], []byte(`"revision":"`), []byte(`"revision":"x`))...)
	if _, err := history.Read("f", bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
}

// large is a history of so many runs of so many cells, and its reference.
func large(b *testing.B, cells, runs int) (*history.File, *bench.Run) {
	random := rand.New(rand.NewPCG(1, 2))
	var f history.File
	ref := made(0)
	for i := range cells {
		ref.Results = append(ref.Results, bench.Result{Cell: bench.Cell{Raw: fmt.Sprintf("model-%d__cuda__decode__baseline", i)}, Outcome: bench.Passed,
			Samples: []bench.Sample{{Metric: "tps", Summary: &bench.Summary{Median: 100, MAD: 1, N: 3}}}})
	}
	for n := range runs {
		run := made(n)
		for i := range ref.Results {
			run.Results = append(run.Results, bench.Result{Cell: ref.Results[i].Cell, Outcome: bench.Passed,
				Samples: []bench.Sample{{Metric: "tps", Values: []float64{100 + random.NormFloat64()}}}})
		}
		add(b, &f, run)
	}
	return &f, ref
}

func BenchmarkAttach(b *testing.B) {
	f, ref := large(b, 100_000, 40)
	b.ReportAllocs()
	for b.Loop() {
		f.Attach(ref)
	}
}

func BenchmarkLoad(b *testing.B) {
	f, _ := large(b, 100_000, 40)
	path := filepath.Join(b.TempDir(), "f")
	if err := f.Save(path); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := history.Load(path); err != nil {
			b.Fatal(err)
		}
	}
}
