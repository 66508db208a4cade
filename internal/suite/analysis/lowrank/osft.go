// Package lowrank measures how well the factors of orthogonal subspace
// fine-tuning (OSFT, as in github.com/Red-Hat-AI-Innovation-Team/mini_trainer)
// give back the weights they were made of. A weight W of N x M becomes the thin
// singular value decomposition U diag(S) V, cut after the first top_k triplets
// into a high part that is frozen and a low part that is trained. Nothing is
// dropped: (U_high*S_high)V_high + (U_low*S_low)V_low is W but for rounding.
//
// The way of a parameter: [Targets] finds it in a checkpoint, [Decompose] makes
// its six factors or a checkpoint holds those that were made elsewhere,
// [Factors.Reconstruct] multiplies them, [Compare] and [Measure] say what
// became of the weight and of the factors. [Run] does that for a whole
// checkpoint, [RunPart] and [Merge] do it on several hosts.
//
// The package computes and reports; it decides no exit code. What could not be
// compared is a failure with a name, never a parameter less.
package lowrank

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Settings say what is compared and how. They are part of a result: results of
// different settings are not merged. [Defaults] has the usual ones; the zero
// value is refused.
type Settings struct {
	// Model is the name that chooses the family and with it the patterns, see
	// [Family]. It is ignored where there are Patterns.
	Model string `json:"model,omitempty"`
	// Patterns are parts of the names of the parameters that are decomposed.
	Patterns []string `json:"patterns,omitempty"`
	// RankRatio is the share of the singular triplets that is frozen, above 0
	// and at most 1. Upstream takes 0 for "not given" and uses 0.5, without a
	// word; here 0 is refused. Only where factors
	// are verified it is allowed: any split that they have is right then.
	RankRatio float64 `json:"rank_ratio"`
	// Compute is float64 or float32: what the decomposition and the
	// reconstruction are computed in. For float32 see [Decompose].
	Compute tensor.DType `json:"compute"`
	// Storage is what the factors are rounded to: float64, float32, float16 or
	// bfloat16. Factors that are only verified must have it; empty allows any
	// then.
	Storage tensor.DType `json:"storage,omitempty"`
	// Tolerance is both the absolute and the relative one of [Close].
	Tolerance float64 `json:"tolerance"`
	// BoundFactor is the factor of [Bound].
	BoundFactor float64 `json:"bound_factor"`
	// MaxDegrees is how far from a right angle a frozen and a trained singular
	// vector may be.
	MaxDegrees float64 `json:"max_degrees"`
}

// Defaults are upstream's ratio, tolerance and margin, and the float64 that its
// fidelity script asks for. The factor of the bound is chosen here: both
// solvers stay below 4 up to sizes of 1024.
func Defaults() Settings {
	return Settings{RankRatio: 0.5, Compute: tensor.Float64, Storage: tensor.Float64,
		Tolerance: 1e-5, BoundFactor: 16, MaxDegrees: 1}
}

// epsilons are the distances from 1 to the next number of each format that
// weights and factors may have.
var epsilons = map[tensor.DType]float64{
	tensor.Float64: 0x1p-52,
	tensor.Float32: 0x1p-23,
	tensor.F16:     0x1p-10,
	tensor.BF16:    0x1p-7,
}

const formats = "float64, float32, float16 or bfloat16"

// Check returns what is wrong with settings for decomposing.
func (s Settings) Check() error { return s.check(false) }

// check returns an error for settings that mean nothing.
func (s Settings) check(verify bool) error {
	switch {
	case verify && s.RankRatio == 0:
	case s.RankRatio == 0:
		return errors.New("rank ratio 0 freezes nothing: give one above 0, upstream's default is 0.5")
	case !(s.RankRatio > 0 && s.RankRatio <= 1):
		return fmt.Errorf("rank ratio %v: give one above 0 and at most 1", s.RankRatio)
	}
	if s.Compute != tensor.Float64 && s.Compute != tensor.Float32 {
		return fmt.Errorf("computing in %.40q: use float64 or float32", s.Compute)
	}
	if epsilons[s.Storage] == 0 && !(verify && s.Storage == "") {
		return fmt.Errorf("storing factors as %.40q: use %s", s.Storage, formats)
	}
	if slices.Contains(s.Patterns, "") {
		return errors.New("an empty pattern is part of every name: give a part of those that are decomposed")
	}
	return s.checkLimits()
}

func (s Settings) checkLimits() error {
	switch {
	case !(s.Tolerance >= 0 && s.Tolerance <= math.MaxFloat64):
		return fmt.Errorf("tolerance %v: give a finite one of at least 0", s.Tolerance)
	case !(s.BoundFactor >= 1e-3 && s.BoundFactor <= 1e6):
		return fmt.Errorf("bound factor %v: give one from 0.001 to 1e6", s.BoundFactor)
	case !(s.MaxDegrees > 0 && s.MaxDegrees <= 90):
		return fmt.Errorf("%v degrees from a right angle: allow more than 0 and at most 90", s.MaxDegrees)
	}
	return nil
}

// patterns returns what the names of targets contain.
func (s Settings) patterns() []string {
	if len(s.Patterns) > 0 {
		return s.Patterns
	}
	_, patterns := Family(s.Model)
	return patterns
}
