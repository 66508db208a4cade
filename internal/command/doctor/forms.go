package doctor

import (
	"fmt"
	"maps"
	"slices"
)

func isScalar(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// eventsOf reads the three forms of on.
func eventsOf(on any) (events []string) {
	switch on := on.(type) {
	case string:
		return []string{on}
	case []any:
		for _, e := range on {
			events = append(events, fmt.Sprint(e))
		}
	case map[string]any:
		return slices.Sorted(maps.Keys(on))
	}
	return events
}

// inputsOf are those of workflow_dispatch.
func inputsOf(on any) map[string]any {
	events, _ := on.(map[string]any)
	dispatch, _ := events["workflow_dispatch"].(map[string]any)
	inputs, _ := dispatch["inputs"].(map[string]any)
	return inputs
}

// byPaths reports whether pull requests start a workflow only if they change certain files.
func byPaths(on any) bool {
	events, _ := on.(map[string]any)
	filter, _ := events["pull_request"].(map[string]any)
	return filter["paths"] != nil || filter["paths-ignore"] != nil
}

// granted reads the forms of permissions; all is write-all.
func granted(permissions any) (each map[string]string, all bool) {
	switch p := permissions.(type) {
	case string:
		return map[string]string{}, p == "write-all"
	case map[string]any:
		each = map[string]string{}
		for name, level := range p {
			each[name] = fmt.Sprint(level)
		}
	}
	return each, false
}
