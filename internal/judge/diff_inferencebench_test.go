package judge

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestInferenceBenchAmount(t *testing.T) {
	for _, c := range []struct {
		x          float64
		want, json string
	}{
		{0, "0.0000", "0.0"}, {math.Copysign(0, -1), "-0.0000", "-0.0"}, {0.99999, "1.0000", "0.99999"}, {1, "1.00", "1.0"}, {-99.999, "-100.00", "-99.999"},
		{100, "100.0", "100.0"}, {999.96, "1,000.0", "999.96"}, {-123456, "-123,456.0", "-123456.0"}, {1234567.25, "1,234,567.2", "1234567.25"},
		{1.698732790695847e-05, "0.0000", "1.698732790695847e-05"}, {1e16, "10,000,000,000,000,000.0", "1e+16"}, {-100, "-100.0", "-100.0"},
		{math.NaN(), "nan", "NaN"}, {math.Inf(1), "inf", "Infinity"}, {math.Inf(-1), "-inf", "-Infinity"},
	} {
		if got := pythonAmount(c.x); got != c.want {
			t.Errorf("pythonAmount(%v) = %s, want %s", c.x, got, c.want)
		}
		if got := pythonNumber(&c.x); got != c.json {
			t.Errorf("pythonNumber(%v) = %s, want %s", c.x, got, c.json)
		}
	}
}

func TestPythonString(t *testing.T) {
	for in, want := range map[string]string{
		`a"\<&>`: `"a\"\\<&>"`, "é🙂\x7f\u2028": `"\u00e9\ud83d\ude42\u007f\u2028"`, "\b\f\n\r\t\x00": `"\b\f\n\r\t\u0000"`, "##[error]": `"##\u005berror]"`,
	} {
		if got := pythonString(in); got != want {
			t.Errorf("pythonString(%q) = %s, want %s", in, got, want)
		}
	}
}

// oraclePair is what the original printed for two of its published envelopes.
type oraclePair struct {
	Baseline   string                     `json:"baseline"`
	Candidate  string                     `json:"candidate"`
	Context    map[string]json.RawMessage `json:"context_match"`
	TableOrder []string                   `json:"table_order"`
	Cells      [][]string                 `json:"cells"`
}

// TestInferenceBenchPairs compares with every cell of the original's tables,
// their order and the conditions in its JSON.
func TestInferenceBenchPairs(t *testing.T) {
	folder := inferenceBenchData(t)
	var pairs []oraclePair
	readJSON(t, filepath.Join(folder, "diff-oracle-pairs.json"), &pairs)
	cells := 0
	for _, p := range pairs {
		t.Run(p.Baseline+" "+p.Candidate, func(t *testing.T) {
			d := p.difference(t, folder)
			for _, want := range p.Cells {
				i := slices.IndexFunc(d.Rows, func(r diff.Row) bool { return r.Metric == want[0] })
				if got := inferenceBenchCells(&d.Rows[i]); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
				cells += len(want)
			}
			checkPairTable(t, &p, d)
			checkPairJSON(t, &p, d)
		})
	}
	if len(pairs) < 5 || cells < 5*17*6 {
		t.Errorf("%d pairs with %d cells were compared, want 5 with %d", len(pairs), cells, 5*17*6)
	}
}

func checkPairTable(t *testing.T, p *oraclePair, d diff.Difference) {
	t.Helper()
	var b strings.Builder
	if err := InferenceBenchTable(&b, d); err != nil {
		t.Fatal(err)
	}
	var order []string
	warnings := 0
	for line := range strings.Lines(b.String()) {
		first, _, _ := strings.Cut(line, " ")
		switch {
		case first == "warning:":
			warnings++
		case first != "METRIC":
			order = append(order, first)
		}
	}
	if diff := gocmp.Diff(p.TableOrder, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if want := map[string]int{"true": 0, "false": 2}[string(p.Context["all_match"])]; warnings != want {
		t.Errorf("%d warnings, want %d", warnings, want)
	}
}

func checkPairJSON(t *testing.T, p *oraclePair, d diff.Difference) {
	t.Helper()
	var b strings.Builder
	if err := InferenceBenchJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Context map[string]any   `json:"context_match"`
		Metrics []map[string]any `json:"metrics"`
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	for name, raw := range p.Context {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			t.Fatal(err)
		}
		want[name] = value
	}
	if diff := gocmp.Diff(want, got.Context); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if len(got.Metrics) != len(p.Cells) || !slices.IsSortedFunc(got.Metrics, func(a, b map[string]any) int {
		return cmp.Compare(a["name"].(string), b["name"].(string))
	}) {
		t.Errorf("%d metrics, want %d, sorted", len(got.Metrics), len(p.Cells))
	}
}

// difference computes the numbers from the two envelopes and takes the verdicts
// and the conditions of the original: only rendering is tested here.
func (p *oraclePair) difference(t *testing.T, folder string) diff.Difference {
	t.Helper()
	d := diff.Difference{Baseline: p.Baseline, Candidate: p.Candidate, Compat: compat.InferenceBench}
	for _, name := range []string{"suite_id", "model_id", "engine_name", "engine_version", "quantization_format", "hardware_fingerprint"} {
		c := diff.ContextMatch{Name: name, Level: gate.Warn}
		var values struct {
			Baseline, Candidate string
			Match               bool
		}
		if err := json.Unmarshal(p.Context[name], &values); err != nil {
			t.Fatal(err)
		}
		c.Baseline, c.Candidate, c.Match = values.Baseline, values.Candidate, values.Match
		d.Context = append(d.Context, c)
	}
	before, after := envelopeMetrics(t, filepath.Join(folder, p.Baseline)), envelopeMetrics(t, filepath.Join(folder, p.Candidate))
	for _, cells := range p.Cells {
		r := diff.Row{Metric: cells[0], Baseline: before[cells[0]], Candidate: after[cells[0]], Verdict: diff.Verdict(cells[5])}
		if r.Baseline != nil && r.Candidate != nil {
			delta := *r.Candidate - *r.Baseline
			relative := delta / math.Abs(*r.Baseline)
			r.DeltaAbs, r.DeltaRel = &delta, &relative
		}
		d.Rows = append(d.Rows, r)
	}
	slices.SortFunc(d.Rows, func(a, b diff.Row) int { return cmp.Compare(a.Metric, b.Metric) })
	return d
}

// envelopeMetrics are the numbers of an envelope.
func envelopeMetrics(t *testing.T, path string) map[string]*float64 {
	t.Helper()
	var envelope struct{ Metrics map[string]any }
	readJSON(t, path, &envelope)
	numbers := map[string]*float64{}
	for name, value := range envelope.Metrics {
		if x, ok := value.(float64); ok {
			numbers[name] = &x
		}
	}
	return numbers
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// inferenceBenchData returns the folder of the original's published envelopes
// and of its output about them.
func inferenceBenchData(t *testing.T) string {
	t.Helper()
	data := testtier.Data(t, "InferenceBench's tables were NOT compared with", "inferencebench")
	return filepath.Join(data, "inferencebench")
}
