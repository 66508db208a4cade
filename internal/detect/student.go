package detect

import (
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"
)

// survival is 1-F(t) of Student's distribution.
func survival(t, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
}

// quantiles remembers what quantile has computed: it costs more than all else of
// a verdict, and a report asks for the same few again and again.
var (
	quantiles     sync.Map // of [2]float64{p, df}
	quantileCount atomic.Int64
)

const maxQuantiles = 4096

// quantile is the p-quantile of Student's distribution.
func quantile(p, df float64) float64 {
	key := [2]float64{p, df}
	if q, ok := quantiles.Load(key); ok {
		return q.(float64)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
	if quantileCount.Add(1) <= maxQuantiles {
		quantiles.Store(key, q)
	}
	return q
}
