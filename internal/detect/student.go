package detect

import (
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext" // and not stat/distuv, which links all of LAPACK
)

// StudentTail is 1-F(t) of Student's distribution: half of the regularized incomplete beta
// function for t above 0, see https://dlmf.nist.gov/8.17.
func StudentTail(t, df float64) float64 {
	tail := 0.5 * mathext.RegIncBeta(df/2, 0.5, df/(t*t+df))
	switch {
	case t == 0:
		return 0.5
	case t > 0:
		return tail
	}
	return 1 - tail
}

// quantiles remembers what StudentQuantile has computed: it costs more than all else of
// a verdict, and a report asks for the same few again and again.
var (
	quantiles     sync.Map // of [2]float64{p, df}
	quantileCount atomic.Int64
)

const maxQuantiles = 4096

// StudentQuantile is the p-quantile of Student's distribution.
func StudentQuantile(p, df float64) float64 {
	key := [2]float64{p, df}
	if q, ok := quantiles.Load(key); ok {
		return q.(float64)
	}
	q := invertTail(p, df)
	if quantileCount.Add(1) <= maxQuantiles {
		quantiles.Store(key, q)
	}
	return q
}

// invertTail inverts the tail that StudentTail computes.
func invertTail(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(df*(1-x)/x), p-0.5)
}
