package telemetry

import "math"

// Summary is what the snapshots of one load amount to; a field is NaN where the
// server does not report it.
type Summary struct {
	QueueMean, QueueMax float64 // requests that wait in the server
	RunningMax          float64
	KVUseMax            float64 // 0 to 1
	Preemptions         float64 // during the load
	HitRate             float64 // of prompt tokens in the prefix cache, during the load
}

// Summarize sums up snapshots in the order of their time.
func Summarize(list []Snapshot) Summary {
	nan := math.NaN()
	s := Summary{nan, nan, nan, nan, nan, nan}
	if len(list) == 0 {
		return s
	}
	sum, n := 0.0, 0
	for _, one := range list {
		if !math.IsNaN(one.Waiting) {
			sum, n = sum+one.Waiting, n+1
		}
		s.QueueMax = larger(s.QueueMax, one.Waiting)
		s.RunningMax = larger(s.RunningMax, one.Running)
		s.KVUseMax = larger(s.KVUseMax, one.KVUse)
	}
	if n > 0 {
		s.QueueMean = sum / float64(n)
	}
	first, last := list[0], list[len(list)-1]
	s.Preemptions = grown(first.Preemptions, last.Preemptions)
	if looked := grown(first.Queries, last.Queries); looked > 0 {
		if rate := grown(first.Hits, last.Hits) / looked; rate <= 1 {
			s.HitRate = rate
		}
	}
	return s
}

func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// grown is NaN for a counter that went back: the server was started again.
func grown(first, last float64) float64 {
	if last < first {
		return math.NaN()
	}
	return last - first
}
