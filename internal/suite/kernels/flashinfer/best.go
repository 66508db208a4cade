package flashinfer

// Choice is the fastest solution of a workload on a device, what upstream's apply
// picks from.
type Choice struct {
	Definition string         `json:"definition"`
	Workload   string         `json:"workload"` // uuid
	Axes       map[string]int `json:"axes"`     // of the workload
	Hardware   string         `json:"hardware"`
	Solution   string         `json:"solution"`
	LatencyMS  float64        `json:"latency_ms"`
	Speedup    float64        `json:"speedup_factor,omitempty"` // over the reference; 0 if that was not measured
}

// Best returns the fastest solution of each workload and device, in the order of the
// traces. The last trace of a case counts, and only if it passed; of equals the
// first one is chosen.
func Best(traces []*Trace) []Choice {
	type key struct{ definition, workload, hardware string }
	best := []Choice{}
	at := map[key]int{}
	for _, t := range Last(traces) {
		p := t.Evaluation.Performance
		if t.Evaluation.Status != Passed || p == nil || p.LatencyMS <= 0 {
			continue
		}
		k := key{t.Definition, t.Workload.UUID, t.Evaluation.Environment.Hardware}
		i, known := at[k]
		if !known {
			i = len(best)
			at[k] = i
			best = append(best, Choice{})
		} else if best[i].LatencyMS <= p.LatencyMS {
			continue
		}
		best[i] = Choice{Definition: t.Definition, Workload: t.Workload.UUID, Axes: t.Workload.Axes, Hardware: k.hardware,
			Solution: t.Solution, LatencyMS: p.LatencyMS, Speedup: p.SpeedupFactor}
	}
	return best
}
