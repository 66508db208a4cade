package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/text"
)

// compute makes the inputs of a trial and returns the outputs of each set. The
// reference's are freed in its worker.
func (p *trialProtocol) compute(ctx context.Context, s *side, trial int) ([][]evaluator.Output, error) {
	for set := range p.Sets {
		if err := p.load(ctx, s, trial, set); err != nil {
			return nil, s.by(err)
		}
	}
	outputs := make([][]evaluator.Output, p.Sets)
	for _, set := range p.random.Perm(p.Sets) {
		var err error
		if outputs[set], err = p.call(ctx, s, set, 0); err != nil {
			return nil, err
		}
	}
	if s == p.reference {
		return outputs, p.discardInputs(ctx, s)
	}
	return outputs, nil
}

// digestLimit is the size of inputs of which both workers are asked for a digest.
const digestLimit = 64 << 20

func (p *trialProtocol) load(ctx context.Context, s *side, trial, set int) error {
	for _, in := range p.Inputs {
		q := p.Case.request(in, trial, set)
		if set > 0 && !in.random() {
			continue
		}
		n := tensor.Tensor{Shape: in.Shape}.Elements()
		if p.scale != 0 && in.random() && in.DType.IsFloat() {
			if err := p.loadScaled(ctx, s, in, trial, set); err != nil {
				return err
			}
			continue
		}
		q.Digest = trial == 0 && in.random() && in.DType.Size(max(n, 0)) <= digestLimit
		reply, err := s.Tensor(ctx, q)
		if err != nil {
			return err
		}
		if err := p.compare(s, q, reply.Digest); err != nil {
			return err
		}
	}
	return nil
}

func (p *trialProtocol) loadScaled(ctx context.Context, s *side, in Input, trial, set int) error {
	q, err := p.scaledFile(s, in, trial, set)
	if err != nil {
		return err
	}
	defer os.Remove(q.File.Path)
	_, err = s.Tensor(ctx, q)
	return err
}

// compare holds the digest of the solution's input against the reference's. A
// worker may leave digests out.
func (p *trialProtocol) compare(s *side, q Tensor, digest string) error {
	if !q.Digest || digest == "" {
		return nil
	}
	s.inputs[q.Name] = digest
	if other := p.reference.inputs[q.Name]; other != "" && other != digest {
		return s.blame("tensor", fmt.Errorf(
			"its input %q has other bytes than the reference's: see that its generator is the one of the protocol", q.Name))
	}
	return nil
}

// poison makes the outputs of a set, if a program writes to outputs that exist.
func (p *trialProtocol) poison(ctx context.Context, s *side, set int) error {
	if !s.build.DPS {
		return s.by(s.Release(ctx, p.slot(set).Out...))
	}
	return p.allocate(ctx, s, p.slot(set).Out)
}

// allocate makes outputs under these names, poisoned.
func (p *trialProtocol) allocate(ctx context.Context, s *side, names []string) error {
	for i, name := range names {
		o := p.Outputs[i]
		if _, err := s.Tensor(ctx, Tensor{Name: name, DType: o.DType, Shape: o.Shape, Alloc: &Alloc{Poison: true}}); err != nil {
			return s.by(err)
		}
	}
	return nil
}

// call calls a program with a set of inputs and takes the outputs. With repeat
// above 0 it does so many times.
func (p *trialProtocol) call(ctx context.Context, s *side, set, repeat int) ([]evaluator.Output, error) {
	if err := p.poison(ctx, s, set); err != nil {
		return nil, err
	}
	slot, path := p.slot(set), s.path()
	reply, err := s.Run(ctx, Run{ID: s.build.ID, Args: slot.Args, Out: slot.Out, Repeat: repeat, Save: path, Digest: s == p.reference})
	if err != nil {
		return nil, s.by(err)
	}
	return p.take(s, path, reply, repeat)
}

// draw has the solution called many times with the first set.
func (p *trialProtocol) draw(ctx context.Context, wanted []evaluator.Output) error {
	got, err := p.call(ctx, p.solution, 0, max(p.Draws, 2))
	if err != nil {
		return err
	}
	return p.judge(Pair{Draws: true, Reference: wanted, Solution: got})
}

// saved takes the outputs of a set as they are.
func (p *trialProtocol) saved(ctx context.Context, s *side, set int) ([]evaluator.Output, error) {
	path := s.path()
	reply, err := s.Save(ctx, Save{Names: p.slot(set).Out, Save: path, Digest: s == p.reference})
	if err != nil {
		return nil, s.by(err)
	}
	return p.take(s, path, reply, 0)
}

// discardInputs frees all outputs in a worker.
func (p *trialProtocol) discardInputs(ctx context.Context, s *side) error {
	for set := range p.Sets {
		if err := s.Release(ctx, p.slot(set).Out...); err != nil {
			return s.by(err)
		}
	}
	return nil
}

func (s *side) path() string {
	s.files++
	return filepath.Join(s.dir, strconv.Itoa(s.files)+".safetensors")
}

// take reads outputs into memory and removes their file. What counts is what
// was saved, not what the worker says.
func (p *trialProtocol) take(s *side, path string, said RunReply, repeat int) ([]evaluator.Output, error) {
	sets, err := p.takeSets(s, path, said, repeat, 1)
	if err != nil {
		return nil, err
	}
	return sets[0], nil
}

// takeSets is take for the outputs of several sets, one after another.
func (p *trialProtocol) takeSets(s *side, path string, said RunReply, repeat, sets int) ([][]evaluator.Output, error) {
	defer os.Remove(path)
	limit := int64(safetensors.MaxHeader + 8)
	for _, o := range p.Outputs {
		n := tensor.Tensor{Shape: o.Shape}.Elements()
		limit += int64(8 * max(n, 0) * max(repeat, 1) * sets) // of any format
	}
	file, err := safetensors.Read(path, limit)
	if err != nil {
		return nil, s.wrong(Runtime, "the outputs cannot be read: %v", err)
	}
	if names := file.Names(); len(names) != len(p.Outputs)*sets {
		return nil, s.wrong(WrongShape, "%d outputs, where %d sets of the definition have %d", len(names), sets, len(p.Outputs)*sets)
	}
	outputs, hash := make([][]evaluator.Output, sets), sha256.New()
	for i, o := range said.Outputs {
		t, err := file.Tensor(o.Name)
		if err == nil && said.Digest != "" {
			hash.Write(t.Data)
		}
		if err == nil && o.DType == tensor.Float4E2M1 {
			t, err = t.AsFloat4()
		}
		if err != nil {
			return nil, s.wrong(Runtime, "the outputs cannot be read: %v", err)
		}
		want := p.Outputs[i%len(p.Outputs)]
		if err := s.fits(t, o, want, repeat); err != nil {
			return nil, err
		}
		set := &outputs[i/len(p.Outputs)]
		*set = append(*set, evaluator.Output{Name: want.Name, Tensor: t})
	}
	if said.Digest != "" && hex.EncodeToString(hash.Sum(nil)) != said.Digest {
		return nil, blamed{p.solution, &Failure{Op: "run", Kind: Tampered, Message: fmt.Sprintf(
			"the outputs that the %s saved were changed before they were read: look for what the solution writes to files", s.name)}}
	}
	return outputs, nil
}

// fits holds a saved tensor against what the worker said and what is wanted.
func (s *side) fits(t tensor.Tensor, said, want Output, repeat int) error {
	shape := want.Shape
	if repeat > 0 {
		shape = append([]int{repeat}, shape...)
	}
	switch {
	case t.DType != said.DType || !slices.Equal(t.Shape, said.Shape):
		return s.wrong(Runtime, "output %q is declared as %.20s%v and was saved as %s%v", want.Name, said.DType, said.Shape, t.DType,
			brief(t.Shape))
	case !slices.Equal(t.Shape, shape):
		return s.wrong(WrongShape, "output %q has the shape %v, where the definition has %v", want.Name, brief(t.Shape), shape)
	case t.DType != want.DType:
		return s.wrong(WrongDType, "output %q is %s, where the definition has %s", want.Name, t.DType, want.DType)
	}
	return nil
}

func brief(shape []int) []int { return shape[:min(len(shape), maxRank)] }

func (s *side) wrong(kind Kind, format string, args ...any) error {
	return blamed{s, &Failure{Op: "run", Kind: kind, Message: text.Clip(fmt.Sprintf(format, args...), maxMessage), Log: s.Log()}}
}

// unwritten returns the first output of the solution that still is as it was
// poisoned, where the reference's is not, or -1.
func unwritten(p Pair) int {
	for i, o := range p.Solution {
		if isPoison(o.Tensor.Data) && !isPoison(p.Reference[i].Tensor.Data) {
			return i
		}
	}
	return -1
}

func isPoison(data []byte) bool {
	return len(data) > 0 && data[0] == 0xff && bytes.Equal(data[1:], data[:len(data)-1])
}
