package harness

import (
	"encoding/json"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Proto names the protocol and its version.
const Proto = "fib-worker/1"

// Hello is the request hello.
type Hello struct {
	Proto string `json:"proto"`
	// Device is the id of the device to use, of [HelloReply].Devices; empty
	// leaves it to the worker.
	Device string `json:"device,omitempty"`
	// Private asks the worker to keep other processes of its user out of its
	// memory, before it runs anything: it computes what others are judged by.
	Private bool `json:"private,omitempty"`
}

// HelloReply describes what a worker can do.
type HelloReply struct {
	Kind    string            `json:"kind"`  // python, c, go
	Proto   string            `json:"proto"` // [Proto]
	PID     int               `json:"pid"`
	Devices []Device          `json:"devices"`        // the one in use first
	Libs    map[string]string `json:"libs,omitempty"` // name to version: torch, cuda
	Timers  []string          `json:"timers"`         // best first: event, wall
	DTypes  []tensor.DType    `json:"dtypes"`         // that tensors can have
}

// Device is what a worker computes on.
type Device struct {
	ID     string `json:"id"`   // cuda:0
	Name   string `json:"name"` // NVIDIA A800-SXM4-80GB
	UUID   string `json:"uuid,omitempty"`
	Memory int64  `json:"mem,omitempty"` // bytes
	Kind   string `json:"kind"`          // cpu, cuda, mps
}

// Build asks for a function. The empty id is taken: it is a function that every
// worker has and that does nothing, with which [Measure] learns what the
// worker's own loop costs.
type Build struct {
	ID         string `json:"id"`
	Definition string `json:"definition,omitempty"` // the name
	Language   string `json:"language"`             // as in the solution; "python" for a reference
	Binding    string `json:"binding,omitempty"`    // "torch" and "tvm-ffi" are for torch's worker
	EntryPoint string `json:"entry"`                // "<file>::<symbol>", the file below Dir
	// Dependencies are libraries that a compiled solution needs, by the names of
	// the solution.
	Dependencies []string `json:"dependencies,omitempty"`
	// Cache is a folder for compiled libraries, kept by all that decides them, for
	// the processes of one user; empty is one in Dir.
	Cache string `json:"cache,omitempty"`
	// DPS is the destination-passing style: the function takes its outputs,
	// allocated, after its inputs. Otherwise it returns them: one, or a tuple.
	DPS bool `json:"dps"`
	// Setup allows the solution a function setup, which is called for each workload
	// before the function: see [Setup]. References have none.
	Setup bool `json:"setup,omitempty"`
	// Dir holds the sources. The worker may write there.
	Dir     string  `json:"dir,omitempty"`
	Inputs  []Param `json:"inputs"` // in call order
	Outputs []Param `json:"outputs"`
}

// Param is a parameter of a function, by the definition's name. Where the
// function's own parameters have exactly the names of the inputs, it is called
// by name, else by position.
type Param struct {
	Name   string       `json:"name"`
	DType  tensor.DType `json:"dtype"`
	Scalar bool         `json:"scalar,omitempty"` // a number of the language and no tensor
}

// BuildReply describes a function that was built.
type BuildReply struct {
	Symbol   string   `json:"symbol"`
	Params   []string `json:"params,omitempty"` // its own names, where it has any
	Cached   bool     `json:"cached,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Setup are the inputs that the function's setup takes, null if it has none.
	Setup []string `json:"setup,omitempty"`
}

// Setup has a function prepared for a workload, by the setup that stands beside it.
// Later calls of the function get what setup returned. With the empty id nothing is
// prepared: that shows what the request costs.
type Setup struct {
	ID   string   `json:"id"`
	Args []string `json:"args"` // one for each of [BuildReply].Setup
}

// Tensor makes a tensor under a name. One of that name which has the same dtype
// and shape is overwritten in place. Exactly one of Random, File, Scalar and
// Alloc is set.
type Tensor struct {
	Name   string       `json:"name"`
	DType  tensor.DType `json:"dtype"`
	Shape  []int        `json:"shape"` // null for a scalar
	Random *Random      `json:"random,omitempty"`
	File   *File        `json:"file,omitempty"`
	Scalar json.Number  `json:"scalar,omitempty"` // a bool is 0 or 1
	Alloc  *Alloc       `json:"alloc,omitempty"`
	// Digest asks for [TensorReply].Digest, which takes reading it all back.
	Digest bool `json:"digest,omitempty"`
}

// Random fills a tensor with the numbers of the counter-based generator of
// package tensor, where [tensor.Random] and [tensor.Probabilities] define them.
type Random struct {
	Seed uint64 `json:"seed"` // up to 2^64-1
	Dist Dist   `json:"dist,omitempty"`
}

// Dist is a distribution of random numbers.
type Dist string

// The distributions.
const (
	ByDType       Dist = ""              // that of the number format
	Probabilities Dist = "probabilities" // float32 whose last axis sums to one
)

// File fills a tensor from a safetensors file.
type File struct {
	Path string `json:"path"`
	Key  string `json:"key"`
}

// Alloc leaves a tensor's contents open, unless Poison is set: then each of its
// bytes is 0xFF, which is a NaN in floating point, -1 in integers, and not a
// valid truth value.
type Alloc struct {
	Poison bool `json:"poison,omitempty"`
}

// TensorReply describes a tensor that was made.
type TensorReply struct {
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest,omitempty"` // SHA-256 of the little-endian bytes, hexadecimal
}

// Run calls a function. In destination-passing style Out names tensors that
// exist; otherwise what the function returned is kept under these names. An
// output is saved as it is: contiguous, and refused with the kind shape if it is
// anything but a plain tensor that owns its memory.
type Run struct {
	ID   string   `json:"id"`
	Args []string `json:"args"`
	Out  []string `json:"out"`
	// Repeat, if above 1, calls the function so many times and saves the
	// outputs of all calls, stacked along a new first axis.
	Repeat int `json:"repeat,omitempty"`
	// Save is the path of a safetensors file to write, which does not exist;
	// its keys are the names in Out. Empty saves nothing.
	Save string `json:"save,omitempty"`
	// Digest asks for [RunReply].Digest.
	Digest bool `json:"digest,omitempty"`
}

// Save writes tensors to a safetensors file.
type Save struct {
	Names  []string `json:"names"`
	Save   string   `json:"save"`
	Digest bool     `json:"digest,omitempty"` // asks for [RunReply].Digest
}

// RunReply describes outputs as they were saved.
type RunReply struct {
	Outputs []Output `json:"outputs"` // in the order of Run.Out
	// Digest is the SHA-256 of the bytes that were saved of all outputs, one
	// after another, hexadecimal: the file lies where others could write to it.
	Digest string `json:"digest,omitempty"`
}

// Output describes one output. Numbers of four bits are float4_e2m1 here and
// uint8, two per byte along the last axis, in the file.
type Output struct {
	Name  string       `json:"name"`
	DType tensor.DType `json:"dtype"`
	Shape []int        `json:"shape"`
}

// Time calls a function Warmup + Iterations times. Call i uses slot
// Order[i mod len(Order)]. Only the last Iterations calls are timed, each for
// itself, from the call until the device has done the work. Poisoning and
// cooling are not timed.
type Time struct {
	ID         string `json:"id"`
	Slots      []Slot `json:"slots"`
	Order      []int  `json:"order"` // indices into Slots
	Warmup     int    `json:"warmup"`
	Iterations int    `json:"iters"`
	// Poison sets all bytes of the slot's outputs to 0xFF before each call, or
	// in the other style drops the outputs that the slot had.
	Poison bool `json:"poison,omitempty"`
	// ColdCache empties the caches of the device before each call, by writing
	// twice the size of the largest.
	ColdCache bool   `json:"cold_cache,omitempty"`
	Timer     string `json:"timer,omitempty"` // of [HelloReply].Timers; empty is the first
}

// Slot is one set of arguments and its outputs, as in [Run].
type Slot struct {
	Args []string `json:"args"`
	Out  []string `json:"out"`
}

// TimeReply has the times of all timed calls, in their order.
type TimeReply struct {
	NS    []int64 `json:"ns"`
	Timer string  `json:"timer"`
}

// Clock is the state of a device, where the worker can tell.
type Clock struct {
	MHz         int  `json:"sm_mhz,omitempty"`
	Temperature int  `json:"temp,omitempty"` // degrees Celsius
	Throttled   bool `json:"throttle,omitempty"`
}

// CheckReply describes whether a device still computes: "ok" or "corrupted".
type CheckReply struct {
	Health string `json:"health"`
}

// Release frees tensors. Names that do not exist are ignored.
type Release struct {
	Names []string `json:"names"`
}

// Problem is why a request could not be answered.
type Problem struct {
	Kind    Kind   `json:"kind"` // one that [Kind.Reported] accepts
	Message string `json:"message"`
	Trace   string `json:"trace,omitempty"`
}
