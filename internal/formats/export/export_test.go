package export_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/export"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// reads are the readers of all formats: each returns the medians that a document has, by
// the name of the cell and the metric in it, and fails if the document is not of the
// format. The names are those that want builds.
var reads = map[string]struct {
	read func(testing.TB, []byte) map[string]float64
	want func(*bench.Run) map[string]float64
}{
	"csv":                   {readCSV, medians(csvName)},
	"gobench":               {readGoBench, medians(goBenchName)},
	"openmetrics":           {readOpenMetrics, medians(nil)},
	"bmf":                   {readBMF, medians(nil)},
	"customBiggerIsBetter":  {readEntries, medians(ofDirection(bench.Higher))},
	"customSmallerIsBetter": {readEntries, medians(ofDirection(bench.Lower))},
}

// medians returns what a format should hold. The name is "" for what it leaves out, and
// "CELL METRIC" for a nil function.
func medians(name func(*bench.Run, *bench.Result, *bench.Sample) string) func(*bench.Run) map[string]float64 {
	return func(run *bench.Run) map[string]float64 {
		all := map[string]float64{}
		for i := range run.Results {
			r := &run.Results[i]
			for k := range r.Samples {
				s := &r.Samples[k]
				if r.Outcome != bench.Passed || r.Caveat != "" || s.Caveat != "" {
					continue
				}
				key := r.Cell.ID() + " " + s.Metric
				if name != nil {
					key = name(run, r, s)
				}
				if key != "" {
					all[key] = stats.Median(r.Judged(s))
				}
			}
		}
		return all
	}
}

func ofDirection(better bench.Direction) func(*bench.Run, *bench.Result, *bench.Sample) string {
	return func(run *bench.Run, r *bench.Result, s *bench.Sample) string {
		if run.Metric(s.Metric).Better != better {
			return ""
		}
		return r.Cell.ID() + " " + s.Metric
	}
}

func load(t testing.TB) *bench.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.DecodeRun(data)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func written(t testing.TB, f export.Format, run *bench.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, run); err != nil && !errors.Is(err, export.ErrNothing) {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return b.Bytes()
}

// TestFormats compares each document with its golden file, and what its reader takes from
// it with the run.
func TestFormats(t *testing.T) {
	for _, f := range export.Formats {
		run := load(t)
		got := written(t, f, run)
		path := filepath.Join("testdata", "run."+f.Name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s: %v; run go test ./internal/formats/export -update (-want +got):\n%s", path, err, cmp.Diff(string(want), string(got)))
		}
		if diff := cmp.Diff(reads[f.Name].want(run), reads[f.Name].read(t, got)); diff != "" {
			t.Errorf("%s: medians (-run +document):\n%s", f.Name, diff)
		}
	}
}

func TestNothingToWrite(t *testing.T) {
	for _, f := range export.Formats {
		run := load(t)
		run.Results = nil
		if err := f.Write(&bytes.Buffer{}, run); !errors.Is(err, export.ErrNothing) {
			t.Errorf("%s: %v, want ErrNothing", f.Name, err)
		}
	}
}

// planted is a run with s wherever a string of it can end up.
func planted(s string) *bench.Run {
	values := func(metric string, x float64) bench.Sample {
		return bench.Sample{Metric: metric, Values: []float64{x, x + 1, x - 1}}
	}
	pairs := values("m"+s, 40)
	pairs.Base = []float64{41, 42}
	doubtful := values("m"+s, 50)
	doubtful.Caveat = s + "?"
	run := &bench.Run{Schema: bench.RunSchema, Tool: s, Revision: s, Host: bench.Host{Label: s, Fingerprint: bench.Fingerprint{OS: s, Arch: s, CPU: s}},
		Metrics: []bench.Metric{{Name: "m" + s, Unit: s, Better: bench.Higher}, {Name: s + "m2", Unit: "ms", Better: bench.Lower}},
		Results: []bench.Result{
			{Cell: bench.Cell{Suite: s, Params: []bench.Param{{Key: s, Value: s}, {Key: "k", Value: "v" + s}}}, Outcome: bench.Passed,
				Samples: []bench.Sample{values("m"+s, 10), values(s+"m2", 20)}},
			{Cell: bench.Cell{Suite: s + "s", Raw: s + "raw"}, Outcome: bench.Passed, Samples: []bench.Sample{values(s+"m2", 30)}},
			{Cell: bench.Cell{Params: []bench.Param{{Key: "benchmark", Value: "BenchmarkX" + s}}}, Outcome: bench.Passed, Samples: []bench.Sample{pairs}},
			{Cell: bench.Cell{Suite: s, Raw: s + "caveat"}, Outcome: bench.Passed, Samples: []bench.Sample{doubtful}},
			{Cell: bench.Cell{Suite: s, Raw: s + "failed"}, Outcome: bench.Failed, Reason: s},
		}}
	return run
}

var hostile = []string{"", "a b", "a,b", `a"b`, `a\b`, "'", "=1+1", "+1", "-1", "-64", "@x", "::error::x", " ::error::x", "##[error]x", "##", "\n", "\r\n::error::x", "\x00", "\x1b[31m",
	"\u202e", "\u2028", "\xff", "\ufffd", "%", "%0A", "a__b", "_", "/", "a/b=c", "=", ":", "#", "# EOF\n", "}", "{", "-ns", "MB/s", "ns/op", "é漢🙂", "\u00a0", "null", strings.Repeat("long", 60)}

// FuzzFormats writes a hostile run in every format and reads each document again: it is of
// its format, has every number once, and no line of it is a command to a runner or a terminal.
func FuzzFormats(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		run := planted(s)
		if run.Validate() != nil {
			return
		}
		for _, format := range export.Formats {
			document := written(t, format, run)
			for line := range strings.Lines(string(document)) {
				if line = strings.TrimSuffix(line, "\n"); !text.Printable(line) || strings.HasPrefix(strings.TrimLeft(line, " "), "::") {
					t.Errorf("%s: the line %q is not harmless", format.Name, line)
				}
			}
			got, want := values(reads[format.Name].read(t, document)), values(reads[format.Name].want(run))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %q (-run +document):\n%s%.2000s", format.Name, s, diff, document)
			}
		}
	})
}

// values counts the medians, because what names become depends on the format.
func values(medians map[string]float64) map[float64]int {
	counts := map[float64]int{}
	for _, v := range medians {
		counts[v]++
	}
	return counts
}
