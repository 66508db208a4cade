package bench

// binding names the conditions that decide what was asked of a server. Numbers
// that were measured under different ones are of two different things.
var binding = map[string]bool{
	"suite_version": true, "dataset_hash": true, "mode": true, "concurrency": true, "rate": true, "arrival": true, "burstiness": true,
	"burst": true, "warmup": true, "api": true, "max_tokens": true, "ignore_eos": true, "temperature": true, "stream": true, "keepalive": true,
	"cache_policy": true, "input_len": true, "output_len": true, "extra": true, "rate_end": true, "rate_curve": true, "scale": true, "mix": true,
	"conversation": true, "json_schema": true, "files": true, "inputs": true, "length_unit": true, "protocol": true,
	"cpus":      true, // processors that a cell runs on, where they are chosen
	"numa":      true, // nodes of its processors and its memory, where they are chosen
	"mig":       true, // profile of the slice that it runs on
	"devices":   true, // how many a cell has at once, where that is more than 1
	"nodes":     true, // of a cluster that it spans, where that is more than 1
	"same_node": true, // that these are on one NUMA node, where that is demanded
	// What was answered: a time per token is over the tokens that were streamed.
	StreamedTokens: true,
	"latency_from": true, "search": true,
	// Of kernels: two kinds of clock see different things, and a ratio is to its
	// reference.
	"timer": true, "cold_cache": true, "reference_worker": true, "device_name": true,
}

// Placed reports whether a condition says where on the host a cell was measured. Its absence says so as
// well: anywhere, on one whole device.
func Placed(condition string) bool {
	switch condition {
	case "cpus", "devices", "nodes", "same_node", "mig", "numa":
		return true
	}
	return false
}

// Binding reports whether numbers may only be compared under equal values of
// the named condition.
func Binding(condition string) bool { return binding[condition] }

// Conditions returns the binding ones of the result's context; nil if it has
// none.
func (r *Result) Conditions() map[string]string {
	var conditions map[string]string
	for name, value := range r.Context {
		if Binding(name) {
			if conditions == nil {
				conditions = map[string]string{}
			}
			conditions[name] = value
		}
	}
	return conditions
}
