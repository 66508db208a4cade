package lowrank_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/tensor"
)

const attention = "model.layers.0.self_attn.q_proj." // the module of the 12 x 30 weight

// edit changes the numbers of a factor.
func edit(m memory, name string, change func(v []float64)) {
	t := m[name]
	v := values(t)
	change(v)
	t.SetFloats64(v, 0)
}

// cut keeps the first n of a factor's rows.
func cut(m memory, name string, rows int) {
	t := m[name]
	columns := len(t.Data) / t.Shape[0]
	t.Shape = append([]int{rows}, t.Shape[1:]...)
	t.Data = t.Data[:rows*columns]
	m[name] = t
}

// cutColumns keeps the first of a factor's columns.
func cutColumns(m memory, name string, columns int) {
	t := m[name]
	v, n, k := values(t), t.Shape[0], t.Shape[1]
	var kept []float64
	for i := range n {
		kept = append(kept, v[i*k:i*k+columns]...)
	}
	m[name] = store(t.DType, kept, n, columns)
}

// planted are the faults that must be found, each by all of its kinds and no
// other. The weight is 12 x 30, of whose triplets 6 are frozen.
var planted = []struct {
	name  string
	plant func(weights, factors memory)
	kinds []lowrank.Kind // sorted
	also  lowrank.Status // of the numbers, empty if they cannot be compared
}{
	{"none", func(_, _ memory) {}, nil, lowrank.Close},
	{"singular values swapped", func(_, f memory) {
		edit(f, attention+"osft_S_high", func(s []float64) { s[1], s[2] = s[2], s[1] })
	}, []lowrank.Kind{lowrank.Order, lowrank.OutOfBound}, lowrank.Different},
	{"triplets swapped", func(_, f memory) { // which reconstruct as well as before
		edit(f, attention+"osft_S_high", func(s []float64) { s[1], s[2] = s[2], s[1] })
		edit(f, attention+"osft_V_high", func(v []float64) { swapRows(v, 30, 1, 2) })
		edit(f, attention+"osft_U_high", func(u []float64) {
			for i := range 12 {
				u[i*6+1], u[i*6+2] = u[i*6+2], u[i*6+1]
			}
		})
	}, []lowrank.Kind{lowrank.Order}, lowrank.Close},
	{"a sign flipped in U", func(_, f memory) {
		edit(f, attention+"osft_U_high", func(u []float64) {
			for i := range 12 {
				u[i*6+3] *= -1
			}
		})
	}, []lowrank.Kind{lowrank.OutOfBound}, lowrank.Different},
	{"one element's sign flipped", func(_, f memory) {
		edit(f, attention+"osft_params.V_low", func(v []float64) { v[7] *= -1 })
	}, []lowrank.Kind{lowrank.Angle, lowrank.NotOrthogonal, lowrank.OutOfBound}, lowrank.Different},
	{"a negative singular value", func(_, f memory) {
		edit(f, attention+"osft_params.S_low", func(s []float64) { s[5] *= -1 })
	}, []lowrank.Kind{lowrank.Negative, lowrank.OutOfBound}, lowrank.Different},
	{"a singular value and its vector negative", func(_, f memory) {
		edit(f, attention+"osft_params.S_low", func(s []float64) { s[5] *= -1 })
		edit(f, attention+"osft_params.V_low", func(v []float64) {
			for i := range 30 {
				v[5*30+i] *= -1
			}
		})
	}, []lowrank.Kind{lowrank.Negative}, lowrank.Close},
	{"NaN in a factor", func(_, f memory) {
		edit(f, attention+"osft_params.V_low", func(v []float64) { v[40] = math.NaN() })
	}, []lowrank.Kind{lowrank.NotFinite}, ""},
	{"infinity in a factor", func(_, f memory) {
		edit(f, attention+"osft_U_high", func(u []float64) { u[40] = math.Inf(-1) })
	}, []lowrank.Kind{lowrank.NotFinite}, ""},
	{"NaN in the weight", func(w, _ memory) {
		edit(w, wide, func(v []float64) { v[359] = math.NaN() })
	}, []lowrank.Kind{lowrank.NotFinite}, ""},
	{"a factor that overflows", func(_, f memory) {
		edit(f, attention+"osft_U_high", func(u []float64) { u[0] = 1e200 })
	}, []lowrank.Kind{lowrank.NotFinite, lowrank.NotFinite}, ""},
	{"a factor missing", func(_, f memory) { delete(f, attention+"osft_params.S_low") }, []lowrank.Kind{lowrank.Missing}, ""},
	{"all factors missing", func(_, f memory) {
		for _, name := range f.Names() {
			if strings.HasPrefix(name, attention) {
				delete(f, name)
			}
		}
	}, []lowrank.Kind{lowrank.Missing, lowrank.Missing, lowrank.Missing, lowrank.Missing, lowrank.Missing, lowrank.Missing}, ""},
	{"U not orthogonal", func(_, f memory) { // two trained columns that lean on each other
		edit(f, attention+"osft_params.U_low", func(u []float64) {
			for i := range 12 {
				u[i*6+4] += 1e-6 * u[i*6+5]
			}
		})
	}, []lowrank.Kind{lowrank.NotOrthogonal, lowrank.OutOfBound}, lowrank.Close},
	{"trained leans on trained", func(_, f memory) { // which is not what angles are about
		edit(f, attention+"osft_params.U_low", func(u []float64) {
			for i := range 12 {
				u[i*6] += .05 * u[i*6+1]
			}
		})
	}, []lowrank.Kind{lowrank.NotOrthogonal, lowrank.OutOfBound}, lowrank.Different},
	{"frozen leans on frozen", func(_, f memory) {
		edit(f, attention+"osft_U_high", func(u []float64) {
			for i := range 12 {
				u[i*6] += .05 * u[i*6+1]
			}
		})
	}, []lowrank.Kind{lowrank.NotOrthogonal, lowrank.OutOfBound}, lowrank.Different},
	{"trained leans on frozen", func(_, f memory) { // by atan(.05) = 2.9 degrees
		frozen := values(f[attention+"osft_U_high"])
		edit(f, attention+"osft_params.U_low", func(u []float64) {
			for i := range 12 {
				u[i*6] += .05 * frozen[i*6]
			}
		})
	}, []lowrank.Kind{lowrank.Angle, lowrank.NotOrthogonal, lowrank.OutOfBound}, lowrank.Different},
	{"a column of zeros", func(_, f memory) { // upstream's check sees NaN there and passes
		edit(f, attention+"osft_U_high", func(u []float64) {
			for i := range 12 {
				u[i*6+2] = 0
			}
		})
	}, []lowrank.Kind{lowrank.NotOrthogonal, lowrank.OutOfBound, lowrank.ZeroVector}, lowrank.Different},
	{"rank truncated", func(_, f memory) { // consistently: the smallest triplet is gone
		cutColumns(f, attention+"osft_params.U_low", 5)
		cut(f, attention+"osft_params.S_low", 5)
		cut(f, attention+"osft_params.V_low", 5)
	}, []lowrank.Kind{lowrank.Rank}, ""},
	{"ranks overlap", func(_, f memory) { // the low part is used as the high one too
		f[attention+"osft_U_high"] = store(tensor.Float64, make([]float64, 12*7), 12, 7)
		f[attention+"osft_S_high"] = store(tensor.Float64, make([]float64, 7), 7)
		f[attention+"osft_V_high"] = store(tensor.Float64, make([]float64, 7*30), 7, 30)
	}, []lowrank.Kind{lowrank.Rank}, ""},
	{"sizes that do not fit", func(_, f memory) { cut(f, attention+"osft_V_high", 5) }, []lowrank.Kind{lowrank.Shape}, ""},
	{"another weight's factors", func(_, f memory) {
		for _, suffix := range []string{"osft_U_high", "osft_S_high", "osft_V_high", "osft_params.U_low", "osft_params.S_low", "osft_params.V_low"} {
			f[attention+suffix] = f[strings.Replace(attention, "self_attn.q", "mlp.up", 1)+suffix]
		}
	}, []lowrank.Kind{lowrank.Rank, lowrank.Shape, lowrank.Shape, lowrank.Shape, lowrank.Shape}, ""},
	{"a scalar", func(_, f memory) { f[attention+"osft_S_high"] = store(tensor.Float64, []float64{1}) }, []lowrank.Kind{lowrank.Shape}, ""},
	{"integers", func(_, f memory) {
		f[attention+"osft_S_high"] = tensor.Tensor{DType: tensor.Int64, Shape: []int{6}, Data: make([]byte, 48)}
	}, []lowrank.Kind{lowrank.Format}, ""},
	{"stored in less than is said", func(_, f memory) {
		name := attention + "osft_params.S_low"
		f[name] = store(tensor.Float32, values(f[name]), 6)
	}, []lowrank.Kind{lowrank.Format}, ""},
	{"a buffer of another rank", func(_, f memory) {
		f[attention+"_rank_high_buf"] = tensor.Tensor{DType: tensor.Int64, Data: []byte{5, 0, 0, 0, 0, 0, 0, 0}}
	}, []lowrank.Kind{lowrank.Rank}, ""},
	{"a buffer of the rank", func(_, f memory) {
		f[attention+"osft_params.rank_high"] = tensor.Tensor{DType: tensor.Int64, Data: []byte{6, 0, 0, 0, 0, 0, 0, 0}}
	}, nil, lowrank.Close},
}

func swapRows(v []float64, columns, a, b int) {
	for i := range columns {
		v[a*columns+i], v[b*columns+i] = v[b*columns+i], v[a*columns+i]
	}
}

func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	weights := model(tensor.Float64)
	factors := factorize(t, weights, lowrank.Defaults())
	for _, c := range planted {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, f := weights.clone(), factors.clone()
			c.plant(w, f)
			r := run(t, lowrank.Job{Original: w, Factors: f, Settings: lowrank.Defaults()})
			var got []lowrank.Kind
			for _, p := range r.Parameters {
				if p.Name == wide {
					checkPlanted(t, p, c.also)
				} else if p.Status != lowrank.Close {
					t.Errorf("%s, which is right: %+v", p.Name, p)
				}
				for _, fault := range p.Faults {
					got = append(got, fault.Kind)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.kinds) {
				t.Errorf("found %q, want %q", got, c.kinds)
			}
			if ok := len(c.kinds) == 0; r.Summary.Passed() != ok || (r.Summary.SuccessRate == 100) != ok || r.Summary.Total != 3 {
				t.Errorf("%+v", r.Summary)
			}
		})
	}
}

func checkPlanted(t *testing.T, p lowrank.Parameter, numbers lowrank.Status) {
	t.Helper()
	switch {
	case (p.Difference == nil) != (numbers == ""):
		t.Errorf("the numbers are %+v, want %q", p.Difference, numbers)
	case numbers != "" && p.Difference.Match != numbers:
		t.Errorf("the numbers are %+v, want %q", p.Difference, numbers)
	}
	for _, f := range p.Faults {
		if !strings.Contains(f.Detail, ": ") {
			t.Errorf("%q does not state what to do", f.Detail)
		}
	}
}

// TestExtraFactors: factors without a target are as wrong as missing ones.
func TestExtraFactors(t *testing.T) {
	t.Parallel()
	weights := model(tensor.Float64)
	factors := factorize(t, weights, lowrank.Defaults())
	s := lowrank.Defaults()
	s.Patterns = []string{"self_attn."}
	r := run(t, lowrank.Job{Original: weights, Factors: factors, Settings: s})
	last := r.Parameters[len(r.Parameters)-1]
	if r.Summary.Total != 3 || r.Summary.Failed != 1 || last.Name != "model.layers.0.mlp.up_proj.osft_S_high" || last.Faults[0].Kind != lowrank.Extra {
		t.Errorf("%+v, %+v", r.Summary, last)
	}
}

// TestSplitElsewhere: the ratio says where the cut is; without one any is right.
func TestSplitElsewhere(t *testing.T) {
	t.Parallel()
	weights := model(tensor.Float64)
	made := lowrank.Defaults()
	made.RankRatio = .25
	factors := factorize(t, weights, made)
	said := lowrank.Defaults()
	if r := run(t, lowrank.Job{Original: weights, Factors: factors, Settings: said}); r.Summary.Failed != 3 || r.Parameters[0].Faults[0].Kind != lowrank.Rank {
		t.Errorf("%+v", r.Parameters[0])
	}
	said.RankRatio = 0
	if r := run(t, lowrank.Job{Original: weights, Factors: factors, Settings: said}); !r.Summary.Passed() || r.Parameters[0].High != 4 {
		t.Errorf("%+v", r.Parameters[0])
	}
}
