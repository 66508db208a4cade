package tensor

import "fmt"

// The random numbers. Element i of a tensor (counted over all axes, from 0) is
// a function of i and of the tensor's seed alone, so that any slice of it can
// be made anywhere, by any worker, with the same bits.
//
// All integers have 64 bits, sums and products are modulo 2^64, and shifts are
// logical: in a signed type, mask the result of z >> k with (1 << (64-k)) - 1.
//
//	z = (i + 1) * 0x9E3779B97F4A7C15 + seed
//	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
//	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
//	z = z ^ (z >> 31)
//	s = (z & 0xFFFF) + ((z >> 16) & 0xFFFF) + ((z >> 32) & 0xFFFF) + (z >> 48)
//	x = float32(s - 131070) * float32(2.642895e-05)
//
// which is splitmix64, and the sum of four uniform numbers: x has mean 0,
// standard deviation 0.99988 and magnitude below 3.47. s-131070 is exact in
// float32, the constant has the bits 0x37DDB3BD, and the one product is rounded
// to float32, ties to even. Then, by format:
//
//	float32        x
//	float64        x, exactly
//	float16        x, rounded to nearest, ties to even
//	bfloat16       likewise
//	float8_e4m3fn  x clamped to [-2, 2], then rounded likewise
//	float8_e5m2    likewise
//	float4_e2m1    likewise; elements 2k and 2k+1 are the low and high half of byte k
//	bool           z & 1
//	int8           (z & 0xFF) - 128
//	uint8          z & 0xFF
//	other ints     (z & 0x7FF) - 1024
//
// The clamping and the ranges are those of flashinfer-bench's random inputs.
const (
	step     = 0x9E3779B97F4A7C15
	mean     = 131070
	scale    = float32(2.642895e-05)
	clampFP8 = 2
)

// Random fills all of dst with the elements of a random tensor that start at
// from, and returns when it is done; it uses all cores. An odd number of
// Float4E2M1 has one element more in its last half byte. It returns an error if dst is no whole number
// of elements, from is negative, too large, or odd for Float4E2M1.
func Random(dst []byte, d DType, seed uint64, from int) error {
	width := d.Bits()
	switch {
	case width == 0:
		return fmt.Errorf("unknown number format %q: use one of %s", d, known())
	case from < 0 || from > maxElements || from*width%8 != 0:
		return fmt.Errorf("random %s cannot start at element %d: start at a whole byte", d, from)
	case len(dst)*8%width != 0:
		return fmt.Errorf("%d bytes are no whole number of %s: make the buffer fit", len(dst), d)
	}
	parallel(len(dst)*8/width, func(begin, end int) {
		part := dst[begin*width/8 : end*width/8]
		if d.IsFloat() {
			randomFloats(part, d, seed, uint64(from+begin))
		} else {
			randomInts(part, d, seed, uint64(from+begin))
		}
	})
	return nil
}

func randomFloats(dst []byte, d DType, seed, index uint64) {
	var block [blockLen]float32
	width := d.Bits()
	for n := len(dst) * 8 / width; n > 0; {
		part := block[:min(n, blockLen)]
		normals(part, seed, index)
		if width <= 8 {
			for i, x := range part {
				part[i] = min(max(x, -clampFP8), clampFP8)
			}
		}
		encode(dst, d, part, 0)
		dst, index, n = dst[len(part)*width/8:], index+uint64(len(part)), n-len(part)
	}
}

func randomInts(dst []byte, d DType, seed, index uint64) {
	mask, offset := uint64(0x7ff), int64(1024)
	switch d {
	case Bool:
		mask, offset = 1, 0
	case Int8:
		mask, offset = 0xff, 128
	case Uint8:
		mask, offset = 0xff, 0
	}
	var block [blockLen]int64
	size := d.Bits() / 8
	for len(dst) > 0 {
		part := block[:min(len(dst)/size, blockLen)]
		z := index*step + seed
		for i := range part {
			z += step
			part[i] = int64(mix(z)&mask) - offset
		}
		encodeInts(dst, d, part)
		dst, index = dst[len(part)*size:], index+uint64(len(part))
	}
}

func normals(dst []float32, seed, index uint64) {
	z := index*step + seed
	for i := range dst {
		z += step
		dst[i] = normal(lanes(mix(z)))
	}
}

func normal(s uint32) float32 { return float32(int32(s)-mean) * scale }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// lanes adds the four, two at a time.
func lanes(z uint64) uint32 {
	z = z&0x0000ffff0000ffff + z>>16&0x0000ffff0000ffff
	return uint32(z) + uint32(z>>32)
}
