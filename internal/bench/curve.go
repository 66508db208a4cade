package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// LoadPoint is one probe of a search over loads: what a server did under one
// load. 0 stands for what was not measured.
type LoadPoint struct {
	Load       float64 `json:"load"`  // requests a second, or at once
	Holds      bool    `json:"holds"` // the limits
	Throughput float64 `json:"throughput_tok_per_s"`
	Rate       float64 `json:"req_per_s"`
	TTFT       float64 `json:"ttft_p95_ms"`
	TPOT       float64 `json:"tpot_p95_ms"`
	OKRate     float64 `json:"ok_rate"`
	// What the server and its devices reported meanwhile; 0 also stands for an unknown number.
	Queue       float64 `json:"server_queue_mean,omitempty"` // requests
	KVUse       float64 `json:"server_kv_use_max,omitempty"` // 0 to 1
	Preemptions float64 `json:"server_preemptions,omitempty"`
	SMClock     float64 `json:"device_sm_clock_mhz,omitempty"`
	Power       float64 `json:"device_power_w,omitempty"`
	Memory      float64 `json:"device_memory_max_mib,omitempty"`
	CPUClock    float64 `json:"cpu_clock_mhz,omitempty"`
}

// Curve is what a search measured, in the order of its probes.
type Curve []LoadPoint

// ByLoad returns the probes sorted by load.
func (c Curve) ByLoad() Curve {
	return slices.SortedStableFunc(slices.Values(c), func(a, b LoadPoint) int { return cmp.Compare(a.Load, b.Load) })
}

// Knee returns the probe with the most answers a second for each millisecond to
// the first token: beyond it, load costs more latency than it yields throughput.
// found is false without a probe that has both numbers.
func (c Curve) Knee() (knee LoadPoint, found bool) {
	for _, p := range c {
		if p.Rate > 0 && p.TTFT > 0 && (!found || p.Rate/p.TTFT > knee.Rate/knee.TTFT) {
			knee, found = p, true
		}
	}
	return knee, found
}

// Summary returns in one line the number of probes and where the knee is.
func (c Curve) Summary() string {
	s := text.Plural(len(c), "probe")
	if knee, found := c.Knee(); found {
		s += fmt.Sprintf("; knee at load %.4g: %.4g req/s at a TTFT p95 of %.4g ms", knee.Load, knee.Rate, knee.TTFT)
	}
	return s
}

// MaxCurve is the most probes of a curve.
const MaxCurve = 1000

func (r *Result) validateCurve() error {
	if len(r.Curve) > MaxCurve {
		return fmt.Errorf("has a curve of more than %d loads", MaxCurve)
	}
	for _, p := range r.Curve {
		for _, v := range []float64{p.Load, p.Throughput, p.Rate, p.TTFT, p.TPOT, p.OKRate, p.Queue, p.KVUse, p.Preemptions,
			p.SMClock, p.Power, p.Memory, p.CPUClock} {
			if !Finite(v) || v < 0 {
				return fmt.Errorf("has the number %v in its curve", v)
			}
		}
	}
	return nil
}
