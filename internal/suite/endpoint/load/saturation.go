package load

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Delay is how late one request was sent.
type Delay struct {
	Due   time.Duration
	Delay time.Duration // sent minus due
}

// Saturated reports whether the queue before the slots kept growing: the mean
// delay of the last third of the requests, by when they were due, exceeds that
// of the first third by more than one mean service time. It is about open
// loops with a cap, where such a run measures its own length; without a cap and
// in closed loops it shows a client that cannot keep up. Fewer than three
// delays, or a service time that is not positive, say nothing: false.
func Saturated(delays []Delay, meanService time.Duration) bool {
	third := len(delays) / 3
	if third == 0 || meanService <= 0 {
		return false
	}
	sorted := slices.SortedFunc(slices.Values(delays), func(a, b Delay) int { return cmp.Compare(a.Due, b.Due) })
	return meanDelay(sorted[len(sorted)-third:])-meanDelay(sorted[:third]) > float64(meanService)
}

func meanDelay(delays []Delay) float64 {
	sum := 0.0
	for _, d := range delays {
		sum += float64(d.Delay)
	}
	return sum / float64(len(delays))
}

// Sample is what one measured request says of the server's backlog.
type Sample struct {
	Due         time.Duration
	Outstanding int           // Shot.Outstanding
	Latency     time.Duration // from Due to the first token, or to the end
}

// What OverSaturated needs: guidellm's shortest time for the same question is
// 30 s too, and its confidence 95 %.
const (
	minTrend   = 30 * time.Second
	batches    = 20
	minSamples = 5 * batches
	student95  = 2.1009 // two-sided 95 % quantile of Student's t for batches-2 degrees of freedom
)

// OverSaturated reports whether the server fell behind an open loop: both the
// outstanding requests and the latency grew with time, each with a 95 %
// t-interval of its slope that lies above 0. The idea is guidellm's. The slopes
// here are those of the means of 20 batches of equal size, because neighbouring
// requests meet the same queue and are no independent observations, and the
// growth along the line must come to at least the mean itself, because a queue
// in balance wanders too. Less than 30 s or 100 samples say nothing: false.
func OverSaturated(samples []Sample) bool {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b Sample) int { return cmp.Compare(a.Due, b.Due) })
	if len(sorted) < minSamples || sorted[len(sorted)-1].Due-sorted[0].Due < minTrend {
		return false
	}
	var due, outstanding, latency [batches]float64
	for b := range batches {
		batch := sorted[b*len(sorted)/batches : (b+1)*len(sorted)/batches]
		for _, s := range batch {
			n := float64(len(batch))
			due[b] += (s.Due - sorted[0].Due).Seconds() / n
			outstanding[b] += float64(s.Outstanding) / n
			latency[b] += s.Latency.Seconds() / n
		}
	}
	return grows(due, outstanding) && grows(due, latency)
}

// grows reports whether y has a line of significant slope that rises by at
// least the mean of y.
func grows(x, y [batches]float64) bool {
	var mx, my, sxx, sxy, rest float64
	for i := range x {
		mx += x[i] / batches
		my += y[i] / batches
	}
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope := sxy / sxx
	for i := range x {
		r := y[i] - my - slope*(x[i]-mx)
		rest += r * r
	}
	low := slope - student95*math.Sqrt(rest/(batches-2)/sxx)
	return low > 0 && slope*(x[batches-1]-x[0]) >= my
}
