package tensor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
)

func roundTrip(x [tensor.Q8Len]float32) (tensor.Q8Block, [tensor.Q8Len]float32) {
	var block tensor.Q8Block
	block.Quantize(&x)
	var back [tensor.Q8Len]float32
	block.Dequantize(&back)
	return block, back
}

func TestQuantizeIsAsDefined(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var x [tensor.Q8Len]float32
		magnitude := math.Exp2(float64(random.IntN(28) - 14))
		var largest float64
		for i := range x {
			x[i] = float32(magnitude * random.NormFloat64())
			largest = max(largest, math.Abs(float64(x[i])))
		}
		block, back := roundTrip(x)
		scale := largest / 127
		if got, want := float64(block.Scale.Float32()), scale; math.Abs(got-want) > want/2048+0x1p-25 {
			t.Fatalf("scale of %v is %v, want %v", x, got, want)
		}
		for i := range x {
			if off := math.Abs(float64(x[i])/scale - float64(block.Q[i])); off > 0.5+1e-4 {
				t.Fatalf("%v is stored as %d of %v", x[i], block.Q[i], scale)
			}
			if want := block.Scale.Float32() * float32(block.Q[i]); back[i] != want {
				t.Fatalf("%d of %v reads back as %v, want %v", block.Q[i], block.Scale.Float32(), back[i], want)
			}
		}
	}
}

func TestHalvesRoundAwayFromZero(t *testing.T) {
	block, back := roundTrip([tensor.Q8Len]float32{127, 0.5, -0.5, 1.5, -1.5, 0.49, -127})
	want := [tensor.Q8Len]int8{127, 1, -1, 2, -2, 0, -127}
	if block.Q != want || block.Scale.Float32() != 1 {
		t.Errorf("got %v of %v, want %v of 1", block.Q, block.Scale.Float32(), want)
	}
	if back[3] != 2 {
		t.Errorf("1.5 reads back as %v, want 2", back[3])
	}
}

func TestZerosStayZero(t *testing.T) {
	block, back := roundTrip([tensor.Q8Len]float32{})
	if block != (tensor.Q8Block{}) || back != [tensor.Q8Len]float32{} {
		t.Errorf("zeros became %v and read back as %v", block, back)
	}
}

// TestNothingBecomesAnInnocentNumber feeds what a half or an integer cannot
// hold, wherever in the block it stands.
func TestNothingBecomesAnInnocentNumber(t *testing.T) {
	for _, bad := range []float32{
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1e8,
	} {
		for at := range tensor.Q8Len {
			var x [tensor.Q8Len]float32
			x[0], x[31] = 1, -1
			x[at] = bad
			block, back := roundTrip(x)
			for i, v := range back {
				if !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
					t.Fatalf("%v at %d: value %d reads back as %v (block %v)", bad, at, i, v, block)
				}
			}
		}
	}
}

func TestSubnormalScaleStaysInRange(t *testing.T) {
	for units := range uint32(400) {
		var x [tensor.Q8Len]float32
		x[7] = -math.Float32frombits(units)
		block, back := roundTrip(x)
		if block.Q[7] < -127 || block.Q[7] > 0 || back[7] != 0 {
			t.Errorf("%v is stored as %d of %v", x[7], block.Q[7], block.Scale)
		}
	}
}
