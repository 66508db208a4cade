package gate

import "slices"

// Power is what a report could have seen by one method: the losses, in percent of the
// metric, that it would have found with a chance of 80 %.
type Power struct {
	Method  Method  `json:"method"`
	Metrics int     `json:"metrics"` // of all cells
	Half    float64 `json:"half"`    // for half of the metrics
	Ninety  float64 `json:"ninety"`  // for 90 % of them
	// Suspects says that the method alone can only suspect a loss of this size, and not show it.
	Suspects bool `json:"suspects,omitempty"`
}

// powerOf sums up the minimum detectable effects of all numbers, method by method.
func powerOf(verdicts []Verdict) []Power {
	found, shows := map[Method][]float64{}, map[Method]bool{}
	for i := range verdicts {
		v := &verdicts[i]
		method := v.Evidence.Method
		if !method.powered() || v.Cell == "" || !(v.Evidence.MDE > 0) {
			continue
		}
		found[method] = append(found[method], v.Evidence.MDE)
		shows[method] = shows[method] || method != MethodHistory || v.Evidence.NewN >= minHeads
	}
	var out []Power
	for _, method := range Methods {
		if all := found[method]; len(all) > 0 {
			slices.Sort(all)
			out = append(out, Power{method, len(all), all[(len(all)-1)/2], all[(9*len(all)+9)/10-1], !shows[method]})
		}
	}
	return out
}
