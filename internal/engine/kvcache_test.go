package engine

import (
	"math"
	"slices"
	"testing"
)

// TestKVCacheKeepsRows checks each dtype against the precision it promises:
// all bits, half an ulp of 11 bits, half a step of a block's 127.
func TestKVCacheKeepsRows(t *testing.T) {
	const n, width = 5, 64
	data := normal(n * width)
	limit := map[string]func(x float32, block []float32) float64{
		"f32": func(float32, []float32) float64 { return 0 },
		"f16": func(x float32, _ []float32) float64 { return max(math.Abs(float64(x)), 0x1p-14) / 2048 },
		"q8_0": func(_ float32, block []float32) float64 {
			largest := max(slices.Max(block), -slices.Min(block))
			return float64(largest) / 127 * (0.5 + 127./2048) // the scale is a half
		},
	}
	for _, dtype := range kvCacheDTypes() {
		store := newKVRows(dtype, n, width, make([]float32, n*width))
		for i := range n {
			store.put(i, data[i*width:][:width])
		}
		got := store.rows(n)
		if len(got) != len(data) {
			t.Fatalf("%s: %d values, want %d", dtype, len(got), len(data))
		}
		var off float64
		for i, x := range data {
			d := math.Abs(float64(got[i] - x))
			if off = max(off, d); d > limit[dtype](x, data[i/32*32:][:32]) {
				t.Errorf("%s: %v reads back as %v", dtype, x, got[i])
			}
		}
		if (off == 0) != (dtype == "f32") {
			t.Errorf("%s: largest error is %v", dtype, off)
		}
	}
}

func TestKVCacheStartsOver(t *testing.T) {
	for _, dtype := range kvCacheDTypes() {
		store := newKVRows(dtype, 3, 32, make([]float32, 3*32))
		row, zeros := normal(32), make([]float32, 32)
		store.put(0, row)
		store.put(1, row)
		store.put(0, zeros)
		if got := store.rows(1); !slices.Equal(got, zeros) {
			t.Errorf("%s: row 0 is %v after zeros were put", dtype, got)
		}
	}
}
