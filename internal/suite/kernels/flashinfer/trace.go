package flashinfer

import "encoding/json"

// Trace is one line of a trace file: what became of a solution with a
// workload. A line of a workload file is a trace without Solution and
// Evaluation.
type Trace struct {
	Definition string
	Workload   Workload
	Solution   string // name; "" in a workload file
	Evaluation *Evaluation

	Place Place // of the line; zero if it was not read from a file
}

// Status is what became of a solution.
type Status string

// The statuses. Upstream has all but the last three: [EncodeTrace] writes
// Suspect and Inconclusive as RUNTIME_ERROR and refuses Skipped.
const (
	Passed             Status = "PASSED"
	IncorrectShape     Status = "INCORRECT_SHAPE"
	IncorrectNumerical Status = "INCORRECT_NUMERICAL"
	IncorrectDType     Status = "INCORRECT_DTYPE"
	RuntimeError       Status = "RUNTIME_ERROR"
	CompileError       Status = "COMPILE_ERROR"
	TimedOut           Status = "TIMEOUT"
	Suspect            Status = "SUSPECT"      // what it reports of itself cannot be true
	Inconclusive       Status = "INCONCLUSIVE" // the host was too disturbed to decide
	Skipped            Status = "SKIPPED"      // this host cannot build or run it
)

// upstreamStatuses are those that may stand in a file.
var upstreamStatuses = []string{
	string(Passed), string(IncorrectShape), string(IncorrectNumerical), string(IncorrectDType), string(RuntimeError), string(CompileError),
	string(TimedOut),
}

// Evaluation is the result of a trace.
type Evaluation struct {
	Status      Status
	Environment Environment
	Timestamp   string // ISO 8601; upstream writes local time without a zone
	Log         string // of build and run, and the reason of a failure; may be large
	// Correctness belongs to Passed and IncorrectNumerical, and Performance to
	// Passed; they are nil otherwise.
	Correctness *Correctness
	Performance *Performance
	Gate        *Gate // what this tool adds; nil in traces of upstream
}

// Environment is what a trace was measured with.
type Environment struct {
	Hardware string // market name of the device
	Libs     map[string]string
}

// Correctness is how far outputs were from the reference's. The errors are at
// least 0, infinite or NaN.
type Correctness struct {
	MaxRelativeError, MaxAbsoluteError float64
	Extra                              json.RawMessage // an object of the evaluator, or nil
}

// Performance holds finite numbers of at least 0. Without a measured
// reference the latter two are 0.
type Performance struct {
	LatencyMS, ReferenceLatencyMS float64
	SpeedupFactor                 float64 // reference's latency by the solution's
}

// Gate is the object evaluation.gate, which upstream ignores.
type Gate struct {
	Key Key `json:"key"`
	// Status is the real one where upstream has none for it. [EncodeTrace] sets
	// it and reading puts it into [Evaluation].
	Status Status `json:"status,omitempty"`
	Timer  string `json:"timer,omitempty"` // kind of clock
	Seed   uint64 `json:"seed,omitempty,string"`
	// Secret makes the random inputs again: see package harness. It is written
	// when the measurement has ended, and serves no other one.
	Secret string `json:"secret,omitempty"`
	// Samples are the latencies of single calls in the order of measurement, in
	// nanoseconds; Reference are those of the reference.
	Samples   []int64 `json:"samples_ns,omitempty"`
	Reference []int64 `json:"reference_samples_ns,omitempty"`
	// Device is what the device itself needed for calls of each trial, as the
	// solution's worker reports. No latency has them.
	Device []DeviceTimes `json:"device,omitempty"`
	// Setup is what the solution prepared before its calls, which no latency has; nil
	// if it prepared nothing.
	Setup    *SetupTimes     `json:"setup,omitempty"`
	Extra    json.RawMessage `json:"extra,omitempty"`   // an object, or nil
	Profiles []Profile       `json:"profile,omitempty"` // of other tools
}

// SetupTimes are those of a solution's setup, by the harness's clock.
type SetupTimes struct {
	SetupMS float64 `json:"setup_ms"` // of one call of setup
	E2EMS   float64 `json:"e2e_ms"`   // of setup and one call of the solution
	NS      []int64 `json:"samples_ns"`
}

// DeviceTimes are those of one trial.
type DeviceTimes struct {
	Method    string  `json:"method"` // delay or event
	NS        []int64 `json:"ns"`
	GraphNS   []int64 `json:"graph_ns,omitempty"` // of a CUDA graph
	MHz       int     `json:"sm_mhz,omitempty"`
	Throttled bool    `json:"throttled,omitempty"`
}
