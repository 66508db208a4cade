package harness

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/accelgate/accelgate/internal/stats"
)

const (
	copies = 16 // of which the fastest counts
	// floorShare is the share of the time of a copy that a call takes at least:
	// reading may be three times as fast as copying.
	floorShare = 0.3
	// minFloor is the time in nanoseconds below which our clock cannot
	// distinguish a call from no call.
	minFloor  = 2e3
	copyBytes = 1 << 28 // that are copied at most: more of them are no slower each
)

// implausible doubts calls that take less than it takes to read all inputs and to
// write all outputs on this host. It is about CPUs: what a device's memory allows
// this process cannot measure. A floor that the reference breaks as well is none.
func (p *trialProtocol) implausible() suspicion {
	if p.Bytes == 0 || p.solution.Hello().Devices[0].Kind != "cpu" {
		return suspicion{}
	}
	call, theirs, minimum := p.callTime(p.solution), p.callTime(p.reference), floorShare*p.copyTime()
	if call >= minimum || minimum < minFloor || !p.NoBaseline && theirs < minimum {
		return suspicion{}
	}
	return suspicion{
		share:  1,
		firm:   1,
		excess: 1,
		reason: fmt.Sprintf("a call takes %s, and this host needs %s only to read the inputs and to write the outputs (%d bytes): "+
			"it does not compute from all inputs; look for where the result comes from", nanoseconds(call), nanoseconds(minimum), p.Bytes),
	}
}

// callTime is what a call of a side takes by our clock, in nanoseconds.
func (p *trialProtocol) callTime(s *side) float64 {
	if len(s.timing.Values) == 0 {
		return math.Inf(1)
	}
	return stats.Median(s.timing.Values)
}

// copyTime returns the nanoseconds in which this host can read half of the bytes
// of a case and write as many, by one thread or by all, whatever is faster.
func (p *trialProtocol) copyTime() float64 {
	if p.copying > 0 {
		return p.copying
	}
	size := min(p.Bytes, copyBytes) / 2
	from, to := make([]byte, size), make([]byte, size)
	for i := range from {
		from[i] = byte(i) // pages of zeros would be one page
	}
	best := math.Inf(1)
	for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
		for range copies {
			start := p.solution.now()
			copyBy(threads, to, from)
			best = min(best, float64(p.solution.now().Sub(start).Nanoseconds()))
		}
	}
	p.copying = max(1, best) * float64(p.Bytes) / float64(2*max(size, 1))
	return p.copying
}

func copyBy(threads int, to, from []byte) {
	if threads == 1 {
		copy(to, from)
		return
	}
	var group sync.WaitGroup
	part := (len(from) + threads - 1) / threads
	for start := 0; start < len(from); start += part {
		group.Go(func() { copy(to[start:min(start+part, len(to))], from[start:min(start+part, len(from))]) })
	}
	group.Wait()
}
