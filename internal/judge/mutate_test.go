package judge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
)

// mutation damages a copy of the documents in one way.
type mutation struct {
	kind string
	// apply changes the copy and returns what must stand in one line of the report if the gate stays green; nil where
	// there is nothing to damage.
	apply func(*mutant) []string
}

// number is a metric of a cell.
type number struct{ cell, metric string }

// mutant is a copy of the inputs of a verdict, as decoded JSON and as text.
type mutant struct {
	*rand.Rand
	run, ref map[string]any
	config   string
	edits    []func(*config.File) // of the parsed configuration
	number                        // that is judged
	texts    []string
}

// TestDamageIsNoticed: a damaged configuration, run or baseline is refused, fails the gate, or is named by a line of the
// report that the undamaged ones do not have.
func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	good := newMutant(t, number{})
	before, err := good.judged()
	if err != nil {
		t.Fatalf("what is not damaged: %v", err)
	}
	cell := "m__cpu__%s__baseline"
	for _, of := range []number{{fmt.Sprintf(cell, "a"), "tps"}, {fmt.Sprintf(cell, "b"), "latency"}, {fmt.Sprintf(cell, "d"), "tps"}} {
		for _, kind := range mutations {
			m := newMutant(t, of)
			names := kind.apply(m)
			if len(m.edits) == 0 && m.config == good.config && slices.Equal(m.text(m.run), good.text(good.run)) && slices.Equal(m.text(m.ref), good.text(good.ref)) {
				t.Errorf("mutation %q damages nothing of %v", kind.kind, of)
				continue
			}
			lines, err := m.judged()
			named := func(line string) bool { return !slices.Contains(before, line) && holdsAll(line, names) }
			if err == nil && !slices.ContainsFunc(lines, named) {
				t.Errorf("mutation %q of %v leaves the gate green without a line that names %q:\n%s", kind.kind, of, names, strings.Join(lines, "\n"))
			}
		}
	}
}

func holdsAll(line string, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(line, name) })
}

// newMutant copies the documents, of which one number is to be damaged.
func newMutant(t *testing.T, of number) *mutant {
	t.Helper()
	original := mutatedRun()
	run, err := json.Marshal(original)
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := baseline.Update(nil, original, baseline.UpdateOptions{Reason: "test", Now: original.Started, All: true})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := baseline.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return &mutant{Rand: rand.New(rand.NewPCG(17, 0)), run: tree(t, run), ref: tree(t, ref), config: mutatedConfig, number: of}
}

func tree(t *testing.T, data []byte) (m map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// judged judges the documents by the way that every run takes, and returns the report if it passes.
func (m *mutant) judged() (lines []string, err error) {
	run, err := bench.DecodeRun(m.text(m.run))
	if err != nil {
		return nil, err
	}
	file, err := baseline.Parse("baseline", m.text(m.ref))
	if err != nil {
		return nil, err
	}
	ref, err := judge.OfHost("baseline.json", file, run.Host.Label)
	if err != nil {
		return nil, err
	}
	parsed, err := config.Parse("accelgate.yaml", []byte(m.config))
	if err != nil {
		return nil, err
	}
	for _, edit := range m.edits {
		edit(parsed)
	}
	env := &measure.Env{Kinds: map[string]suite.Kind{"models": models.Kind}, Getenv: func(string) string { return "" },
		Now: func() time.Time { return mutatedRun().Started.Add(time.Hour) }, Carry: func(s string) string { return s }}
	policy, err := env.Policy(&measure.Options{}, parsed)
	if err != nil {
		return nil, err
	}
	j := judge.Judge(env, []*bench.Run{run}, []judge.Reference{ref}, policy, report.Input{Config: "accelgate.yaml", Revision: run.Revision})
	if j.Exit() != exit.Passed {
		return nil, errors.New("the gate failed")
	}
	const unwrapped = 10_000 // columns, so that what names a cell and its metric stands in one line
	printed, err := judge.Rendered(report.TerminalWith(report.TerminalOptions{Columns: unwrapped}), j.Report)
	return strings.Split(printed, "\n"), err
}

// text encodes a document, with the replacements that JSON itself cannot hold.
func (m *mutant) text(document map[string]any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		return nil // which no reader takes
	}
	return []byte(strings.NewReplacer(m.texts...).Replace(string(data)))
}

// mark returns a string to put into a document, which becomes the text.
func (m *mutant) mark(text string) string {
	mark := fmt.Sprintf("mutation %d", len(m.texts))
	m.texts = append(m.texts, `"`+mark+`"`, text)
	return mark
}

const mutatedConfig = `version: 1
suites:
  - name: s
    kind: models
    command: [engine, "{feature}"]
    models: [m]
    backends: [cpu]
    features: [a, b, c]
    metrics:
      - {name: tps, json: tps, unit: tok/s, better: higher}
      - {name: latency, json: latency, unit: ms, better: lower}
  - name: other
    kind: models
    command: [engine, "{feature}"]
    models: [m]
    backends: [cpu]
    features: [d]
    metrics:
      - {name: tps, json: tps, unit: tok/s, better: higher}
`

// mutatedRun has a rate and a time, of which one is not above the other.
func mutatedRun() *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: "accelgate", Revision: "0123abc", Started: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		Host:    bench.Host{Label: "lab", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC", Cores: 8}},
		Metrics: []bench.Metric{{Name: "tps", Unit: "tok/s", Better: bench.Higher}, {Name: "latency", Unit: "ms", Better: bench.Lower}},
	}
	for i, feature := range []string{"a", "b", "c", "d"} {
		suite := "s"
		if feature == "d" {
			suite = "other"
		}
		r := bench.Result{Outcome: bench.Passed, Output: "blue", Cell: bench.Cell{Suite: suite, Params: []bench.Param{
			{Key: "model", Value: "m"}, {Key: "backend", Value: "cpu"}, {Key: "feature", Value: feature}, {Key: "sweep", Value: "baseline"}}}}
		tps, ms := 40+float64(i), 25-float64(i)
		r.Samples = []bench.Sample{{Metric: "tps", Values: []float64{tps, tps + 0.1, tps}}, {Metric: "latency", Values: []float64{ms, ms, ms + 0.1}}}
		run.Results = append(run.Results, r)
	}
	return run
}
