package evaluator

import (
	"math"

	"github.com/accelgate/accelgate/internal/tensor"
)

// strictJob compares floating point numbers in float64.
type strictJob struct {
	tally
	format
	tolerance Tolerance
	upstream  Tolerance // what [Fib] would apply
	moments   []moments // of each segment; nil counts none
	y, x      [blockLen]float64
}

func (j *strictJob) result() *tally { return &j.tally }

func (j *strictJob) compare(y, x tensor.Tensor, from, to int) {
	for ; from < to; from += blockLen {
		n := y.Floats64(j.y[:min(blockLen, to-from)], from)
		x.Floats64(j.x[:n], from)
		j.block(j.y[:n], j.x[:n], from)
		if j.moments != nil {
			j.moments[from/segmentLen].add(j.y[:n], j.x[:n])
		}
	}
}

func (j *strictJob) block(y, x []float64, from int) {
	rtol, atol := j.tolerance.Rtol, j.tolerance.Atol
	maxAbs, maxRel, worst, f := j.maxAbs, j.maxRel, j.worst, j.format
	lenient := j.upstream.Atol * below32
	x = x[:len(y)]
	for i, want := range y {
		d, size := math.Abs(x[i]-want), math.Abs(want)
		if !(d <= math.MaxFloat64) { // an infinity or NaN, or further apart than the largest number
			j.notFinite(want, x[i], from+i)
			worst = j.worst
			continue
		}
		j.errors.add(f.ulps(d, want))
		allowed := atol + float64(rtol*size) // no fused operation, whose result differs
		if d > allowed {
			j.bad++
		} else if d > lenient && j.upstream.fails(float32(want), float32(x[i])) {
			j.bad++
			j.upstreamOnly++
		}
		if d > maxAbs {
			maxAbs = d
		}
		if size += epsilon; d > float64(maxRel*size)*below {
			maxRel = max(maxRel, d/size)
		}
		if d > float64(worst*allowed)*below {
			j.worse(d/allowed, from+i)
			worst = j.worst
		}
	}
	j.maxAbs, j.maxRel = max(j.maxAbs, maxAbs), max(j.maxRel, maxRel)
}

// below makes sure that a quotient which exceeds a bound is not overlooked when
// it is not the quotient that is compared, which takes time, but products,
// which round differently.
const below = 1 - 0x1p-50

// below32 makes sure that no element is overlooked that fails after rounding to
// float32.
const below32 = 1 - 0x1p-20

// fails reports whether an element fails upstream's rule.
func (t Tolerance) fails(y, x float32) bool {
	d := abs32(x - y)
	return d > float32(t.Atol) && d/(abs32(y)+epsilon) > float32(t.Rtol)
}

// notFinite notes a pair whose difference is infinite or NaN.
func (j *strictJob) notFinite(y, x float64, at int) {
	finite := y-y == 0 && x-x == 0
	if finite {
		j.errors.add(math.Inf(1))
	} else if j.nonFinite.count(y, x) {
		return
	}
	j.bad++
	j.maxAbs, j.maxRel = math.Inf(1), math.Inf(1)
	j.worse(math.Inf(1), at)
}

// fibJob compares as upstream does, in float32 with tolerances rounded to it.
type fibJob struct {
	tally
	format
	tolerance Tolerance
	y, x      [blockLen]float32
}

func (j *fibJob) result() *tally { return &j.tally }

func (j *fibJob) compare(y, x tensor.Tensor, from, to int) {
	for ; from < to; from += blockLen {
		n := y.Floats(j.y[:min(blockLen, to-from)], from)
		x.Floats(j.x[:n], from)
		j.block(j.y[:n], j.x[:n], from)
	}
}

func (j *fibJob) block(y, x []float32, from int) {
	rtol, atol := float32(j.tolerance.Rtol), float32(j.tolerance.Atol)
	var maxAbs, maxRel float32
	worst, f := float32(j.worst), j.format
	x = x[:len(y)]
	for i, want := range y {
		d := abs32(x[i] - want)
		rel := d / (abs32(want) + epsilon)
		if !(d <= math.MaxFloat32) {
			j.notFinite(want, x[i], d, rel)
		} else {
			j.errors.add(f.ulps(float64(d), float64(want)))
		}
		if d > atol && rel > rtol {
			j.bad++
		}
		if d > maxAbs {
			maxAbs = d
		}
		if rel > maxRel {
			maxRel = rel
		}
		if excess := min(d/atol, rel/rtol); excess > worst {
			worst = excess
			j.worse(float64(excess), from+i)
		}
	}
	j.maxAbs, j.maxRel = max(j.maxAbs, float64(maxAbs)), max(j.maxRel, float64(maxRel))
}

func abs32(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

func (j *fibJob) notFinite(y, x, abs, rel float32) {
	if y-y != 0 || x-x != 0 {
		j.nonFinite.count(float64(y), float64(x))
	} else {
		j.errors.add(math.Inf(1))
	}
	j.nanAbs = j.nanAbs || abs != abs
	j.nanRel = j.nanRel || rel != rel
}

// integerJob compares integers and truth values exactly.
type integerJob struct {
	tally
	tolerance Tolerance
	upstream  Tolerance // what [Fib] would apply
	y, x      [blockLen]int64
}

func (j *integerJob) result() *tally { return &j.tally }

func (j *integerJob) compare(y, x tensor.Tensor, from, to int) {
	for ; from < to; from += blockLen {
		n := y.Ints(j.y[:min(blockLen, to-from)], from)
		x.Ints(j.x[:n], from)
		j.block(j.y[:n], j.x[:n], from)
	}
}

func (j *integerJob) block(y, x []int64, from int) {
	for i, want := range y {
		if want == x[i] {
			j.errors.add(0)
			continue
		}
		d, size := distance(x[i], want), math.Abs(float64(want))
		allowed := j.tolerance.Atol + float64(j.tolerance.Rtol*size)
		if d > allowed {
			j.bad++
		} else if j.upstream.fails(float32(want), float32(x[i])) {
			j.bad++
			j.upstreamOnly++
		}
		// Where nothing is allowed all excesses would be infinite.
		j.worse(d/max(allowed, 1), from+i)
		j.maxAbs, j.maxRel = max(j.maxAbs, d), max(j.maxRel, d/(size+epsilon))
		j.errors.add(d)
	}
}

// distance returns |a-b|, which the difference of two int64 may not hold.
func distance(a, b int64) float64 { return float64(uint64(max(a, b)) - uint64(min(a, b))) }
