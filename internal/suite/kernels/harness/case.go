package harness

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Case is one definition at one point: what is computed, from what.
type Case struct {
	Definition string // name
	Workload   string // uuid
	// Secret decides the random inputs. [Measure] draws one if it is zero.
	Secret  Secret
	Inputs  []Input
	Outputs []Output // what they must be
	// Bytes is how many bytes a call reads and writes at least, 0 if unknown.
	Bytes int
	// Odd are cases of the same inputs and outputs in other shapes, which a solution
	// that is much faster than the reference must get right as well.
	Odd []Case
	// Draws, if above 0, is how often the solution is called with the inputs of
	// one set, and all outputs kept: for outputs that are drawn at random.
	Draws int
}

// Input is an input of a case. One with neither File nor Scalar is random.
type Input struct {
	Name   string
	DType  tensor.DType
	Shape  []int // nil is a scalar
	Dist   Dist
	File   *File // which must not change
	Scalar json.Number
}

func (i Input) random() bool { return i.File == nil && i.Scalar == "" }

// Secret decides the random inputs of one measurement. No worker gets it: a
// worker gets the seed of an input when it makes that input, and no seed allows
// to compute another. Whoever has the secret afterwards can make all inputs again.
type Secret [32]byte

// NewSecret draws a secret.
func NewSecret() (s Secret) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// MarshalText writes a secret as hexadecimal digits.
func (s Secret) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Secret) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(s) {
		return fmt.Errorf("%.100q is not a secret: copy the %d digits of evaluation.gate.secret of a trace", text, 2*len(s))
	}
	copy(s[:], b)
	return nil
}

// Seed is that of a random input: the first eight bytes, little endian, of the
// HMAC-SHA-256 by the secret of a JSON array of the five arguments. Inputs need
// not be kept, or sent.
func (s Secret) Seed(definition, workload, input string, trial, set int) uint64 {
	text, _ := json.Marshal([]any{definition, workload, input, trial, set}) // strings and integers cannot fail
	mac := hmac.New(sha256.New, s[:])
	mac.Write(text)
	return binary.LittleEndian.Uint64(mac.Sum(nil))
}

// Random makes the same random input as the workers do.
func (c Case) Random(in Input, trial, set int) (tensor.Tensor, error) {
	t := tensor.Tensor{DType: in.DType, Shape: in.Shape}
	if n := t.Elements(); n >= 0 {
		t.Data = make([]byte, t.DType.Size(n))
	}
	if err := t.Validate(); err != nil || !in.random() {
		return t, fmt.Errorf("input %q is not a random tensor: %w", in.Name, err)
	}
	seed := c.Secret.Seed(c.Definition, c.Workload, in.Name, trial, set)
	if in.Dist == ByDType {
		return t, tensor.Random(t.Data, t.DType, seed, 0)
	}
	p := make([]float32, t.Elements())
	columns := 0
	if len(t.Shape) > 0 {
		columns = t.Shape[len(t.Shape)-1]
	}
	err := tensor.Probabilities(p, seed, 0, columns)
	t.SetFloats(p, 0)
	return t, err
}

// request asks a worker for an input.
func (c Case) request(in Input, trial, set int) Tensor {
	q := Tensor{Name: nameOf(in, set), DType: in.DType, Shape: in.Shape, File: in.File, Scalar: in.Scalar}
	if in.random() {
		q.Random = &Random{Seed: c.Secret.Seed(c.Definition, c.Workload, in.Name, trial, set), Dist: in.Dist}
	}
	return q
}

// nameOf is an input's name in a worker. Those that do not differ between sets
// are there once.
func nameOf(in Input, set int) string {
	if !in.random() {
		return "in." + in.Name
	}
	return fmt.Sprintf("in.%d.%s", set, in.Name)
}

// slot names the tensors of a set.
func (c Case) slot(set int) (s Slot) {
	for _, in := range c.Inputs {
		s.Args = append(s.Args, nameOf(in, set))
	}
	for _, out := range c.Outputs {
		s.Out = append(s.Out, fmt.Sprintf("out.%d.%s", set, out.Name))
	}
	return s
}
