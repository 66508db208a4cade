package matrix

import "testing"

// BenchmarkPredicate compares one evaluation, one look-up of a known result,
// and the same condition in Go.
func BenchmarkPredicate(b *testing.B) {
	axes := []Axis{
		{Key: "model", Values: []Value{{ID: "m", Vars: map[string]string{"family": "qwen35moe"}}}},
		{Key: "backend", Values: []Value{{ID: "mlx"}, {ID: "cuda"}}},
	}
	p, err := Compile(`backend == "mlx" and model.family startsWith "qwen35"`, Facts{}, axes)
	if err != nil {
		b.Fatal(err)
	}
	c, err := bind(p, axes)
	if err != nil {
		b.Fatal(err)
	}
	at := Combination{axes, []int{0, 0}}
	inGo := func(at Combination) (bool, error) {
		family := at.value(0).Vars["family"]
		return at.value(1).ID == "mlx" && len(family) >= 6 && family[:6] == "qwen35", nil
	}
	for _, variant := range []struct {
		name  string
		holds func(Combination) (bool, error)
	}{{"evaluate", c.evaluate}, {"known", c.holds}, {"Go", inGo}} {
		b.Run(variant.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := variant.holds(at); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Compile(p.text, Facts{}, axes); err != nil {
				b.Fatal(err)
			}
		}
	})
}
