package gate

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// The conditions for processor time as evidence. docs/detection/busy-hosts.md has the reasons.
const (
	minWait    = 0.10 // waiting for a processor, as a part of the processor time
	maxOff     = 0.20 // time off the processors, as a part of it and of the processor time
	maxThreads = 1.4  // that compute at once
)

// processor is what base and head of a cell did with processors, pair by pair.
type processor struct {
	base, head, both processorSample
	waited           float64 // waiting over processor time, in all processes
}

// processorSample is what processes did.
type processorSample struct {
	cpu          []float64
	off, threads float64 // see maxOff, maxThreads
}

// unknownTime says where there is no processor time to judge by.
const unknownTime = "the processor time of its processes is not known, as of containers, persistent processes, very short ones, " +
	"and elsewhere than on Linux"

// processorOf returns what is known of the pairs of a cell; why is "" where all is.
func processorOf(r *bench.Result, pairs int) (p processor, why string) {
	base, head, both := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, name := range []string{bench.CPUTime, bench.CPUWait, bench.OffCPU, bench.CPUThreads} {
		used := r.Used(name)
		if pairs == 0 || used == nil || len(used.Base) != pairs || len(used.Values) < pairs {
			return p, unknownTime
		}
		if slices.Min(used.Base) < 0 || slices.Min(used.Values) < 0 {
			return p, unknownTime
		}
		base[name], head[name] = used.Pairs()
		both[name] = slices.Concat(base[name], head[name])
	}
	p.base, p.head, p.both = newProcessorSample(base), newProcessorSample(head), newProcessorSample(both)
	p.waited = sum(both[bench.CPUWait]) / sum(both[bench.CPUTime])
	if !bench.Finite(p.waited) || slices.Min(both[bench.CPUTime]) == 0 {
		return p, "a process used no processor time"
	}
	return p, ""
}

func newProcessorSample(used map[string][]float64) processorSample {
	cpu, off := sum(used[bench.CPUTime]), sum(used[bench.OffCPU])
	return processorSample{cpu: used[bench.CPUTime], off: off / (cpu + off), threads: stats.Median(used[bench.CPUThreads])}
}

func sum(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// busy adds the processor time of a cell whose processes waited for a processor and mostly
// computed, on one thread. None of this depends on which process of a pair is the base, so it
// changes no rate of false alarms.
func (n *numbers) busy(in *inputs, c cell, numbers []seriesKey) {
	i := slices.IndexFunc(numbers, func(of seriesKey) bool { return in.metric(of.metric).speed() })
	if i < 0 || in.policy.OneLook {
		return
	}
	if p, why := processorOf(c.got, len(c.got.Sample(numbers[i].metric).Base)); why == "" && p.unfit(&p.both) == "" {
		limit := in.policy.minEffect() / 100
		o := detect.Options{Mode: detect.Interleaved, MinEffect: limit, Tolerance: limit}
		n.processor = append(n.processor, detect.Cell{Base: p.base.cpu, Head: p.head.cpu, Options: o})
		n.waiting = append(n.waiting, c.id)
	}
}

// unfit returns why the processor time of processes is no evidence of a loss of speed; "" where it
// is.
func (p *processor) unfit(of *processorSample) string {
	switch {
	case p.waited < minWait:
		return fmt.Sprintf("processors were free: its threads waited for %.0f %% of their processor time", 100*p.waited)
	case of.off > maxOff:
		return fmt.Sprintf("it was off the processors for %.0f %% of its time, and the limit is %.0f %%", 100*of.off, 100*maxOff)
	case of.threads > maxThreads:
		return fmt.Sprintf("%.1f of its threads computed at once, and the limit is %.1f: threads that share work need more processor time "+
			"and less time", of.threads, maxThreads)
	}
	return ""
}
