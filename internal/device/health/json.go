package health

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object whose keys are in lower case: versions of the tools
// differ in it.
type object map[string]any

// objectOf returns nil, which has no keys, for anything else, such as the "N/A"
// that stands where a device tells nothing.
func objectOf(value any) object {
	raw, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	o := make(object, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) { // two keys may differ in case only
		o[strings.ToLower(key)] = raw[key]
	}
	return o
}

func (o object) in(key string) object { return objectOf(o[key]) }

func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

// quantity reads a number, a text that begins with one, or {"value": 41, "unit":
// "W"}.
func (o object) quantity(key string) (float64, bool) { return quantityIn(o[key]) }

func quantityIn(value any) (float64, bool) {
	switch v := value.(type) {
	case json.Number:
		return quantity(v.String())
	case string:
		return quantity(v)
	case map[string]any:
		inner := v["value"]
		if _, nested := inner.(map[string]any); nested {
			return 0, false
		}
		return quantityIn(inner)
	}
	return 0, false
}

var errNoJSON = errors.New("it holds no JSON")

// firstJSON reads the first object or list that begins a line: the tools print
// warnings before it.
func firstJSON(out []byte) (value any, err error) {
	tries := 16 // each may read to the end
	for len(out) > 0 && tries > 0 {
		if out[0] == '{' || out[0] == '[' {
			d := json.NewDecoder(bytes.NewReader(out))
			d.UseNumber()
			if d.Decode(&value) == nil {
				return value, nil
			}
			tries--
		}
		_, out, _ = bytes.Cut(out, []byte{'\n'})
	}
	return nil, errNoJSON
}
