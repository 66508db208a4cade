package optrace_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/accelgate/accelgate/internal/formats/optrace"
)

// FuzzPlainJSON compares with encoding/json: what that accepts as this form has
// the same total here, and what it accepts as JSON never ends in an error of
// syntax.
func FuzzPlainJSON(f *testing.F) {
	for _, file := range fixtures(f, "json") {
		f.Add(readFile(f, file))
	}
	f.Add([]byte(`{"operators":[{"name":"a\\","total_s":1,"x":{"y":["}",{}]}},{"name":"\"]","total_s":2e-3,"calls":null}],"z":"\\\\"}`))
	f.Add([]byte(`{"total_s":1,"total_s":2,"a":[[[]]],"operators":[ ] }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		type operator struct {
			Name  *string  `json:"name"`
			Total *float64 `json:"total_s"`
			MS    any      `json:"total_ms"`
			US    any      `json:"total_us"`
			Calls *int64   `json:"calls"`
		}
		var want struct {
			Total     *float64   `json:"total_s"`
			MS        any        `json:"total_ms"`
			US        any        `json:"total_us"`
			Operators []operator `json:"operators"`
		}
		if !exactKeys(data) || json.Unmarshal(data, &want) != nil || want.MS != nil || want.US != nil || want.Total == nil && len(want.Operators) == 0 {
			return
		}
		sum := 0.0
		seen := map[string]bool{}
		for _, o := range want.Operators {
			if o.Name == nil || *o.Name == "" || len(*o.Name) > 200 || seen[*o.Name] || o.Total == nil || *o.Total < 0 || *o.Total > 1e6 ||
				o.MS != nil || o.US != nil || o.Calls != nil && (*o.Calls < 0 || *o.Calls > 1<<40) {
				return
			}
			seen[*o.Name] = true
			sum += *o.Total
		}
		if want.Total != nil {
			if sum = *want.Total; sum < 0 || sum > 1e9 {
				return
			}
		}
		p, err := optrace.Formats["json"](data)
		if err != nil {
			t.Fatalf("got %v, want %v", err, sum)
		}
		if len(p.Operators) != len(want.Operators) || math.Abs(p.Total-sum) > 1e-9*sum {
			t.Errorf("got %+v, want %d operators and a total of %v", p, len(want.Operators), sum)
		}
	})
}

// exactKeys reports whether each object has each key once and in the case that
// is read: encoding/json merges what stands twice, and takes any case.
func exactKeys(data []byte) bool {
	known := map[string]bool{"total_s": true, "total_ms": true, "total_us": true, "operators": true, "name": true, "calls": true}
	var root map[string]json.RawMessage
	if json.Unmarshal(data, &root) != nil {
		return false
	}
	var items []map[string]json.RawMessage
	if raw, ok := root["operators"]; ok && json.Unmarshal(raw, &items) != nil {
		return false
	}
	members := 0
	for _, o := range append(items, root) {
		for key := range o {
			if !known[key] {
				return false
			}
			members++
		}
	}
	var all int
	for _, b := range data {
		if b == ':' {
			all++
		}
	}
	return all == members
}
