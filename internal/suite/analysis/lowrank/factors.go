package lowrank

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// Factors are what a weight of N x M was decomposed into. With h frozen
// triplets and l trained ones, h + l = min(N, M), the shapes are N x h, h,
// h x M, N x l, l and l x M.
type Factors struct {
	UHigh, SHigh, VHigh tensor.Tensor
	ULow, SLow, VLow    tensor.Tensor
}

// suffixes are the names of the factors in a state dict, after the module's,
// in the order of [Factors.all].
var suffixes = []string{
	"osft_U_high", "osft_S_high", "osft_V_high",
	"osft_params.U_low", "osft_params.S_low", "osft_params.V_low",
}

// rankSuffixes are two buffers for the number of frozen triplets: which of them
// there is, if any, depends on upstream's version.
var rankSuffixes = []string{"osft_params.rank_high", "_rank_high_buf"}

func (f *Factors) all() []*tensor.Tensor {
	return []*tensor.Tensor{&f.UHigh, &f.SHigh, &f.VHigh, &f.ULow, &f.SLow, &f.VLow}
}

// High returns how many triplets are frozen.
func (f Factors) High() int { return f.SHigh.Elements() }

// Tensors returns the factors under the names that they have in a state dict,
// for the parameter with the name given. They share their data with f.
func (f Factors) Tensors(parameter string) []safetensors.Named {
	var named []safetensors.Named
	for i, t := range f.all() {
		named = append(named, safetensors.Named{Name: join(module(parameter), suffixes[i]), Tensor: *t})
	}
	return named
}

// module returns the name of the module that a parameter belongs to, which is
// empty for the model itself.
func module(parameter string) string {
	return parameter[:max(0, strings.LastIndexByte(parameter, '.'))]
}

func join(module, suffix string) string {
	if module == "" {
		return suffix
	}
	return module + "." + suffix
}

// cutFactor returns the module of a factor's name, or of one of the buffers.
func cutFactor(name string) (module string, ok bool) {
	for _, list := range [][]string{suffixes, rankSuffixes} {
		for _, suffix := range list {
			if name == suffix {
				return "", true
			}
			if module, ok := strings.CutSuffix(name, "."+suffix); ok {
				return module, true
			}
		}
	}
	return "", false
}

func nameSet(source Source) map[string]bool {
	set := map[string]bool{}
	for _, name := range source.Names() {
		set[name] = true
	}
	return set
}

func readFactors(source Source, known map[string]bool, parameter string, n, m int) (Factors, []Fault) {
	var f Factors
	var faults []Fault
	for i, t := range f.all() {
		name := join(module(parameter), suffixes[i])
		if !known[name] {
			faults = append(faults, fault(Missing, "no factor %.200q: save all six", name))
			continue
		}
		var err error
		if *t, err = source.Tensor(name); err != nil {
			faults = append(faults, fault(Unreadable, "factor %.200q: %v", name, err))
		}
	}
	if faults != nil {
		return Factors{}, faults
	}
	if faults = f.fit(n, m); faults != nil {
		return Factors{}, faults
	}
	return f, f.checkBuffers(source, known, module(parameter))
}

// fit compares the shapes with each other and with those of the weight.
func (f *Factors) fit(n, m int) []Fault {
	var faults []Fault
	axes := []int{2, 1, 2, 2, 1, 2}
	for i, t := range f.all() {
		switch {
		case len(t.Shape) != axes[i] || t.Validate() != nil:
			faults = append(faults, fault(Shape, "%s has the shape %v: give it %d axes", suffixes[i], t.Shape, axes[i]))
		case epsilons[t.DType] == 0:
			faults = append(faults, fault(Format, "%s is of %s: save it as %s", suffixes[i], t.DType, formats))
		}
	}
	if faults != nil {
		return faults
	}
	h, l := f.SHigh.Shape[0], f.SLow.Shape[0]
	for i, want := range [][]int{{n, h}, {h}, {h, m}, {n, l}, {l}, {l, m}} {
		if got := f.all()[i].Shape; fmt.Sprint(got) != fmt.Sprint(want) {
			faults = append(faults, fault(Shape,
				"%s has the shape %v, which for %d frozen and %d trained values of a %d x %d weight is %v: save the factors of this weight",
				suffixes[i], got, h, l, n, m, want))
		}
	}
	return append(faults, checkRanks(h, l, min(n, m))...)
}

// checkRanks returns whether all triplets are there, once.
func checkRanks(h, l, full int) []Fault {
	switch {
	case h+l > full:
		return []Fault{fault(Rank, "%d frozen and %d trained triplets of %d overlap: cut the low part where the high one ends", h, l, full)}
	case h+l < full:
		return []Fault{
			fault(Rank, "%d frozen and %d trained triplets of %d: %d are lost, keep the rest in the low part", h, l, full, full-h-l),
		}
	case h == 0 || l == 0:
		return []Fault{fault(Rank, "%d frozen and %d trained triplets: leave at least one in each part", h, l)}
	}
	return nil
}

// checkBuffers compares the number of frozen triplets with what is saved of it.
func (f *Factors) checkBuffers(source Source, known map[string]bool, module string) []Fault {
	var faults []Fault
	for _, suffix := range rankSuffixes {
		name := join(module, suffix)
		if !known[name] {
			continue
		}
		var rank [1]int64
		t, err := source.Tensor(name)
		if err != nil || t.Elements() != 1 || t.Ints(rank[:], 0) != 1 || rank[0] != int64(f.High()) {
			faults = append(faults, fault(Rank, "%.200q is not %d, the number of frozen values: save both of the same run", name, f.High()))
		}
	}
	return faults
}
