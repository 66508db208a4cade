package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
)

func decode(t testing.TB, r report.Report) report.Document {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(render(t, report.JSON, r)))
	d.DisallowUnknownFields()
	var doc report.Document
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if d.More() {
		t.Error("something follows the document")
	}
	return doc
}

func TestJSONHasEveryVerdict(t *testing.T) {
	for _, name := range names(t) {
		in := load(t, name).input()
		doc := decode(t, report.New(in))
		if doc.Schema != report.DocumentSchema || len(doc.Hosts) != len(in.Hosts) {
			t.Fatalf("%s: schema %d with %d hosts", name, doc.Schema, len(doc.Hosts))
		}
		for i, h := range in.Hosts {
			var got, want []gate.Verdict
			for _, v := range h.Comparison.Verdicts {
				v.Delta, v.Interval = 0, [2]float64{} // a document has Change
				want = append(want, v)
			}
			slices.SortStableFunc(want, func(a, b gate.Verdict) int { return gate.Worse(&a, &b) })
			for _, v := range doc.Hosts[i].Verdicts {
				got = append(got, v.Verdict)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: verdicts of host %d (-want +got):\n%s", name, i, diff)
			}
			if diff := cmp.Diff(h.Comparison.Noise, doc.Hosts[i].Noise); diff != "" {
				t.Errorf("%s: noise of host %d (-want +got):\n%s", name, i, diff)
			}
			if diff := cmp.Diff(h.Comparison.Checks, doc.Hosts[i].Checks, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: checks of host %d (-want +got):\n%s", name, i, diff)
			}
			if (doc.Hosts[i].Baseline == nil) != (h.Reference == nil) {
				t.Errorf("%s: baseline of host %d is %v", name, i, doc.Hosts[i].Baseline)
			}
		}
		if diff := cmp.Diff(in.Decision, doc.Decision); diff != "" {
			t.Errorf("%s: decision (-want +got):\n%s", name, diff)
		}
	}
}

// TestJSONIsWhatEncodingJSONWrites checks the streaming: the text means the
// same as the document encoded at once.
func TestJSONIsWhatEncodingJSONWrites(t *testing.T) {
	for _, name := range names(t) {
		r := report.New(load(t, name).input())
		whole, err := json.Marshal(decode(t, r))
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(render(t, report.JSON, r))); err != nil {
			t.Fatal(err)
		}
		// The one intended difference keeps the runner from reading commands.
		got := strings.ReplaceAll(compact.String(), `##\u005b`, "##[")
		if diff := cmp.Diff(string(whole), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNoNumberBreaksAReport plants NaN and infinities in every number.
func TestNoNumberBreaksAReport(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1)} {
		in := matrix(600)
		in.Hosts[0].Comparison.Checks = caseChecks(3, 30)
		flood(reflect.ValueOf(&in.Policy).Elem(), x)
		h := &in.Hosts[0]
		for i := range h.Comparison.Verdicts {
			flood(reflect.ValueOf(&h.Comparison.Verdicts[i]).Elem(), x)
		}
		for i := range h.Run.Results {
			for k := range h.Run.Results[i].Samples {
				flood(reflect.ValueOf(&h.Run.Results[i].Samples[k].Values).Elem(), x)
			}
		}
		for i := range h.Comparison.Checks {
			flood(reflect.ValueOf(&h.Comparison.Checks[i]).Elem(), x)
			c := h.Comparison.Checks[i]
			h.Comparison.Verdicts = append(h.Comparison.Verdicts, gate.Verdict{Cell: c.Cell, Metric: c.Metric, Reference: "baseline",
				Finding: gate.Regressed, Blocks: true, Old: x, New: x, Delta: x, Interval: [2]float64{x, x},
				Evidence: gate.Evidence{Method: "threshold", Limit: x, Noise: x}})
		}
		h.Comparison.Noise = &gate.Noise{Metrics: []gate.MetricNoise{{Median: x, Largest: x}}}
		h.Run.Host.MemoryGiB, h.Reference.Host.MemoryGiB = x, x
		r := report.New(in)
		doc := decode(t, r)
		notFinite := math.IsNaN(x) || math.IsInf(x, 0)
		for _, v := range doc.Hosts[0].Verdicts {
			if v.NotFinite != notFinite {
				t.Fatalf("%v: verdict %+v", x, v)
			}
		}
		skeleton(t, render(t, report.Markdown, r))
		skeleton(t, render(t, cases.Markdown, r))
		checkPlain(t, render(t, report.Terminal, r))
		for _, f := range console {
			checkPlain(t, render(t, f, r))
		}
	}
}

// TestOperatorsAreLines: each is a line as package json writes it.
func TestOperatorsAreLines(t *testing.T) {
	numbers := []float64{0, math.Copysign(0, -1), 1, -0.1, 1e-6, 9.9e-7, 1e-9, -1.5e-300, 1e20, 1e21, 1.7976931348623157e308, 5e-324, 0.012712}
	var rows []compat.OperatorRow
	for i, name := range append(slices.Clone(hostile), "", "plain", `"`, `\`, "a<b>&c", "\u2028", "aten.mm.default", "#", "~", "\x7f") {
		at := func(k int) float64 { return numbers[(i+k)%len(numbers)] }
		rows = append(rows, compat.OperatorRow{Name: name, Change: compat.OperatorChange(hostile[i%len(hostile)]), Status: compat.OperatorStatus(name),
			Old: at(0), New: at(1), Diff: at(2), Share: at(3), OldCalls: int64(i), NewCalls: -int64(i), OldRank: i % 3, NewRank: i % 2,
			DeltaPS: math.MaxInt64 - int64(i), ByCallsPS: math.MinInt64 + int64(i), ByCostPS: int64(i)})
	}
	in := matrix(1)
	in.Hosts[0].Comparison.Checks = []compat.Check{{Cell: "c", Operators: compat.OperatorCheck{Rows: rows, Violations: hostile}}, {Cell: "d"}}
	got := strings.ReplaceAll(render(t, report.JSON, report.New(in)), `##\u005b`, "##[")
	for _, row := range rows {
		want, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, "\n"+string(want)) {
			t.Errorf("want the line\n%s", want)
		}
	}
	decode(t, report.New(in))
}

// flood sets every float64 in v.
func flood(v reflect.Value, x float64) {
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(x)
	case reflect.Struct:
		for i := range v.NumField() {
			flood(v.Field(i), x)
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			flood(v.Index(i), x)
		}
	}
}

var errFull = errors.New("disk full")

// full accepts n bytes.
type full struct{ n int }

func (w *full) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return w.n, errFull
	}
	w.n -= len(p)
	return len(p), nil
}

func TestRenderersReportWriteErrors(t *testing.T) {
	in := matrix(2000)
	in.Hosts[0].Comparison.Checks = caseChecks(100, 20)
	r := report.New(in)
	for i, f := range []report.Renderer{report.Markdown, report.Terminal, report.JSON, cases.Markdown,
		cases.PrintTest, cases.PrintCheck, cases.Anomalies} {
		for _, room := range []int{0, 1000} {
			if err := f(&full{room}, r); !errors.Is(err, errFull) {
				t.Errorf("renderer %d with room for %d bytes: %v, want %v", i, room, err, errFull)
			}
		}
	}
}
