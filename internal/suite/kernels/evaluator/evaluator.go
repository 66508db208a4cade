// Package evaluator judges what kernels computed: it holds the outputs of a
// candidate against those of a reference and says whether they agree, by how
// much not, and where it is worst.
//
// It works on outputs that have left the process which computed them, so that
// nothing there can touch the verdict. It is pure: it reads no files and runs
// no programs; whoever runs an evaluator of the user's own asks it only for the
// messages to exchange.
//
// [Fib] reproduces flashinfer-bench as of 2026-04 with its faults, in float32
// where that computes in float32. [Strict], the default, has rules of its own,
// which the functions state.
package evaluator

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Mode describes by whose rules outputs are judged.
type Mode string

// The modes. An empty Mode is Strict.
const (
	Strict Mode = "strict"
	Fib    Mode = "fib" // flashinfer-bench's own rules
)

// Tolerance describes how far an output may be off. A zero takes the default of the
// mode and the evaluator.
type Tolerance struct {
	Rtol                 float64 `json:"rtol"`
	Atol                 float64 `json:"atol"`
	RequiredMatchedRatio float64 `json:"required_matched_ratio"` // share of elements within both, up to 1
}

// Params are the settings of an evaluation. The zero value is the default.
type Params struct {
	Mode Mode

	// As in Tolerance, for all outputs.
	Rtol, Atol, RequiredMatchedRatio float64

	// Outputs holds what differs for single outputs, by name. It is the only
	// way to allow an error in an output of whole numbers.
	Outputs map[string]Tolerance

	// Reduction is the number of products or terms in the longest sum of the
	// definition, 0 if unknown. It widens the default tolerance of Strict.
	Reduction int

	// TVDThreshold bounds the total variation distance of samples; see
	// [Sampling].
	TVDThreshold float64
}

// valid returns p with its mode filled in.
func (p Params) valid() (Params, error) {
	p.Mode = cmp.Or(p.Mode, Strict)
	if p.Mode != Strict && p.Mode != Fib {
		return p, fmt.Errorf("mode is %q: write %q or %q", p.Mode, Strict, Fib)
	}
	if p.Reduction < 0 {
		return p, fmt.Errorf("reduction is %d: write the number of terms of the longest sum, or 0", p.Reduction)
	}
	if !(p.TVDThreshold >= 0 && p.TVDThreshold <= 1) {
		return p, fmt.Errorf("TVD threshold is %v: write a number from 0 to 1", p.TVDThreshold)
	}
	if err := (Tolerance{p.Rtol, p.Atol, p.RequiredMatchedRatio}).valid(); err != nil {
		return p, err
	}
	for _, name := range sortedKeys(p.Outputs) {
		if err := p.Outputs[name].valid(); err != nil {
			return p, fmt.Errorf("output %q: %w", name, err)
		}
	}
	return p, nil
}

func (t Tolerance) valid() error {
	for name, v := range map[string]float64{"rtol": t.Rtol, "atol": t.Atol} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%s is %v: write a positive number, or 0 for the default", name, v)
		}
	}
	if r := t.RequiredMatchedRatio; !(r >= 0 && r <= 1) {
		return fmt.Errorf("required_matched_ratio is %v: write a number up to 1, or 0 for the default", r)
	}
	return nil
}

// tolerance returns what was set for an output; what is still zero takes a
// default.
func (p Params) tolerance(output string) Tolerance {
	t := p.Outputs[output]
	t.Rtol = firstSet(t.Rtol, p.Rtol)
	t.Atol = firstSet(t.Atol, p.Atol)
	t.RequiredMatchedRatio = firstSet(t.RequiredMatchedRatio, p.RequiredMatchedRatio)
	return t
}

// upstream returns the tolerance that [Fib] has for an output.
func (p Params) upstream(output string) Tolerance {
	t := p.tolerance(output)
	t.Rtol, t.Atol = firstSet(t.Rtol, fibTolerance), firstSet(t.Atol, fibTolerance)
	return t
}

func firstSet(values ...float64) float64 {
	for _, v := range values {
		if v != 0 {
			return v
		}
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Output is one named result of a kernel.
type Output struct {
	Name   string
	Tensor tensor.Tensor
}
