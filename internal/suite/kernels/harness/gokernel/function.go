package gokernel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// function is a kernel that was built. That of the empty id does nothing.
type function struct {
	builtin
	eps   float32
	calls uint64
}

func (f *function) call(in, out []tensor.Tensor) error {
	if f.run == nil {
		return nil
	}
	if !f.accepts(len(in), len(out)) {
		return refusal{harness.WrongShape, "", fmt.Errorf("the kernel does not take %d inputs and %d outputs", len(in), len(out))}
	}
	f.calls++
	return f.run(call{in: in, out: out, draw: f.calls, eps: f.eps})
}

func (s *server) build(q harness.Build) (r harness.BuildReply, err error) {
	switch {
	case q.ID == "":
		return r, refusal{harness.Compile, "", fmt.Errorf("the empty id is taken")}
	case q.Language != "go":
		return r, refusal{harness.Unsupported, "", fmt.Errorf("this worker cannot build %.40q, only go", q.Language)}
	case !q.DPS:
		return r, refusal{
			harness.Unsupported,
			"",
			fmt.Errorf("built-in kernels write to outputs that exist: set destination_passing_style"),
		}
	}
	b, eps, err := lookup(q.EntryPoint, q.Definition)
	if err != nil {
		return r, refusal{harness.Compile, "", err}
	}
	if !b.accepts(len(q.Inputs), len(q.Outputs)) {
		return r, refusal{
			harness.Compile,
			"",
			fmt.Errorf("%s does not take %d inputs and %d outputs", q.EntryPoint, len(q.Inputs), len(q.Outputs)),
		}
	}
	s.functions[q.ID] = &function{builtin: b, eps: eps}
	return harness.BuildReply{Symbol: q.EntryPoint}, nil
}

// setup does nothing, which is all that the empty id asks for: kernels have no setup.
func (s *server) setup(q harness.Setup) (r struct{}, err error) {
	if q.ID != "" {
		return r, errors.New("kernels of this worker have no setup")
	}
	return r, nil
}

// arguments finds a function and the tensors to call it with.
func (s *server) arguments(id string, args, out []string) (f *function, in, results []tensor.Tensor, err error) {
	f, ok := s.functions[id]
	if !ok {
		return nil, nil, nil, fmt.Errorf("no function has the id %.80q", id)
	}
	if in, err = s.tensors.get(args); err == nil {
		results, err = s.tensors.get(out)
	}
	return f, in, results, err
}

const maxRepeat = 1 << 20

func (s *server) run(q harness.Run) (r harness.RunReply, err error) {
	f, in, out, err := s.arguments(q.ID, q.Args, q.Out)
	if err != nil {
		return r, err
	}
	if q.Repeat <= 1 {
		if err := f.call(in, out); err != nil {
			return r, err
		}
		return write(q.Save, q.Digest, q.Out, out)
	}
	stacked, err := stack(f, in, out, q.Repeat)
	if err != nil {
		return r, err
	}
	return write(q.Save, q.Digest, q.Out, stacked)
}

// stack calls a function n times and returns the outputs of all calls.
func stack(f *function, in, out []tensor.Tensor, n int) ([]tensor.Tensor, error) {
	if n > maxRepeat {
		return nil, fmt.Errorf("%d calls: ask for at most %d", n, maxRepeat)
	}
	stacked := make([]tensor.Tensor, len(out))
	for i, t := range out {
		stacked[i] = tensor.Tensor{DType: t.DType, Shape: slices.Insert(slices.Clone(t.Shape), 0, n)}
	}
	for range n {
		for _, t := range out {
			poison(t.Data)
		}
		if err := f.call(in, out); err != nil {
			return nil, err
		}
		for i, t := range out {
			stacked[i].Data = append(stacked[i].Data, t.Data...)
		}
	}
	return stacked, nil
}

func (s *server) save(q harness.Save) (r harness.RunReply, err error) {
	out, err := s.tensors.get(q.Names)
	if err != nil {
		return r, err
	}
	return write(q.Save, q.Digest, q.Names, out)
}

const maxCalls = 1 << 24 // in one request

func (s *server) time(q harness.Time) (r harness.TimeReply, err error) {
	switch {
	case q.Timer != "" && q.Timer != "wall":
		return r, refusal{harness.Unsupported, "", fmt.Errorf("this worker has no timer %.40q", q.Timer)}
	case len(q.Order) == 0 || q.Warmup < 0 || q.Iterations < 0 || q.Warmup > maxCalls || q.Iterations > maxCalls:
		return r, fmt.Errorf("%d calls after %d in an order of %d: ask for 0 to %d", q.Iterations, q.Warmup, len(q.Order), maxCalls)
	}
	slots := make([]func(cold bool) (int64, error), len(q.Slots))
	for i, slot := range q.Slots {
		f, in, out, err := s.arguments(q.ID, slot.Args, slot.Out)
		if err != nil {
			return r, err
		}
		slots[i] = s.timed(f, in, out, q)
	}
	r = harness.TimeReply{NS: make([]int64, 0, q.Iterations), Timer: "wall"}
	for i := range q.Warmup + q.Iterations {
		slot := q.Order[i%len(q.Order)]
		if slot < 0 || slot >= len(slots) {
			return r, fmt.Errorf("the order has the slot %d of %d", slot, len(slots))
		}
		ns, err := slots[slot](q.ColdCache)
		if err != nil {
			return r, err
		}
		if i >= q.Warmup {
			r.NS = append(r.NS, ns)
		}
	}
	return r, nil
}

// timed returns a function that makes one call and returns how long it took.
func (s *server) timed(f *function, in, out []tensor.Tensor, q harness.Time) func(cold bool) (int64, error) {
	return func(cold bool) (int64, error) {
		if q.Poison {
			for _, t := range out {
				poison(t.Data)
			}
		}
		if cold {
			s.coolCaches()
		}
		start := s.now()
		err := f.call(in, out)
		return s.now().Sub(start).Nanoseconds(), err
	}
}

// coolCaches fills the caches with something else.
func (s *server) coolCaches() {
	const size, line = 128 << 20, 64 // above twice the last cache of most machines
	if s.cold == nil {
		s.cold = make([]byte, size)
	}
	for i := 0; i < size; i += line {
		s.cold[i]++
	}
}

// write saves outputs, unless path is empty, and describes them.
func write(path string, digest bool, names []string, tensors []tensor.Tensor) (r harness.RunReply, err error) {
	r.Outputs = make([]harness.Output, len(names))
	hash := sha256.New()
	for i, t := range tensors {
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		r.Outputs[i] = harness.Output{Name: names[i], DType: t.DType, Shape: shape}
		if digest && path != "" {
			hash.Write(t.Data)
		}
	}
	if path == "" {
		return r, nil
	}
	if digest {
		r.Digest = hex.EncodeToString(hash.Sum(nil))
	}
	return r, writeFile(path, names, tensors)
}

// writeFile does not go through package atomicfile: the file is read at once and
// by the one who asked, and need not survive a loss of power.
func writeFile(path string, names []string, tensors []tensor.Tensor) (err error) {
	named := make([]safetensors.Named, len(names))
	for i, name := range names {
		named[i] = safetensors.Named{Name: name, Tensor: tensors[i]}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(safetensors.Encode(f, named), f.Close())
}
