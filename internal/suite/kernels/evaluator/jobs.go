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
		m := j.block(j.y[:n], j.x[:n], from)
		if j.moments != nil {
			j.moments[from/segmentLen].add(m)
		}
	}
}

// block returns the moments as well: one loop takes less time than two, whose
// additions wait for each other.
func (j *strictJob) block(y, x []float64, from int) moments {
	rtol, atol := j.tolerance.Rtol, j.tolerance.Atol
	maxAbs, maxRel, worst := j.maxAbs, j.maxRel, j.worst
	fraction, lowest := j.fraction, j.lowest
	lenient := j.upstream.Atol * below32
	errors := &j.errors
	m := moments{count: len(y)}
	x = x[:len(y)]
	for i, want := range y {
		d, size := math.Abs(x[i]-want), math.Abs(want)
		if !(d <= math.MaxFloat64) { // an infinity or NaN, or further apart than the largest number
			j.notFinite(want, x[i], from+i)
			worst = j.worst
			m.count--
			continue
		}
		errors.add(ulps(fraction, lowest, d, want))
		square := float64(want * want)
		m.error2 += float64(d * d)
		m.size2 += square
		m.size4 += float64(square * square)
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
	return m
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

// block divides only where the quotient can matter: products of two float32 are
// exact in float64, so that a quotient which exceeds a bound is not overlooked.
func (j *fibJob) block(y, x []float32, from int) {
	rtol, atol := float32(j.tolerance.Rtol), float32(j.tolerance.Atol)
	maxAbs, maxRel := float32(j.maxAbs), float32(j.maxRel)
	fraction, lowest, errors := j.fraction, j.lowest, &j.errors
	worstAbs, worstRel := j.bounds(rtol, atol)
	x = x[:len(y)]
	for i, want := range y {
		d, size := abs32(x[i]-want), abs32(want)+epsilon
		wide, wideSize := float64(d), float64(size)
		if !(d <= math.MaxFloat32) {
			j.notFinite(want, x[i], d, d/size)
		} else {
			errors.add(ulps(fraction, lowest, wide, float64(want)))
		}
		if d > atol && wide > float64(rtol)*wideSize && d/size > rtol {
			j.bad++
		}
		if d > maxAbs {
			maxAbs = d
		}
		if wide > float64(maxRel)*wideSize {
			if rel := d / size; rel > maxRel {
				maxRel = rel
			}
		}
		if wide > worstAbs && wide > worstRel*wideSize {
			if excess := min(d/atol, d/size/rtol); excess > float32(j.worst) {
				j.worse(float64(excess), from+i)
				worstAbs, worstRel = j.bounds(rtol, atol)
			}
		}
	}
	j.maxAbs, j.maxRel = float64(maxAbs), float64(maxRel)
}

// bounds returns an absolute and a relative error, one of which no error that is
// worse than the worst is below.
func (j *fibJob) bounds(rtol, atol float32) (abs, rel float64) {
	abs, rel = j.worst*float64(atol), j.worst*float64(rtol)*below32
	if rel < 0x1p-100 { // where float32 has fewer digits
		rel = 0
	}
	return abs, rel
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
