package formats

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// keySteps bounds the values that are looked at for their keys.
const keySteps = 10_000

// Keys returns paths of numbers in the JSON, sorted within each object, at most
// so many and each of at most so many bytes.
func (d *Document) Keys(maximum, bytes int) (keys []string) {
	steps := 0
	var walk func(at any, path string)
	walk = func(at any, path string) {
		if steps++; steps > keySteps || len(keys) >= maximum || len(path) > bytes {
			return
		}
		switch v := at.(type) {
		case json.Number:
			keys = append(keys, path)
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], joinKey(path, name))
			}
		case []any:
			if len(v) > 0 { // its elements are alike
				walk(v[0], path+"[0]")
			}
		}
	}
	walk(d.root, "")
	return keys
}

// joinKey is the path of a member as [ParsePath] reads it.
func joinKey(path, name string) string {
	plain := name != ""
	for i := range len(name) {
		plain = plain && nameByte(name[i])
	}
	switch {
	case !plain && !strings.Contains(name, `"]`):
		return path + `["` + name + `"]`
	case !plain:
		return path + "['" + name + "']"
	case path == "":
		return name
	}
	return path + "." + name
}
