package bench

import (
	"maps"
	"slices"
)

// placed are the conditions of the place on the host where a cell was measured: processors, number of devices and of nodes
// of a cluster, whether on one NUMA node, profile of a slice, NUMA nodes.
var placed = []string{"cpus", "devices", "nodes", "same_node", "mig", "numa"}

// Placed reports whether a condition is about the place on the host where a cell was measured. Its absence is a place as
// well: anywhere, on one whole device.
func Placed(condition string) bool { return slices.Contains(placed, condition) }

// Facts returns conditions and context of the result as one; the caller may change it.
func (r *Result) Facts() map[string]string {
	facts := make(map[string]string, len(r.Conditions)+len(r.Context))
	maps.Copy(facts, r.Context)
	maps.Copy(facts, r.Conditions)
	return facts
}

// SetFacts replaces conditions and context of the result: facts with one of the names are conditions.
func (r *Result) SetFacts(facts map[string]string, conditions []string) {
	r.Conditions, r.Context = nil, maps.Clone(facts)
	for _, name := range conditions {
		if value, ok := facts[name]; ok {
			r.SetCondition(name, value)
			delete(r.Context, name)
		}
	}
}

// SetCondition adds a condition to the result, whose conditions may be shared with other results.
func (r *Result) SetCondition(name, value string) {
	r.Conditions = maps.Clone(r.Conditions)
	if r.Conditions == nil {
		r.Conditions = map[string]string{}
	}
	r.Conditions[name] = value
}
