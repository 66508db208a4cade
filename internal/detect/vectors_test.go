package detect_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data := testtier.Data(t, "vectors were NOT read", "series/rec_s_vectors.json")
	text, err := os.ReadFile(filepath.Join(data, "series", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestVectors: the reference implementation is another program in another
// language.
func TestVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Base   []float64 `json:"base"`
		Head   []float64 `json:"head"`
		Higher bool      `json:"higher_is_better"`
		Own    float64   `json:"own_scale"`
		Cross  float64   `json:"cross_scale"`
		Expect struct {
			EffectLog float64 `json:"effect_log"`
			EffectPct float64 `json:"effect_pct"`
			Prior     float64 `json:"prior_scale"`
			S, SE     float64
			T, DF     float64
			P, A12    float64
		}
	}
	if err := json.Unmarshal(recorded(t, "rec_s_vectors.json"), &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 24 {
		t.Fatalf("%d vectors, want 24", len(vectors))
	}
	for i, v := range vectors {
		o := detect.Options{HigherIsBetter: v.Higher, Own: v.Own, Cross: v.Cross}
		got, ok := detect.Compare(v.Base, v.Head, o)
		if !ok {
			t.Fatalf("vector %d was not tested", i)
		}
		close := func(name string, got, want float64) {
			t.Helper()
			limit := 1e-14 * max(1, math.Abs(want))
			if name == "t" {
				limit = 1e-14 * max(1, 1/v.Expect.SE) // Effect's rounding, divided
			}
			if !(math.Abs(got-want) <= limit) {
				t.Errorf("vector %d: %s %.17g, want %.17g (%.2g apart)", i, name, got, want, got-want)
			}
		}
		close("effect", got.Effect, v.Expect.EffectLog)
		close("prior", got.Prior, v.Expect.Prior)
		close("s", got.S, v.Expect.S)
		close("se", got.SE, v.Expect.SE)
		close("t", got.T, v.Expect.T)
		close("df", got.DF, v.Expect.DF)
		close("p", got.P, v.Expect.P)
		close("A12", got.A12, v.Expect.A12)
		e := detect.Judge(v.Base, v.Head, o)
		close("estimate", 100*e.Estimate, v.Expect.EffectPct)
	}
}
