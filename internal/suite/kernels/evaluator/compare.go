package evaluator

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accelgate/accelgate/internal/tensor"
)

var infinite, notANumber = Number(math.Inf(1)), Number(math.NaN())

// epsilon is what upstream adds to |y| in relative errors.
const epsilon = 1e-8

const fibTolerance = 1e-2 // upstream's rtol and atol

// compare judges x by y, which have the same shape and format.
func (o *OutputResult) compare(y, x tensor.Tensor, p Params, ratio float64) {
	f, t := formats[y.DType], p.tolerance(o.Name)
	if p.Mode == Strict && f.integer {
		t.Rtol, t.Atol = p.Outputs[o.Name].Rtol, p.Outputs[o.Name].Atol
	}
	t.RequiredMatchedRatio = firstSet(t.RequiredMatchedRatio, ratio)
	o.Elements = y.Elements()
	var all *tally
	switch {
	case p.Mode == Fib:
		t.Rtol, t.Atol = firstSet(t.Rtol, fibTolerance), firstSet(t.Atol, fibTolerance)
		all = tallyOf(y, x, func() job { return &fibJob{format: f, tolerance: t} })
	case f.integer:
		upstream := p.upstream(o.Name)
		all = tallyOf(y, x, func() job { return &integerJob{tolerance: t, upstream: upstream} })
	default:
		all, t = o.strictly(y, x, f, t, p)
	}
	o.Tolerance = t
	o.report(all, y.Shape, p)
}

// strictly compares floats, and holds their errors as a whole against what
// roundings can cost where no tolerance was set.
func (o *OutputResult) strictly(y, x tensor.Tensor, f format, t Tolerance, p Params) (*tally, Tolerance) {
	var parts []moments
	if t.Atol == 0 && t.Rtol == 0 && t.RequiredMatchedRatio == 1 && f.rounds {
		parts = make([]moments, (y.Elements()+segmentLen-1)/segmentLen)
	}
	var mean float64
	if t.Atol == 0 {
		mean = magnitude(y)
	}
	t = f.defaults(t, p.Reduction, mean)
	upstream := p.upstream(o.Name)
	all := tallyOf(y, x, func() job { return &strictJob{format: f, tolerance: t, upstream: upstream, moments: parts} })
	o.RMSError, o.RMSLimit = f.together(parts, p.Reduction)
	return all, t
}

// report fills in what was counted, and the status that follows.
func (o *OutputResult) report(all *tally, shape []int, p Params) {
	o.MaxAbsoluteError, o.MaxRelativeError = all.largest()
	o.MatchedRatio = 1
	if o.Elements > 0 {
		o.MatchedRatio = 1 - float64(all.bad)/float64(o.Elements)
	}
	o.NonFinite, o.Histogram = all.nonFinite, all.errors.histogram()
	if all.worst > 0 {
		o.WorstFlat, o.WorstIndex = all.at, unravel(all.at, shape)
	}
	o.Status = Passed
	switch n := o.NonFinite; {
	case p.Mode == Fib && n.CandidateInf+n.CandidateNaN > 0:
		o.Status = IncorrectNumerical
		o.Message = fmt.Sprintf("%d NaN and %d infinities, which this mode never accepts: use mode strict if the reference has them, too",
			n.CandidateNaN, n.CandidateInf)
	case o.MatchedRatio < o.Tolerance.RequiredMatchedRatio:
		o.Status = IncorrectNumerical
		o.Message = fmt.Sprintf("%d of %d elements are off by more than rtol %.3g and atol %.3g, worst at %v: look there first",
			all.bad, o.Elements, o.Tolerance.Rtol, o.Tolerance.Atol, o.WorstIndex)
		if all.upstreamOnly > 0 {
			u := p.upstream(o.Name)
			o.Message = fmt.Sprintf(
				"%d of %d elements are wrong, %d of them by flashinfer-bench's rule alone (both rtol %.3g and atol %.3g exceeded), worst at %v: look there first",
				all.bad, o.Elements, all.upstreamOnly, u.Rtol, u.Atol, o.WorstIndex)
		}
	case o.RMSError > o.RMSLimit:
		o.Status = IncorrectNumerical
		o.Message = fmt.Sprintf(
			"no element is far off, but the root of the mean squared error is %.3g of the output's, and roundings explain %.3g: "+
				"look for what is approximated or left out", o.RMSError, o.RMSLimit)
	}
}

func unravel(at int, shape []int) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = at % shape[axis]
		at /= shape[axis]
	}
	return index
}

// tally is what is counted over elements. Joining two of them gives the same in
// any order, so that the division of the work does not show.
type tally struct {
	bad            int
	upstreamOnly   int // of these, those that fail upstream's rule alone
	maxAbs, maxRel float64
	nanAbs, nanRel bool    // an error is NaN, which Fib reports in place of the largest
	worst          float64 // the largest error in terms of the tolerance
	at             int     // where it is first
	nonFinite      NonFinite
	errors         exponents
}

func (t *tally) join(u *tally) {
	t.bad += u.bad
	t.upstreamOnly += u.upstreamOnly
	t.maxAbs, t.maxRel = max(t.maxAbs, u.maxAbs), max(t.maxRel, u.maxRel)
	t.nanAbs, t.nanRel = t.nanAbs || u.nanAbs, t.nanRel || u.nanRel
	t.worse(u.worst, u.at)
	n, m := &t.nonFinite, &u.nonFinite
	n.ReferenceNaN += m.ReferenceNaN
	n.ReferenceInf += m.ReferenceInf
	n.CandidateNaN += m.CandidateNaN
	n.CandidateInf += m.CandidateInf
	n.Mismatched += m.Mismatched
	for i, count := range u.errors {
		t.errors[i] += count
	}
}

// worse notes an error that is at least as large as all before.
func (t *tally) worse(excess float64, at int) {
	if excess > t.worst || excess == t.worst && at < t.at {
		t.worst, t.at = excess, at
	}
}

func (t *tally) largest() (abs, rel Number) {
	abs, rel = Number(t.maxAbs), Number(t.maxRel)
	if t.nanAbs {
		abs = notANumber
	}
	if t.nanRel {
		rel = notANumber
	}
	return abs, rel
}

// count notes the kinds of a pair that is not finite on both sides.
func (n *NonFinite) count(y, x float64) (match bool) {
	yNaN, xNaN := y != y, x != x
	if yNaN {
		n.ReferenceNaN++
	} else if math.IsInf(y, 0) {
		n.ReferenceInf++
	}
	if xNaN {
		n.CandidateNaN++
	} else if math.IsInf(x, 0) {
		n.CandidateInf++
	}
	if match = x == y || xNaN && yNaN; !match {
		n.Mismatched++
	}
	return match
}

// job compares elements from one index to another. Each belongs to one
// goroutine.
type job interface {
	compare(y, x tensor.Tensor, from, to int)
	result() *tally
}

// tallyOf runs jobs over all elements.
func tallyOf(y, x tensor.Tensor, start func() job) *tally {
	all := new(tally)
	var lock sync.Mutex
	parallel(y.Elements(), func(next func() (segment, from, to int)) {
		j := start()
		for _, from, to := next(); from < to; _, from, to = next() {
			j.compare(y, x, from, to)
		}
		lock.Lock()
		defer lock.Unlock()
		all.join(j.result())
	})
	return all
}

// magnitude returns the mean of |y| over the finite elements, 0 if there are
// none. The sums are of segments whose borders are fixed.
func magnitude(y tensor.Tensor) float64 {
	n := y.Elements()
	type part struct {
		sum   float64
		count int
	}
	parts := make([]part, (n+segmentLen-1)/segmentLen)
	parallel(n, func(next func() (segment, from, to int)) {
		var block [blockLen]float64
		for s, from, to := next(); from < to; s, from, to = next() {
			for ; from < to; from += blockLen {
				sum, count := sumFinite(block[:y.Floats64(block[:min(blockLen, to-from)], from)])
				parts[s].sum += sum
				parts[s].count += count
			}
		}
	})
	var mean float64
	var count int
	for _, part := range parts {
		count += part.count
	}
	for _, part := range parts {
		mean += part.sum / float64(max(count, 1))
	}
	return mean / downscale
}

// downscale keeps sums of the largest float64 finite.
const downscale = 0x1p-20

// sumFinite adds up the magnitudes of the finite elements of block, scaled
// down, and counts them. Two sums do not wait for each other.
func sumFinite(block []float64) (sum float64, count int) {
	var even, odd float64
	for i := 1; i < len(block); i += 2 {
		even += math.Abs(block[i-1])
		odd += math.Abs(block[i])
	}
	if len(block)%2 == 1 {
		even += math.Abs(block[len(block)-1])
	}
	if sum := (even + odd) * downscale; sum <= math.MaxFloat64 {
		return sum, len(block)
	}
	for _, v := range block {
		if v-v == 0 {
			sum += float64(math.Abs(v) * downscale)
			count++
		}
	}
	return sum, count
}

const (
	blockLen   = 1 << 10 // elements that are decoded at a time: both sides stay in the first cache
	segmentLen = 1 << 15 // elements that are worth being handed to a goroutine
)

// parallel divides [0, n) into segments, which workers on all cores take from
// next until from is no longer below to, and returns when all are done.
func parallel(n int, worker func(next func() (segment, from, to int))) {
	segments := (n + segmentLen - 1) / segmentLen
	var taken atomic.Int64
	next := func() (int, int, int) {
		s := int(taken.Add(1)) - 1
		return s, s * segmentLen, min((s+1)*segmentLen, n)
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), segments) - 1 {
		group.Go(func() { worker(next) })
	}
	worker(next)
	group.Wait()
}
