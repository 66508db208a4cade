package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// conditions are the facts of a case without which its numbers are not comparable: two kinds of clock measure different
// things, and a ratio is to its reference.
var conditions = []string{"timer", "cold_cache", "reference_worker", "device_name"}

// context is what else decides the numbers of a case.
func (o *outcome) context() map[string]string {
	c := map[string]string{
		"evaluator_mode":   o.point.settings.Mode.V,
		"reference_worker": o.reference,
		"cold_cache":       strconv.FormatBool(o.cold),
	}
	if t := o.measured.Solution.Timer; t != "" {
		c["timer"] = t
	}
	if len(o.hello.Devices) > 0 {
		c["device_name"] = o.hello.Devices[0].Name
	}
	for name, version := range o.hello.Libs {
		c["lib_"+name] = version
	}
	return c
}

// Digest identifies a case: definition, solution, workload, settings, and what
// runs them.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	p := s.byID[cell.ID()]
	key := s.key(p)
	data, err := json.Marshal([]any{key, s.body, s.contents.Program(s.body.Python, nil), s.contents.File(s.env.Executable)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// key is what a trace's result depends on.
func (s *Suite) key(p *point) flashinfer.Key {
	var blobs []string
	for _, in := range p.definition.Inputs {
		if from := p.workload.Inputs[in.Name]; from.Type == flashinfer.Safetensors {
			blobs = append(blobs, s.contents.File(s.dataset.BlobPath(from)))
		}
	}
	b := s.body
	programs := []string{s.contents.Program(b.Python, nil), s.contents.File(s.env.Executable)}
	if p.worker == cWorker {
		programs = append(programs, s.contents.Program(b.Compiler, nil))
	}
	if p.worker == torchWorker && bindingOf(p.solution) != "" {
		for _, name := range []string{"c++", "nvcc", "hipcc"} {
			programs = append(programs, s.contents.Program(name, nil))
		}
		programs = append(programs, s.contents.File("/usr/local/cuda/bin/nvcc")) // where it is looked for last
	}
	if judge := p.settings.Evaluator.V.Command; len(judge) > 0 { // a changed judge may say something else
		programs = append(append(programs, s.contents.Program(judge[0], nil)), s.contents.Named(judge)...)
	}
	cold := "by device"
	if b.ColdCache != nil {
		cold = strconv.FormatBool(*b.ColdCache)
	}
	host := sha256.Sum256(
		fmt.Appendf(nil, "%+v %q %q %q %q %v %v", s.env.Host.Fingerprint, blobs, b.Device, b.Reference, programs, cold, b.Isolated),
	)
	return flashinfer.NewKey(p.definition, p.solution, p.workload, p.settings.Digest(), hex.EncodeToString(host[:]))
}

// appendTrace writes the case as FlashInfer-Bench reads it, with our own data in
// one object more.
func (s *Suite) appendTrace(p *point, o *outcome) error {
	path, err := flashinfer.TracePath(p.definition, p.solution.Author)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = flashinfer.AppendTrace(s.resolve(s.body.Traces), path, s.trace(p, o))
	return err
}

func (s *Suite) trace(p *point, o *outcome) *flashinfer.Trace {
	e := &flashinfer.Evaluation{Status: o.status, Timestamp: s.env.Now().UTC().Format(time.RFC3339Nano), Log: s.hide(o.traceLog()),
		Environment: flashinfer.Environment{Hardware: hardware(o.hello.Devices, s.env.Host), Libs: o.hello.Libs},
		Gate: &flashinfer.Gate{
			Key:       s.key(p),
			Secret:    o.secretText(),
			Timer:     o.measured.Solution.Timer,
			Samples:   calls(o.measured.Solution.NS),
			Reference: calls(o.measured.Reference.NS),
			Device:    onItself(o.measured.Solution.Device),
		}}
	switch {
	case o.status == evaluator.IncorrectNumerical && (!o.judged || o.measured.Failed != nil): // an output was never written
		e.Correctness = &flashinfer.Correctness{MaxAbsoluteError: math.Inf(1), MaxRelativeError: math.Inf(1)}
	case o.status == evaluator.Passed || o.status == evaluator.IncorrectNumerical:
		e.Correctness = &flashinfer.Correctness{
			MaxAbsoluteError: float64(o.verdict.MaxAbsoluteError),
			MaxRelativeError: float64(o.verdict.MaxRelativeError),
		}
		if o.verdict.Extra != nil {
			e.Correctness.Extra, _ = json.Marshal(o.verdict.Extra) // numbers and lists of them
		}
	}
	e.Gate.Profiles, e.Gate.Setup = o.profiles, o.setup()
	if o.status == evaluator.Passed {
		e.Performance = o.performance()
	}
	return &flashinfer.Trace{Definition: p.definition.Name, Solution: p.solution.Name, Workload: *p.workload, Evaluation: e}
}

// secretText is empty if nothing was measured.
func (o *outcome) secretText() string {
	if o.secret == (harness.Secret{}) {
		return ""
	}
	text, _ := o.secret.MarshalText() // never fails
	return string(text)
}

func (o *outcome) traceLog() string {
	if o.status == evaluator.Passed {
		return ""
	}
	return o.why() + "\n" + o.log // the caller hides secrets
}

func (s *Suite) hide(text string) string {
	if s.env.Hide == nil {
		return text
	}
	return s.env.Hide(text)
}

// hardware is the model of the device that a worker used. Workers do not know
// that of a processor, nor that of Apple's GPU.
func hardware(devices []harness.Device, host bench.Host) string {
	if len(devices) == 0 {
		return "unknown"
	}
	switch d := devices[0]; {
	case d.Kind == "cpu" && host.CPU != "":
		return host.CPU
	case d.Kind == "mps" && len(host.Accelerators) == 1:
		return host.Accelerators[0].Model
	default:
		return d.Name
	}
}

func (o *outcome) performance() *flashinfer.Performance {
	p := &flashinfer.Performance{}
	for _, s := range o.samples() {
		switch s.Metric {
		case "latency_ms":
			p.LatencyMS = s.Values[0]
		case "reference_latency_ms":
			p.ReferenceLatencyMS = s.Values[0]
		case "speedup_factor":
			p.SpeedupFactor = s.Values[0]
		}
	}
	return p
}

// onItself is what a trace keeps of the device's own times.
func onItself(trials []harness.ObserveReply) (times []flashinfer.DeviceTimes) {
	for _, t := range trials {
		d := flashinfer.DeviceTimes{Method: t.Method, NS: t.NS, GraphNS: t.GraphNS}
		if t.Clock != nil {
			d.MHz, d.Throttled = t.Clock.MHz, t.Clock.Throttled
		}
		times = append(times, d)
	}
	return times
}

// maxCalls bounds the calls that a trace keeps of each side.
const maxCalls = 1000

// calls returns times of calls over all trials, evenly spaced where there are
// many.
func calls(trials [][]int64) (ns []int64) {
	for _, t := range trials {
		ns = append(ns, t...)
	}
	if n := len(ns); n > maxCalls {
		kept := make([]int64, maxCalls)
		for i := range kept {
			kept[i] = ns[i*n/maxCalls]
		}
		return kept
	}
	return ns
}

// earlier returns what the dataset's traces hold of a case that passed with the
// same contents, settings and host. Failures are measured again.
func (s *Suite) earlier(p *point) (bench.Result, bool) {
	if !s.body.Resume {
		return bench.Result{}, false
	}
	c := flashinfer.Case{Definition: p.definition.Name, Solution: p.solution.Name, UUID: p.workload.UUID, Key: s.key(p)}
	s.mu.Lock()
	t, done := s.results.Done(c)
	done = done && profiled(t, s.body.Profile)
	delete(s.results, c) // a second look at the case is a measurement
	s.mu.Unlock()
	if !done {
		return bench.Result{}, false
	}
	run, err := flashinfer.ToRun([]*flashinfer.Trace{t}, "", "", "")
	if err != nil {
		return bench.Result{}, false // then it is measured
	}
	r := run.Results[0]
	r.Cell, r.Device = p.cell, ""
	r.Warnings = []string{"kept from the traces of an earlier run"}
	return r, true
}
