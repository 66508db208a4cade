package inferencebench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// meta is what x_metric_meta says about one metric.
type meta struct {
	Unit      string `json:"unit,omitempty"`
	Direction string `json:"direction,omitempty"` // "lower", "higher", or "none" for one that is never gated
	// N counts what the number rests on: in a file of this package the values
	// of the Run's sample; elsewhere it may be requests.
	N             int      `json:"n,omitempty"`
	MAD           *float64 `json:"mad,omitempty"`
	Exact         bool     `json:"exact,omitempty"`
	Informational *bool    `json:"informational,omitempty"`
	Resolution    float64  `json:"resolution,omitempty"`
	FallbackFor   string   `json:"fallback_for,omitempty"`
	Definition    string   `json:"definition,omitempty"`
	CountedBy     string   `json:"counted_by,omitempty"`
	ConfirmedBy   string   `json:"confirmed_by,omitempty"`
	MinCount      int32    `json:"min_count,omitempty"`
	// CI95 is the interval of the last value by CIMethod, which rests on so many
	// observations.
	CI95         []float64 `json:"ci95,omitempty"`
	CIMethod     string    `json:"ci_method,omitempty"`
	Observations int       `json:"observations,omitempty"`
}

// What a Run may hold; see bench.Run.Validate.
const (
	maxRunMetrics = 1000
	maxRunValues  = 1000
)

// Run returns the envelope as a Run that validates. Its one cell has the
// parameters model, engine and suite, and concurrency or rate where the driver's
// options have them, because the points of a sweep differ in nothing else; or
// it is the one that the envelope was made of.
//
// Context has, by the names suite, suite_version, model, model_revision,
// provider, endpoint_hash, engine, engine_version, engine_config_hash,
// engine_image_digest, quantization, quantization_method,
// hardware_fingerprint, dataset, dataset_hash, seed and slo_template, unless it is
// a placeholder; every driver option by its own name; and metrics that are
// texts. What is not finite has no sample and a warning.
func (e *Envelope) Run() *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: "inferencebench", Host: e.host(), Context: e.context(), Warnings: slices.Clone(e.Warnings),
	}
	if tool, ok := e.body.get("x_tool"); ok && tool.kind == str {
		run.Tool = tool.plain()
	}
	if commit := e.SoftwareProvenance.GitCommit; !Unknown("git_commit", commit) {
		run.Revision = commit
	}
	if !e.placeholders()["timestamp"] {
		run.Started, _ = time.Parse(time.RFC3339Nano, e.Timestamp)
	}
	result := bench.Result{Cell: e.cell(), Outcome: bench.Passed, Files: e.files()}
	if ended, ok := e.body.get("x_outcome"); ok && bench.Outcome(ended.text).Valid() {
		result.Outcome = bench.Outcome(ended.text)
	}
	if caveat, ok := e.body.get("x_caveat"); ok && caveat.kind == str {
		result.Caveat = caveat.plain()
	}
	result.Counts = e.counts()
	metas := e.metas(run)
	values := e.values(run)
	for _, m := range e.numbers(run) {
		said := metas[m.Name]
		run.Metrics = append(run.Metrics, e.describe(m.Name, said))
		switch {
		case m.Has && bench.Finite(m.Value):
			s := sample(m, values[m.Name], said)
			s.Estimates = e.estimates(m.Name, len(s.Values))
			result.Samples = append(result.Samples, s)
		case m.Text != "":
			run.Warnings = append(run.Warnings,
				fmt.Sprintf("metric %.100q is %s and was left out: see why it was not measured", m.Name, m.Text))
		}
	}
	settleFallbacks(run.Metrics)
	run.Results = []bench.Result{result}
	return run
}

// numbers returns the metrics that are no texts, as many as a Run may hold.
func (e *Envelope) numbers(run *bench.Run) []Metric {
	list := slices.DeleteFunc(slices.Clone(e.Metrics), func(m Metric) bool { return e.body.metric(m.Name).kind == str })
	if len(list) <= maxRunMetrics {
		return list
	}
	run.Warnings = append(run.Warnings, fmt.Sprintf("%d metrics are more than the %d that a run holds, and the last ones were left out: "+
		"write fewer", len(list), maxRunMetrics))
	slices.SortStableFunc(list, func(a, b Metric) int { return ungated(a.Name) - ungated(b.Name) })
	return list[:maxRunMetrics]
}

func ungated(name string) int {
	if _, gated, _ := Direction(name); gated {
		return 0
	}
	return 1
}

// metric returns an entry of metrics, whose name may hold dots.
func (v value) metric(name string) value {
	metrics, _ := v.get("metrics")
	i := slices.Index(metrics.keys, name)
	if i < 0 {
		return value{}
	}
	return metrics.items[i]
}

// describe prefers what the file says about a metric to what its name
// implies: a Run's metrics carry their own directions.
func (e *Envelope) describe(name string, said meta) bench.Metric {
	better, gated, _ := Direction(name)
	m := bench.Metric{Name: name, Unit: Unit(name), Better: better, Informational: !gated, Exact: said.Exact, FallbackFor: said.FallbackFor,
		Definition: said.Definition}
	if said.ConfirmedBy != name {
		m.ConfirmedBy = said.ConfirmedBy
	}
	if said.CountedBy != "" && said.MinCount > 0 {
		m.CountedBy, m.MinCount = said.CountedBy, said.MinCount
	}
	if said.Unit != "" {
		m.Unit = said.Unit
	}
	switch said.Direction {
	case string(bench.Lower), string(bench.Higher):
		m.Better, m.Informational = bench.Direction(said.Direction), false
	case "none":
		m.Informational = true
	}
	if bench.Finite(said.Resolution) && said.Resolution > 0 {
		m.Resolution = said.Resolution
	}
	if said.Informational != nil {
		m.Informational = *said.Informational
	} else if p99.MatchString(name) && e.requests(said) < enoughForP99 {
		m.Informational = true
	}
	return m
}

var p99 = lazyregexp.New(`(?:^|_)p99`)

// enoughForP99 is the least number of requests for which a two-sided
// confidence interval of 95 % of the 99th percentile exists.
const enoughForP99 = 368

// requests returns how many requests a percentile rests on, 0 if unknown.
func (e *Envelope) requests(said meta) float64 {
	for _, m := range e.Metrics {
		if m.Name == "n_ok" && m.Has {
			return m.Value
		}
	}
	return float64(said.N)
}

// settleFallbacks drops a fallback for a metric that is not always gated,
// which no Run may have.
func settleFallbacks(metrics []bench.Metric) {
	gates := map[string]bool{}
	for _, m := range metrics {
		gates[m.Name] = m.Gates()
	}
	for i := range metrics {
		if !gates[metrics[i].FallbackFor] {
			metrics[i].FallbackFor = ""
		}
	}
}

// sample rests on the single values if the metric is their median, else on
// the metric alone.
func sample(m Metric, values []float64, said meta) bench.Sample {
	s := bench.Sample{Metric: m.Name}
	switch {
	case len(values) > 0 && stats.Median(values) == m.Value:
		s.Values = values
	case said.MAD != nil && *said.MAD >= 0 && said.N >= 1:
		s.Summary = &bench.Summary{Median: m.Value, MAD: *said.MAD, N: said.N}
	default:
		s.Values = []float64{m.Value}
	}
	return s
}

// values returns the finite single values of x_runs by metric.
func (e *Envelope) values(run *bench.Run) map[string][]float64 {
	values := map[string][]float64{}
	runs, _ := e.body.get("x_runs")
	if len(runs.items) > maxRunValues {
		run.Warnings = append(run.Warnings, fmt.Sprintf("x_runs has %d runs, more than the %d that a sample holds, and only the medians "+
			"were read: write fewer", len(runs.items), maxRunValues))
		return nil
	}
	for _, one := range runs.items {
		metrics, _ := one.get("metrics")
		for i, name := range metrics.keys {
			if f, ok := metrics.items[i].float(); ok && bench.Finite(f) {
				values[name] = append(values[name], f)
			}
		}
	}
	return values
}

func (e *Envelope) metas(run *bench.Run) map[string]meta {
	all, _ := e.body.get("x_metric_meta")
	metas := make(map[string]meta, len(all.keys))
	for i, name := range all.keys {
		var m meta
		if err := all.items[i].decode(&m); err != nil {
			if len(run.Warnings) < maxNotes {
				run.Warnings = append(run.Warnings, fmt.Sprintf("x_metric_meta of %.100q was ignored, because it cannot be read: "+
					"write unit, direction and n", name))
			}
			continue
		}
		metas[name] = m
	}
	return metas
}

// placeholders returns the paths of the fields that the writer did not know.
func (e *Envelope) placeholders() map[string]bool {
	list, _ := e.body.get("x_placeholders")
	set := make(map[string]bool, len(list.items))
	for _, path := range list.items {
		set[path.text] = true
	}
	return set
}

// isField reports whether a condition by this name is a field of v1.
func isField(condition string) bool {
	return slices.ContainsFunc(fields, func(d field) bool { return d.context != "" && d.context == condition })
}

func (e *Envelope) context() map[string]string {
	context := map[string]string{}
	skip := e.placeholders()
	for _, d := range fields {
		if d.context == "" || skip[d.path] {
			continue
		}
		if v := *d.of(&e.Fields); !Unknown(d.context, v) {
			context[d.context] = v
		}
	}
	options, _ := e.body.get("driver_options")
	for i, key := range options.keys {
		if !isField(key) {
			context[strings.ToValidUTF8(key, "\ufffd")] = options.items[i].plain()
		}
	}
	fill := func(key, v string) {
		if _, has := context[key]; !has {
			context[key] = v
		}
	}
	kept, _ := e.body.get("x_context")
	for i, key := range kept.keys {
		fill(strings.ToValidUTF8(key, "\ufffd"), kept.items[i].plain())
	}
	for _, m := range e.Metrics {
		if e.body.metric(m.Name).kind == str && !isField(m.Name) {
			fill(m.Name, m.Text)
		}
	}
	return context
}

func (e *Envelope) cell() bench.Cell {
	if kept, ok := e.body.get("x_cell"); ok {
		var cell bench.Cell
		if err := kept.decode(&cell); err == nil && cell.ID() != "" {
			return cell
		}
	}
	cell := bench.Cell{Suite: e.SuiteID, Params: []bench.Param{
		{Key: "model", Value: e.Model.ID}, {Key: "engine", Value: e.Engine.Name}, {Key: "suite", Value: e.SuiteID},
	}}
	for _, key := range []string{"concurrency", "rate"} {
		if v, ok := e.body.get("driver_options." + key); ok && v.kind == number {
			cell.Params = append(cell.Params, bench.Param{Key: key, Value: v.condition()})
		}
	}
	return cell
}

// host returns what the fingerprint says of the machine. The label is the
// writer's or unknown.
func (e *Envelope) host() bench.Host {
	var host bench.Host
	if kept, ok := e.body.get("x_host"); ok && kept.decode(&host) == nil {
		return host
	}
	host = bench.Host{}
	known := func(path string, from value) string {
		v, _ := from.get(path)
		if v.kind != str || Unknown(path, v.text) {
			return ""
		}
		return v.plain()
	}
	hardware, _ := e.body.get("hardware_fingerprint")
	host.CPU, host.Driver = known("cpu.model", hardware), known("driver", hardware)
	nodes, _ := hardware.get("numa.nodes")
	for _, node := range nodes.items {
		cpus, _ := node.get("cpus")
		host.Cores += len(cpus.items)
	}
	gpus, _ := hardware.get("gpus")
	for _, gpu := range gpus.items {
		host.Accelerators = append(host.Accelerators, bench.Accelerator{Vendor: vendor(known("model", gpu)), Model: known("model", gpu)})
	}
	return host
}

// vendor returns the only vendor whose library the original reads.
func vendor(model string) string {
	if strings.HasPrefix(strings.ToLower(model), "nvidia") {
		return "nvidia"
	}
	return ""
}
