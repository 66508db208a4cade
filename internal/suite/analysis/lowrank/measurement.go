package lowrank

import "github.com/accelgate/accelgate/internal/tensor"

// Measurement is how good the factors of a weight are. What is nil could not
// be measured, and there is a fault that says why.
type Measurement struct {
	Faults     []Fault        `json:"faults,omitempty"`
	Bound      float64        `json:"bound,omitempty"` // see [Bound]
	Difference *Difference    `json:"difference,omitempty"`
	U          *Orthogonality `json:"u,omitempty"`
	V          *Orthogonality `json:"v,omitempty"`
}

// Measure compares factors that fit together, and fit the weight, with it. The
// bound is that of s.Compute and s.Storage, or of the factors' own format if
// s.Storage is empty. Angles and lengths are computed in float64.
func Measure(weight tensor.Tensor, f Factors, s Settings) Measurement {
	var m Measurement
	for i, t := range f.all() {
		if !finite(*t) {
			m.add(NotFinite, "%s has NaN or infinite numbers: decompose again, or store what does not fit as float32", suffixes[i])
		}
		if s.Storage != "" && t.DType != s.Storage {
			m.add(Format, "%s is of %s, not of %s: save it so, or verify against its own format", suffixes[i], t.DType, s.Storage)
		}
	}
	if m.Faults != nil {
		return m
	}
	n, columns := weight.Shape[0], weight.Shape[1]
	m.checkSplit(f.High(), n, columns, s.RankRatio)
	m.Faults = append(m.Faults, f.ordered()...)
	storage := s.Storage
	if storage == "" {
		storage = f.coarsest()
	}
	m.Bound = Bound(s.BoundFactor, s.Compute, storage, min(n, columns))
	m.compare(weight, f.Reconstruct(s.Compute), s.Tolerance)
	m.U = m.orthogonal("U", f.orthogonalityU(), s.MaxDegrees)
	m.V = m.orthogonal("V", f.orthogonalityV(), s.MaxDegrees)
	return m
}

func (m *Measurement) add(kind Kind, format string, args ...any) {
	m.Faults = append(m.Faults, fault(kind, format, args...))
}

// checkSplit compares the number of frozen triplets with that of the ratio, of
// which there is none if it is 0.
func (m *Measurement) checkSplit(high, n, columns int, ratio float64) {
	if want := TopK(n, columns, ratio); ratio != 0 && high != want {
		m.add(Rank, "%d triplets are frozen, where the ratio %v freezes %d of %d: decompose with this ratio", high, ratio, want,
			min(n, columns))
	}
}

func (m *Measurement) compare(weight tensor.Tensor, reconstruction []float64, tolerance float64) {
	d, err := Compare(weight, reconstruction, tolerance)
	if err != nil {
		m.add(NotFinite, "%v", err)
		return
	}
	m.Difference = &d
	if d.Relative > m.Bound {
		m.add(OutOfBound,
			"the relative difference %.3g is above %.3g, which rounding explains: find what was computed or stored in fewer bits",
			d.Relative, m.Bound)
	}
}

func (m *Measurement) orthogonal(name string, o Orthogonality, maxDegrees float64) *Orthogonality {
	if notFinite(o.Deviation) || notFinite(o.Degrees) {
		m.add(NotFinite, "the products of the vectors of %s are too large for float64: make vectors of length 1", name)
		return nil
	}
	if o.Zeros > 0 {
		m.add(ZeroVector, "%d singular vectors of %s are all 0: give each a direction, also where the singular value is 0", o.Zeros, name)
	}
	if o.Deviation > m.Bound {
		m.add(NotOrthogonal, "products of the vectors of %s deviate by %.3g from 0 or 1, rounding explains %.3g: orthonormalize them", name,
			o.Deviation, m.Bound)
	}
	if o.Degrees > maxDegrees {
		m.add(Angle,
			"frozen and trained vectors of %s are up to %.3g degrees from a right angle, of which %g are allowed: keep the trained ones out of the frozen space",
			name, o.Degrees, maxDegrees)
	}
	return &o
}
