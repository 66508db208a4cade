package flashinfer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// kind begins every case id.
const kind = "fib"

// Cell returns the cell of a case. Its id is
// fib/<definition>/<solution>/<workload>, where "%", separators of paths and
// unprintable characters of names are written %XX.
func Cell(definition, solution, uuid string) bench.Cell {
	names := []string{kind, definition, solution, uuid}
	for i, name := range names {
		names[i] = escape(name)
	}
	return bench.Cell{Raw: strings.Join(names, "/"), Params: []bench.Param{
		{
			Key:   "kind",
			Value: kind,
		}, {Key: "definition", Value: definition}, {Key: "solution", Value: solution}, {Key: "workload", Value: uuid},
	}}
}

func escape(name string) string {
	odd := func(r rune) bool {
		return r == '%' || r == '/' || r == '\\' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
	}
	if !strings.ContainsFunc(name, odd) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if !odd(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Metrics are those of a kernel's cell. A solution is slower only if both its
// latency and its speedup over the reference, which was timed alternately with it,
// say so: where only one moved, it is the host or the reference that did.
func Metrics() []bench.Metric {
	return []bench.Metric{
		{
			Name:        "latency_ms",
			Unit:        "ms",
			Better:      bench.Lower,
			ConfirmedBy: "speedup_factor",
			Definition:  "time of one call of the solution",
		},
		{
			Name:          "reference_latency_ms",
			Unit:          "ms",
			Better:        bench.Lower,
			Informational: true,
			Definition:    "time of one call of the definition's reference",
		},
		{
			Name:        "speedup_factor",
			Unit:        "x",
			Better:      bench.Higher,
			ConfirmedBy: "latency_ms",
			Definition:  "reference_latency_ms / latency_ms",
		},
	}
}

// DeviceMetric is the time that a device itself needs. Its noise is a hundredth of that of latency_ms for kernels below 0.1 ms:
// 0.1 to 0.7 % on an H100, where the host's part of a call varies by 10 us. The solution's worker reports it, so a
// solution can hide a loss in it, and none in latency_ms.
func DeviceMetric() bench.Metric {
	return bench.Metric{
		Name:       "device_ms",
		Unit:       "ms",
		Better:     bench.Lower,
		Definition: "time that the device itself needs for one call of the solution",
	}
}

// OnDevice returns the milliseconds of all calls of all trials on the device, or nil if a trial has none without the gaps
// between launches.
func OnDevice(trials []DeviceTimes) (ms []float64) {
	for _, t := range trials {
		if t.Method != "delay" {
			return nil
		}
		for _, ns := range t.NS {
			ms = append(ms, float64(ns)/1e6)
		}
	}
	return ms
}

// SetupMetrics are those of solutions that prepare something before their calls.
func SetupMetrics() []bench.Metric {
	return []bench.Metric{
		{
			Name:          "setup_ms",
			Unit:          "ms",
			Better:        bench.Lower,
			Informational: true,
			Definition:    "time of one call of the solution's setup, which latency_ms leaves out",
		},
		{Name: "e2e_ms", Unit: "ms", Better: bench.Lower, Informational: true, Definition: "setup_ms + latency_ms"},
	}
}

// Outcome returns what a status means for a cell.
func (s Status) Outcome() (bench.Outcome, bench.Cause) {
	switch s {
	case Passed:
		return bench.Passed, ""
	case IncorrectShape, IncorrectNumerical, IncorrectDType:
		return bench.Incorrect, bench.CauseAnswer
	case TimedOut:
		return bench.Timeout, bench.CauseTimeout
	case Skipped:
		return bench.Skipped, bench.CauseCapacity
	case Inconclusive:
		return bench.Failed, bench.CauseMachine
	}
	return bench.Failed, ""
}

// ToRun returns the traces as a run, such as for a baseline. The last trace of
// a case counts. All must be of one device: hardware names it, "" stands for
// the only one. The label is that of the host; upstream records nothing of a
// host but the device, so that the run is compared with one of the same label
// at the caller's risk. Times without a zone are taken for UTC.
func ToRun(traces []*Trace, hardware, label, tool string) (*bench.Run, error) {
	traces, hardware, err := ofDevice(traces, hardware)
	if err != nil {
		return nil, err
	}
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: tool, Metrics: Metrics(),
		Host: bench.Host{
			Label:       label,
			Fingerprint: bench.Fingerprint{Accelerators: []bench.Accelerator{{Vendor: vendor(hardware), Model: hardware}}},
		},
	}
	if slices.ContainsFunc(traces, func(t *Trace) bool { return t.setup() != nil }) {
		run.Metrics = append(run.Metrics, SetupMetrics()...)
	}
	if slices.ContainsFunc(traces, func(t *Trace) bool { return t.onDevice() != nil }) {
		run.Metrics = append(run.Metrics, DeviceMetric())
	}
	at := map[string]int{}
	for _, t := range traces {
		result := t.result()
		id := result.Cell.ID()
		if i, known := at[id]; known {
			run.Results[i] = result
		} else {
			at[id] = len(run.Results)
			run.Results = append(run.Results, result)
		}
		if when := t.time(); !when.IsZero() && (run.Started.IsZero() || when.Before(run.Started)) {
			run.Started = when
		}
	}
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("traces as a run: %w: correct the traces", err)
	}
	return run, nil
}

// ofDevice returns the results of one device.
func ofDevice(traces []*Trace, hardware string) (own []*Trace, name string, err error) {
	devices := map[string]bool{}
	for _, t := range traces {
		if t.Evaluation == nil {
			continue
		}
		devices[t.Evaluation.Environment.Hardware] = true
		if hardware == "" || t.Evaluation.Environment.Hardware == hardware {
			own = append(own, t)
		}
	}
	known := slices.Sorted(maps.Keys(devices))
	switch {
	case len(known) == 0:
		return nil, "", errors.New("there are no traces with a result: run the solutions, or name another folder")
	case hardware == "" && len(known) > 1:
		return nil, "", fmt.Errorf("the traces are of %d devices, %s: name the one that is wanted with --hardware", len(known),
			quoteAll(known))
	case len(own) == 0:
		return nil, "", fmt.Errorf("no trace is of the device %s: name one of %s", quote(hardware), quoteAll(known))
	case hardware == "":
		hardware = known[0]
	}
	return own, hardware, nil
}

func quoteAll(names []string) string {
	const maximum = 5
	quoted := make([]string, 0, maximum+1)
	for _, name := range names[:min(len(names), maximum)] {
		quoted = append(quoted, quote(name))
	}
	if len(names) > maximum {
		quoted = append(quoted, "...")
	}
	return strings.Join(quoted, ", ")
}

// vendor guesses by the market names that torch reports, and those of processors.
func vendor(hardware string) string {
	for _, v := range []struct{ word, vendor string }{
		{"epyc", "cpu"}, {"ryzen", "cpu"}, {"xeon", "cpu"}, {"core(tm)", "cpu"}, {"amd64", "cpu"},
		{"nvidia", "nvidia"}, {"tesla", "nvidia"}, {"geforce", "nvidia"}, {"amd", "amd"}, {"instinct", "amd"}, {"radeon", "amd"},
		{"ascend", "ascend"}, {"apple", "apple"}, {"intel", "intel"}, {"cpu", "cpu"},
	} {
		if strings.Contains(strings.ToLower(hardware), v.word) {
			return v.vendor
		}
	}
	return "unknown"
}

// maxTail is how much of a log a run keeps: its end, where the reason is.
const maxTail = 4 << 10

func (t *Trace) result() bench.Result {
	e := t.Evaluation
	r := bench.Result{Cell: Cell(t.Definition, t.Solution, t.Workload.UUID), Device: e.Environment.Hardware}
	r.Outcome, r.Cause = e.Status.Outcome()
	if r.Outcome != bench.Passed {
		r.Reason = e.reason()
		r.Log = text.Tail(e.Log, maxTail)
	}
	if p := e.Performance; p != nil {
		for _, m := range []struct {
			name  string
			value float64
		}{{"latency_ms", p.LatencyMS}, {"reference_latency_ms", p.ReferenceLatencyMS}, {"speedup_factor", p.SpeedupFactor}} {
			if m.value > 0 { // 0 stands for what was not measured
				r.Samples = append(r.Samples, bench.Sample{Metric: m.name, Values: []float64{m.value}})
			}
		}
	}
	if s := t.setup(); s != nil { // whose time may be below the clock's resolution
		r.Samples = append(r.Samples, bench.Sample{Metric: "setup_ms", Values: []float64{s.SetupMS}},
			bench.Sample{Metric: "e2e_ms", Values: []float64{s.E2EMS}})
	}
	if ms := t.onDevice(); ms != nil {
		r.Samples = append(r.Samples, bench.Sample{Metric: "device_ms", Values: []float64{stats.Median(ms)}})
	}
	return r
}

// onDevice returns the milliseconds of calls on the device of a solution that passed.
func (t *Trace) onDevice() []float64 {
	if e := t.Evaluation; e.Gate != nil && e.Performance != nil {
		return OnDevice(e.Gate.Device)
	}
	return nil
}

// setup returns what a trace has of a setup, or nil. No time is negative.
func (t *Trace) setup() *SetupTimes {
	e := t.Evaluation
	if e.Gate == nil || e.Performance == nil || e.Gate.Setup == nil || e.Gate.Setup.SetupMS < 0 || e.Gate.Setup.E2EMS < 0 {
		return nil
	}
	return e.Gate.Setup
}

func (e *Evaluation) reason() string {
	if c := e.Correctness; c != nil {
		return fmt.Sprintf("%s: largest absolute error %g, largest relative error %g", e.Status, c.MaxAbsoluteError, c.MaxRelativeError)
	}
	return string(e.Status)
}

// time returns when the trace was measured, the zero time if it does not say.
func (t *Trace) time() time.Time {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if when, err := time.Parse(form, t.Evaluation.Timestamp); err == nil {
			return when.UTC()
		}
	}
	return time.Time{}
}
