package latency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// The methods of intervals, which are all two-sided and of 95 %.
const (
	orderStatistics = "order statistics"
	wilson          = "Wilson"
	batchMeans      = "means of 10 sub-windows, Student's t"
	normal          = "normal"
)

const (
	tail = 0.025    // outside the interval, on each side
	z95  = 1.959964 // of the normal distribution at 1-tail
	t9   = 2.262157 // of Student's t with 9 degrees of freedom

	// batches of a window. Few and long ones depend on each other less.
	batches = 10
	// minForMean is the usual rule of thumb for the normal approximation.
	minForMean = 30
)

// percentile returns the p-quantile, 0 <= p <= 1, of sorted values by linear
// interpolation between the two nearest, as numpy does by default; NaN of
// none.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return absent
	}
	below, fraction := position(len(sorted), p)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + fraction*(sorted[above]-sorted[below])
}

// position splits where the p-quantile of n sorted values lies.
func position(n int, p float64) (index int, fraction float64) {
	whole, fraction := math.Modf(float64(n-1) * p)
	return int(whole), fraction
}

// selectPercentile is percentile of values in any order, which it reorders. It
// takes linear time where sorting the gaps of a long run would be most of all
// work.
func selectPercentile(values []time.Duration, p float64) float64 {
	if len(values) == 0 {
		return absent
	}
	i, fraction := position(len(values), p)
	selectNth(values, i)
	below := float64(values[i])
	if i+1 == len(values) {
		return below
	}
	return below + fraction*(float64(slices.Min(values[i+1:]))-below)
}

// selectNth puts at n what would stand there if values were sorted, and
// nothing greater before it. Pivots are random, so that no order of values is
// slow; equal values are set aside together.
func selectNth(values []time.Duration, n int) {
	for low, high := 0, len(values); high-low > 1; {
		pivot := values[low+rand.IntN(high-low)]
		less, greater := low, high
		for i := low; i < greater; {
			switch v := values[i]; {
			case v < pivot:
				values[i], values[less] = values[less], v
				less, i = less+1, i+1
			case v > pivot:
				greater--
				values[i], values[greater] = values[greater], v
			default:
				i++
			}
		}
		switch {
		case n < less:
			high = less
		case n >= greater:
			low = greater
		default:
			return
		}
	}
}

// estimatePercentile returns the p-th percentile of sorted values and the
// interval between two of them that holds for every distribution.
func estimatePercentile(sorted []float64, p int) (float64, bench.Estimate) {
	n, q := len(sorted), float64(p)/100
	value := percentile(sorted, q)
	low, high := ranks(n, q)
	if low < 0 || high >= n {
		return value, noInterval(value, n, fmt.Sprintf("n < %d", minCount(q)))
	}
	return value, bench.Estimate{N: n, Low: sorted[low], High: sorted[high], Method: orderStatistics}
}

// minCount returns from how many values on estimatePercentile has an
// interval: 6 for the median, 72 and 368 for p95 and p99. The chance that all
// values lie on one side of the quantile must be at most tail.
func minCount(q float64) int { return int(math.Ceil(math.Log(tail) / math.Log(max(q, 1-q)))) }

// ranks returns the indexes of the order statistics that bound the q-quantile
// of n values: the greatest k with P(B <= k) <= tail and the least with
// P(B <= k) >= 1-tail, where B, the number of values below the quantile, is
// binomial. low is -1 and high n where there is none.
func ranks(n int, q float64) (low, high int) {
	mean, deviation := float64(n)*q, math.Sqrt(float64(n)*q*(1-q))
	k := max(0, int(mean-10*deviation)-1) // what is below has a chance of less than 1e-20
	chance := math.Exp(logChoose(n, k) + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
	low = -1
	for sum := chance; k < n && sum < 1-tail; sum += chance {
		if sum <= tail {
			low = k
		}
		chance *= float64(n-k) / float64(k+1) * q / (1 - q)
		k++
	}
	return low, k
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

func noInterval(value float64, n int, why string) bench.Estimate {
	return bench.Estimate{N: n, Low: value, High: value, Method: "none: " + why}
}

// estimateShare is Wilson's interval of k of n, which stays between 0 and 1
// and does not vanish where all requests were answered.
func estimateShare(k, n int) (float64, bench.Estimate) {
	share := float64(k) / float64(n) // 0/0 is NaN: absent
	low, high := stats.Wilson(share, float64(n), z95)
	return share, bench.Estimate{N: n, Low: low, High: high, Method: wilson}
}

func estimateMean(values []float64) (float64, bench.Estimate) {
	value, n := mean(values), len(values)
	if n < minForMean {
		return value, noInterval(value, n, fmt.Sprintf("n < %d", minForMean))
	}
	half := z95 * deviation(values, value) / math.Sqrt(float64(n))
	return value, bench.Estimate{N: n, Low: value - half, High: value + half, Method: normal}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)) // 0/0 is NaN: absent
}

// deviation is the standard deviation of a sample around its mean.
func deviation(values []float64, mean float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}
