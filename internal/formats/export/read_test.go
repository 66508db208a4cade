package export_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/formats/export"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func number(t testing.TB, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Errorf("%q is not a number: %v", s, err)
	}
	return x
}

func mediansOf(all map[string][]float64) map[string]float64 {
	found := map[string]float64{}
	for name, values := range all {
		found[name] = stats.Median(values)
	}
	return found
}

func csvName(_ *bench.Run, r *bench.Result, s *bench.Sample) string {
	return strings.TrimPrefix(r.Cell.ID(), "'") + " " + s.Metric
}

// readCSV demands rows of one length, and takes those that passed without doubt.
func readCSV(t testing.TB, document []byte) map[string]float64 {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(document)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	all := map[string][]float64{}
	for _, row := range rows[1:] {
		for _, i := range []string{"host", "revision", "suite", "cell", "metric", "unit", "caveat"} {
			if s := row[column[i]]; s != "" && strings.ContainsRune("=+-@:", rune(s[0])) {
				t.Errorf("%s: %q may be a formula or a command", i, s)
			}
		}
		if row[column["outcome"]] == "passed" && row[column["caveat"]] == "" {
			name := strings.TrimPrefix(row[column["cell"]], "'") + " " + row[column["metric"]]
			all[name] = append(all[name], number(t, row[column["value"]]))
		}
	}
	return mediansOf(all)
}

// goBenchName is what the names of testdata/run.json are in Go's format.
func goBenchName(_ *bench.Run, r *bench.Result, s *bench.Sample) string {
	name := "Cell"
	for _, p := range r.Cell.Params {
		name += "/" + p.Key + "=" + strings.NewReplacer("/", "%2F", " ", "%20").Replace(p.Value)
	}
	if p := r.Cell.Params; len(p) == 1 && strings.HasPrefix(p[0].Value, "Benchmark") {
		name = p[0].Value[len("Benchmark"):]
	}
	if strings.HasSuffix(name, "-64") {
		name = strings.TrimSuffix(name, "-64") + "%2D64/side=head"
	}
	unit := map[string]string{"decode_tps": "decode_tps-tok/s", "time_ns": "ns/op", "alloc_bytes": "B/op", "bytes_per_s": "MB/s"}[s.Metric]
	return name + " " + cmp.Or(unit, s.Metric)
}

// readGoBench reads with benchstat's library, which must find no mistake, the values of the
// head in the units that were written.
func readGoBench(t testing.TB, document []byte) map[string]float64 {
	t.Helper()
	all := map[string][]float64{}
	r := benchfmt.NewReader(bytes.NewReader(document), "export")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("benchstat: %v in\n%s", rec, document)
		case *benchfmt.Result:
			name := string(rec.Name)
			if strings.Contains(name, "/side=base") || len(rec.Values) != 1 {
				continue
			}
			v, unit := rec.Values[0].Value, rec.Values[0].Unit
			if rec.Values[0].OrigUnit != "" {
				v, unit = rec.Values[0].OrigValue, rec.Values[0].OrigUnit
			}
			if unit == "MB/s" {
				v *= 1e6
			}
			all[name+" "+unit] = append(all[name+" "+unit], v)
		}
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	return mediansOf(all)
}

// TestGoBenchIsReadBack: accelgate's own reader of Go benchmarks takes the numbers that
// kind exec measured from the export.
func TestGoBenchIsReadBack(t *testing.T) {
	t.Parallel()
	run := load(t)
	var b bytes.Buffer
	if err := export.GoBench(&b, run); err != nil {
		t.Fatal(err)
	}
	all, err := formats.Harnesses["gobench"](b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	at, ok := formats.BenchmarkIndex(all)["BenchmarkSort/size=1000"]
	if !ok || len(all) != 4 { // two sides, chat and sorting
		t.Fatalf("%d benchmarks: %+v", len(all), all)
	}
	sorting, r := all[at], &run.Results[5]
	for _, v := range sorting.Values {
		if want := stats.Median(r.Sample(v.Metric).Values); v.Value != want {
			t.Errorf("%s is %v, want %v", v.Metric, v.Value, want)
		}
	}
	if len(sorting.Values) != len(r.Samples) {
		t.Errorf("%d metrics, want %d", len(sorting.Values), len(r.Samples))
	}
}

// TestBenchstatThorough runs benchstat itself on a run in pairs, and on two runs.
func TestBenchstatThorough(t *testing.T) {
	testtier.Thorough(t)
	dir := t.TempDir()
	save := func(name string, run *bench.Run) string {
		var b bytes.Buffer
		if err := export.GoBench(&b, run); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	benchstat := func(want string, args ...string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"tool", "benchstat"}, args...)...).CombinedOutput()
		if err != nil || !regexp.MustCompile(want).Match(out) {
			t.Errorf("benchstat %q: %v; no %q in\n%s", args, err, want, out)
		}
	}
	before, after := load(t), load(t)
	for i := range 6 {
		for k := range after.Results {
			for j := range after.Results[k].Samples {
				s, old := &after.Results[k].Samples[j], &before.Results[k].Samples[j]
				s.Values = append(s.Values, s.Values[i%len(s.Values)]*1.001)
				old.Values = append(old.Values, old.Values[i%len(old.Values)]*1.001)
				if len(s.Base) > 0 {
					s.Base, old.Base = append(s.Base, s.Base[i%3]*1.001), append(old.Base, old.Base[i%3]*1.001)
				}
			}
		}
	}
	sort := &after.Results[5].Samples[0]
	for i := range sort.Values {
		sort.Values[i] *= 2
	}
	one, two := save("old.txt", before), save("new.txt", after)
	benchstat(`(?s)base +│ +head .*tg%2D64 .* [-~]`, "-col", "/side", "-filter", "/side:(base OR head)", one)
	benchstat(`(?s)pkg: sorting.*Sort/size=1000 .* \+\d+\.\d+% \(p=0\.0`, one, two)
}

var (
	sampleLine = regexp.MustCompile(`^([a-z_]+)\{(.*)\} (\S+)$`)
	labelPair  = regexp.MustCompile(`^([a-z]+)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,|$)`)
)

// readOpenMetrics is strict: each family has one TYPE and one HELP above all of its
// samples, no sample stands twice, and "# EOF" ends the document.
func readOpenMetrics(t testing.TB, document []byte) map[string]float64 {
	t.Helper()
	body, ok := bytes.CutSuffix(document, []byte("# EOF\n"))
	if !ok {
		t.Fatalf("no # EOF at the end of\n%s", document)
	}
	all, family, families, series := map[string]float64{}, "", map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family = strings.TrimSuffix(name, " gauge")
			if families[family] {
				t.Errorf("family %s occurs twice", family)
			}
			families[family] = true
			continue
		}
		if strings.HasPrefix(line, "# HELP "+family+" ") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[1] != family || series[m[1]+m[2]] {
			t.Fatalf("not a new sample of %s: %q", family, line)
		}
		series[m[1]+m[2]] = true
		labels := readLabels(t, m[2])
		if value := number(t, m[3]); family == "accelgate_median" {
			all[labels["cell"]+" "+labels["metric"]] = value
		}
	}
	return all
}

func readLabels(t testing.TB, s string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	for s != "" {
		m := labelPair.FindStringSubmatch(s)
		if m == nil {
			t.Fatalf("no label at %q", s)
		}
		labels[m[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(m[2])
		s = s[len(m[0]):]
	}
	return labels
}

// TestOpenMetricsReference has the reference parser read the documents of hostile runs.
func TestOpenMetricsReference(t *testing.T) {
	t.Parallel()
	const parser = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for document in sys.stdin.read().split("# EOF\n")[:-1]:
    print(sum(len(f.samples) for f in text_string_to_metric_families(document + "# EOF\n")))
`
	var documents bytes.Buffer
	want := ""
	for _, run := range append([]*bench.Run{load(t)}, planted("a b"), planted(`a\"b{},`), planted("\xff\n##[x]"), planted("é漢🙂")) {
		var one bytes.Buffer
		if err := export.OpenMetrics(&one, run); err != nil {
			t.Fatal(err)
		}
		samples := 0
		for line := range strings.Lines(one.String()) {
			if !strings.HasPrefix(line, "#") {
				samples++
			}
		}
		want += strconv.Itoa(samples) + "\n"
		documents.Write(one.Bytes())
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", parser)
	cmd.Stdin = &documents
	out, err := cmd.CombinedOutput()
	if err != nil && (len(out) == 0 || bytes.Contains(out, []byte("ModuleNotFoundError"))) {
		testtier.Missing(t, "OpenMetrics was NOT read by its reference parser: install python3-prometheus-client")
	}
	if err != nil || string(out) != want {
		t.Errorf("%v: samples %q, want %q", err, out, want)
	}
}

// strictly decodes JSON without unknown fields.
func strictly(t testing.TB, document []byte, into any) {
	t.Helper()
	if len(document) == 0 {
		return // a run without numbers of the direction
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || d.More() {
		t.Fatalf("%v in\n%s", err, document)
	}
}

// readBMF checks what Bencher demands: names within its limits, and bounds around values.
func readBMF(t testing.TB, document []byte) map[string]float64 {
	t.Helper()
	var benchmarks map[string]map[string]struct {
		Value      *float64
		LowerValue *float64 `json:"lower_value"`
		UpperValue *float64 `json:"upper_value"`
	}
	strictly(t, document, &benchmarks)
	all := map[string]float64{}
	for cell, measures := range benchmarks {
		for name, m := range measures {
			if len(cell) > 1024 || len(name) > 64 || cell == "" || name == "" || m.Value == nil {
				t.Errorf("%q, %q: %+v", cell, name, m)
				continue
			}
			if m.LowerValue != nil && (*m.LowerValue > *m.Value || *m.UpperValue < *m.Value) {
				t.Errorf("%q, %q: %v is not within %v and %v", cell, name, *m.Value, *m.LowerValue, *m.UpperValue)
			}
			all[cell+" "+name] = *m.Value
		}
	}
	return all
}

// readEntries checks what github-action-benchmark demands: names that differ, and the three
// fields that it requires.
func readEntries(t testing.TB, document []byte) map[string]float64 {
	t.Helper()
	var entries []struct {
		Name, Unit   *string
		Value        *float64
		Range, Extra string
	}
	strictly(t, document, &entries)
	all := map[string]float64{}
	for _, e := range entries {
		if e.Name == nil || e.Unit == nil || e.Value == nil {
			t.Fatalf("a field is missing in\n%s", document)
		}
		if _, twice := all[*e.Name]; twice {
			t.Errorf("%q occurs twice", *e.Name)
		}
		all[*e.Name] = *e.Value
	}
	return all
}
