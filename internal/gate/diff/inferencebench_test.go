package diff_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestInferenceBenchRules holds what the recorded verdicts do not: they are all
// of tolerance 0.
func TestInferenceBenchRules(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, test := range []struct {
		name     string
		old, new diff.Metric
		want     diff.Verdict
		rel      string
	}{
		{"binary fractions", number("a lower", 1), number("a lower", 1.02), diff.Regression, "0.02"},
		{"exactly the tolerance", number("a lower", 100), number("a lower", 102), diff.NoChange, "0.02"},
		{"growth from 0", number("timeout_rate lower", 0), number("timeout_rate lower", 1e-9), diff.Regression, "none"},
		{"higher from 0", number("a higher", 0), number("a higher", 1), diff.Improvement, "none"},
		{"infinity stays", number("a lower", inf), number("a lower", inf), diff.Regression, "NaN"},
		{"new", none("a"), number("a lower", 1), diff.Unknown, "none"},
		{"none", none("a"), none("a"), diff.NoChange, "none"},
		{"missing", number("a lower", 1), none("a"), diff.Missing, "none"},
		{"no direction", number("a", 1), number("a", 1), diff.Unknown, "0"},
		{"units, exactness and p99 are nothing", number("a_p99 lower s", 100, 3), number("a_p99 lower ms", 101, 1), diff.NoChange, "0.01"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := diff.Compare(side(sideCell("", test.old)), side(sideCell("", test.new)),
				diff.Policy{Tolerance: 0.02, Strict: true, Compat: compat.InferenceBench})
			if got := d.Rows[0]; got.Verdict != test.want || shortly(got.DeltaRel) != test.rel {
				t.Errorf("got %s %s, want %s %s", got.Verdict, shortly(got.DeltaRel), test.want, test.rel)
			}
			if d.Failed != (test.want == diff.Regression) || d.Refused != "" {
				t.Errorf("failed %t, refused %q", d.Failed, d.Refused)
			}
		})
	}
}

func TestInferenceBenchContextOnlyWarns(t *testing.T) {
	t.Parallel()
	old, new := side(sideCell("x", number("a lower", 1))), side(sideCell("y", number("a lower", 1)))
	old.Context = []diff.Fact{{Name: "suite_id", Value: "s"}, {Name: "concurrency", Value: "0", Unknown: true}}
	new.Context = []diff.Fact{{Name: "suite_id", Value: "s"}, {Name: "concurrency", Value: "4"}}
	d := diff.Compare(old, new, diff.Policy{Strict: true, Compat: compat.InferenceBench, Context: map[string]gate.Level{"concurrency": gate.Fail}})
	want := []diff.ContextMatch{{Name: "suite_id", Baseline: "s", Candidate: "s", Match: true, Level: gate.Warn},
		{Name: "concurrency", Baseline: "0", Candidate: "4", Level: gate.Warn}}
	if diff := cmp.Diff(want, d.Context); diff != "" || d.Failed || d.Refused != "" {
		t.Errorf("failed %t, refused %q, context (-want +got):\n%s", d.Failed, d.Refused, diff)
	}
}

// recorded returns the bytes of a recorded file of InferenceBench.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	dir := testtier.Data(t, "recorded diffs were NOT read", "inferencebench/diff-oracle.jsonl")
	data, err := os.ReadFile(filepath.Join(dir, "inferencebench", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// python is a value as the original had it: a number, "Inf", "NaN", another text, or null.
type python struct {
	value float64
	has   bool
}

func (p *python) UnmarshalJSON(data []byte) error {
	switch text := string(data); text {
	case `"Inf"`:
		*p = python{math.Inf(1), true}
	case `"-Inf"`:
		*p = python{math.Inf(-1), true}
	case `"NaN"`:
		*p = python{math.NaN(), true}
	default:
		p.has = text != "null" && text[0] != '"'
		if p.has {
			return json.Unmarshal(data, &p.value)
		}
	}
	return nil
}

func (p python) equals(x *float64) bool {
	if x == nil || !p.has {
		return x == nil && !p.has
	}
	return *x == p.value || math.IsNaN(*x) && math.IsNaN(p.value)
}

func TestRecordedInferenceBenchRows(t *testing.T) {
	t.Parallel()
	lines := bufio.NewScanner(bytes.NewReader(recorded(t, "diff-oracle.jsonl")))
	n := 0
	for ; lines.Scan(); n++ {
		var want struct {
			Metric, Verdict     string
			Direction           bench.Direction
			Baseline, Candidate python
			Tolerance           float64
			Abs                 python `json:"delta_abs"`
			Rel                 python `json:"delta_rel"`
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if want.Direction == "unknown" {
			want.Direction = ""
		}
		metric := bench.Metric{Name: want.Metric, Better: want.Direction}
		old := diff.Metric{Metric: metric, Value: want.Baseline.value, Has: want.Baseline.has}
		new := diff.Metric{Metric: metric, Value: want.Candidate.value, Has: want.Candidate.has}
		row := diff.Compare(side(sideCell("", old)), side(sideCell("", new)),
			diff.Policy{Tolerance: want.Tolerance, Compat: compat.InferenceBench}).Rows[0]
		if string(row.Verdict) != want.Verdict || !want.Abs.equals(row.DeltaAbs) || !want.Rel.equals(row.DeltaRel) {
			t.Errorf("%s\ngot %s %s %s", lines.Text(), shortly(row.DeltaAbs), shortly(row.DeltaRel), row.Verdict)
		}
	}
	if lines.Err() != nil || n < 2890 {
		t.Errorf("%d rows were read, want 2890 (%v)", n, lines.Err())
	}
}

// betterAs holds the directions of the original for the metrics of the recorded envelopes.
var betterAs = map[string]bench.Direction{
	"ttft_p50_ms": bench.Lower, "ttft_p99_ms": bench.Lower, "tpot_p50_ms": bench.Lower, "tpot_p99_ms": bench.Lower,
	"total_p50_ms": bench.Lower, "total_p99_ms": bench.Lower, "joules_per_token": bench.Lower,
	"power_avg_w": bench.Lower, "power_peak_w": bench.Lower, "energy_joules_total": bench.Lower,
	"throughput_tok_per_s": bench.Higher, "req_per_s_passing": bench.Higher, "req_per_s_all": bench.Higher,
	"compliance_rate": bench.Higher, "ok_rate": bench.Higher,
}

// recordedSide reads as much of an envelope as the original compares.
func recordedSide(t *testing.T, name string) diff.Document {
	t.Helper()
	var e struct {
		SuiteID       string `json:"suite_id"`
		Model         struct{ ID string }
		Engine        struct{ Name, Version string }
		Quantization  struct{ Format string }
		HardwarePrint struct {
			SHA256 string `json:"fingerprint_sha256"`
		} `json:"hardware_fingerprint"`
		Metrics map[string]python
	}
	if err := json.Unmarshal(recorded(t, name), &e); err != nil {
		t.Fatal(err)
	}
	cell := diff.Cell{}
	for name, x := range e.Metrics {
		cell.Metrics = append(cell.Metrics, diff.Metric{Metric: bench.Metric{Name: name, Better: betterAs[name]}, Value: x.value, Has: x.has})
	}
	return diff.Document{Name: name, Cells: []diff.Cell{cell}, Context: []diff.Fact{
		{Name: "suite_id", Value: e.SuiteID}, {Name: "model_id", Value: e.Model.ID}, {Name: "engine_name", Value: e.Engine.Name},
		{Name: "engine_version", Value: e.Engine.Version}, {Name: "quantization_format", Value: e.Quantization.Format},
		{Name: "hardware_fingerprint", Value: e.HardwarePrint.SHA256}}}
}

// TestRecordedInferenceBenchTables compares the recorded envelopes in pairs:
// verdicts, the table's order and the context are those of the original.
func TestRecordedInferenceBenchTables(t *testing.T) {
	t.Parallel()
	var pairs []struct {
		Baseline, Candidate string
		Tolerance           float64
		Context             map[string]json.RawMessage `json:"context_match"`
		Cells               [][]string
		Order               []string `json:"table_order"`
	}
	if err := json.Unmarshal(recorded(t, "diff-oracle-pairs.json"), &pairs); err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 5 {
		t.Errorf("%d pairs were read, want 5", len(pairs))
	}
	for _, pair := range pairs {
		d := diff.Compare(recordedSide(t, pair.Baseline), recordedSide(t, pair.Candidate),
			diff.Policy{Tolerance: pair.Tolerance, Strict: true, Compat: compat.InferenceBench})
		var want []string
		for i, cells := range pair.Cells {
			want = append(want, pair.Order[i]+" "+cells[len(cells)-1])
		}
		got := rows(d.Ranked())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", pair.Baseline, pair.Candidate, diff)
		}
		if d.Failed != strings.Contains(strings.Join(want, ","), "regression") {
			t.Errorf("%s, %s: failed %t", pair.Baseline, pair.Candidate, d.Failed)
		}
		all := true
		for _, c := range d.Context {
			var want diff.ContextMatch
			if err := json.Unmarshal(pair.Context[c.Name], &want); err != nil {
				t.Fatal(err)
			}
			want.Name, want.Level, all = c.Name, gate.Warn, all && c.Match
			if c != want {
				t.Errorf("%s, %s: context %+v, want %+v", pair.Baseline, pair.Candidate, c, want)
			}
		}
		if string(pair.Context["all_match"]) != map[bool]string{true: "true", false: "false"}[all] || len(d.Context) != len(pair.Context)-1 {
			t.Errorf("%s, %s: all match %t of %d", pair.Baseline, pair.Candidate, all, len(d.Context))
		}
	}
}
