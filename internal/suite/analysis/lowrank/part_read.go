package lowrank

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// The limits of a document, above what any model needs.
const (
	maxItems    = 1 << 20
	maxElements = min(1<<40, math.MaxInt) // of a parameter
	maxFaults   = 64                      // of a parameter
)

// ReadPart reads a document that [Part.Write] wrote, perhaps on another host.
// Fields that are not known and numbers that contradict each other are errors:
// what is read merges, and gives a report of finite numbers.
func ReadPart(r io.Reader) (Part, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPart+1))
	if err != nil {
		return Part{}, err
	}
	if len(data) > maxPart {
		return Part{}, fmt.Errorf("more than %d bytes are no part: name a file that a rank has written", maxPart)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var p Part
	if err := d.Decode(&p); err != nil {
		return Part{}, fmt.Errorf("no part: %.200s: name a file that a rank has written", err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return Part{}, errors.New("something follows the part: name a file that a rank has written")
	}
	return p, p.check()
}

// check returns what keeps a part from being merged.
func (p Part) check() error {
	if p.Schema != partSchema {
		return fmt.Errorf("schema %d: run all ranks with the same program, this one reads %d", p.Schema, partSchema)
	}
	if p.Mode != Decomposed && p.Mode != Verified {
		return fmt.Errorf("mode %.40q: use %q or %q", p.Mode, Decomposed, Verified)
	}
	if err := p.Settings.check(p.Mode == Verified); err != nil {
		return err
	}
	if digits, err := hex.DecodeString(p.Inputs); err != nil || len(digits) != 32 || p.Inputs != hex.EncodeToString(digits) {
		return fmt.Errorf("inputs %.80q are no SHA-256: run the rank again", p.Inputs)
	}
	if !slices.Contains(Strategies, p.Strategy) || p.World < 1 || p.World > MaxWorld || p.Rank < 0 || p.Rank >= p.World {
		return fmt.Errorf("rank %d of %d by %.40q: run the rank again", p.Rank, p.World, p.Strategy)
	}
	if p.Items < 0 || p.Items > maxItems || len(p.Entries) > p.Items {
		return fmt.Errorf("%d entries of %d items, of which at most %d are read: run the rank again", len(p.Entries), p.Items, maxItems)
	}
	return p.checkEntries()
}

func (p Part) checkEntries() error {
	next := 0
	for _, e := range p.Entries {
		if e.Index < next || e.Index >= p.Items {
			return fmt.Errorf("entry %d of %d items is out of order or occurs twice: run the rank again", e.Index, p.Items)
		}
		next = e.Index + 1
		if err := e.Parameter.check(); err != nil {
			return fmt.Errorf("entry %d, %.80q: %w: run the rank again", e.Index, e.Parameter.Name, err)
		}
	}
	return nil
}

// check returns what no parameter of a report can be.
func (p Parameter) check() error {
	if p.Name == "" || p.Format != "" && !p.Format.Valid() {
		return fmt.Errorf("no name, or the format %.40q", p.Format)
	}
	n, k, ok := elements(p.Shape)
	if !ok || p.High < 0 || p.High > k {
		return fmt.Errorf("%d triplets of the shape %.10v", p.High, p.Shape)
	}
	if err := checkFaults(p.Faults); err != nil {
		return err
	}
	complete := p.Difference != nil && p.U != nil && p.V != nil
	switch {
	case len(p.Faults) > 0 && p.Status != Failed,
		len(p.Faults) == 0 && (!complete || p.Status != p.Difference.Match):
		return fmt.Errorf("the status %.40q contradicts %d faults and the numbers", p.Status, len(p.Faults))
	}
	if p.Difference != nil {
		if err := p.Difference.check(n); err != nil {
			return err
		}
	}
	// Bounds are above 1e-19 because factors of bounds are; ratios stay finite.
	if p.Difference != nil && p.Bound < 1e-19 || !measure(p.Bound) || !p.U.valid(k) || !p.V.valid(k) {
		return errors.New("a bound or an orthogonality that cannot be")
	}
	return nil
}

// elements returns the product of the two sizes and the smaller one; without
// sizes there are none.
func elements(shape []int) (n, k int, ok bool) {
	if len(shape) == 0 {
		return 0, 0, true
	}
	if len(shape) != 2 || shape[0] < 0 || shape[1] < 0 || max(shape[0], shape[1]) > maxElements || shape[0] > maxElements/max(1, shape[1]) {
		return 0, 0, false
	}
	return shape[0] * shape[1], min(shape[0], shape[1]), true
}

func checkFaults(faults []Fault) error {
	for _, f := range faults {
		if !slices.Contains(kinds, f.Kind) || len(f.Detail) > maxDetail || len(faults) > maxFaults {
			return fmt.Errorf("%d faults, one of the kind %.40q with %d bytes", len(faults), f.Kind, len(f.Detail))
		}
	}
	return nil
}

func (d Difference) check(elements int) error {
	counts := 0
	for _, n := range d.ULPs {
		if n < 0 || n > elements {
			return fmt.Errorf("%d distances of %d elements", n, elements)
		}
		counts += n
	}
	numbers := measure(d.Max) && measure(d.Mean) && measure(d.RMS) && measure(d.Norm) && measure(d.Relative)
	const slack = 1 + 1e-6 // of rounding
	switch {
	case d.Elements != elements || elements == 0 || len(d.ULPs) > 65 || counts != elements || d.Outside < 0 || d.Outside > elements:
		return fmt.Errorf("%d elements, %d outside and %d distances of %d", d.Elements, d.Outside, counts, elements)
	case !numbers || d.Mean > slack*d.Max || d.RMS > slack*d.Max:
		return errors.New("differences that cannot be")
	case d.Match != matching(d.Max == 0, d.Outside):
		return fmt.Errorf("the match %.40q contradicts the numbers", d.Match)
	}
	return nil
}

func measure(v float64) bool { return v >= 0 && v <= maxMeasure }

func (o *Orthogonality) valid(k int) bool {
	return o == nil || !notFinite(o.Deviation) && o.Deviation >= 0 && o.Degrees >= 0 && o.Degrees <= 90 && o.Zeros >= 0 && o.Zeros <= k
}
