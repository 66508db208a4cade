package analysis

import (
	"fmt"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// factTolerance names the condition that says by which tolerance parameters were
// compared.
const factTolerance = "tolerance"

// Recheck returns what holds the recorded numbers of a fidelity cell against the
// suite's limits: a run of another job may have been measured under other ones, or
// under level off. What packing computes depends on no limit.
func Recheck(c *config.Suite) (func(*bench.Result) (unverified string, err error), error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	cells := map[string]Variant{}
	if b.Fidelity != nil {
		for _, v := range b.Fidelity.Variants {
			cells[b.Fidelity.cell(v).ID()] = v
		}
	}
	return func(r *bench.Result) (unverified string, err error) {
		v, ok := cells[r.Cell.ID()]
		if !ok {
			return "", nil
		}
		return b.recheck(r, v)
	}, nil
}

func (b *body) recheck(r *bench.Result, v Variant) (unverified string, err error) {
	limits := b.Fidelity.settings(v, "")
	if degrees, _ := largest(r, "degrees"); degrees > limits.MaxDegrees {
		return "", fmt.Errorf("vectors are %.3g degrees from a right angle, of which the configuration allows %g", degrees,
			limits.MaxDegrees)
	}
	if b.Level != Fail || v != b.Fidelity.Variants[0] {
		return "", nil
	}
	if different, ok := largest(r, "different_parameters"); !ok || different > 0 {
		return "", fmt.Errorf("%g parameters differ by more than the tolerance", different)
	}
	difference, ok := largest(r, "max_difference")
	if used := r.Context[factTolerance]; used != formatTolerance(limits.Tolerance) && !(ok && difference <= limits.Tolerance) {
		return fmt.Sprintf("parameters were compared by the tolerance %q, and that of the configuration is %g", used, limits.Tolerance), nil
	}
	return "", nil
}

func formatTolerance(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// largest returns the largest value of a metric; ok is false without one.
func largest(r *bench.Result, metric string) (x float64, ok bool) {
	if s := r.Sample(metric); s != nil {
		for _, v := range s.Values {
			x, ok = max(x, v), true
		}
	}
	return x, ok
}
