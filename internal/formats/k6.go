package formats

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

func isK6(o object) bool {
	if !o.has("metrics", "root_group") {
		return false
	}
	var metrics map[string]json.RawMessage
	return json.Unmarshal(o["metrics"], &metrics) == nil && metrics["iterations"] != nil
}

// k6Gated are the latencies that are gated, in milliseconds; other trends inform.
var k6Gated = []string{"http_req_duration", "grpc_req_duration", "ws_session_duration"}

// k6 reads the summary of a load test: --summary-export, whose metrics hold their numbers, or the data of handleSummary,
// whose metrics hold them under values. A trend has its median and percentiles, a counter its rate, a rate its share. The
// thresholds of the script decide k6's own exit code, and no value here.
func k6(data []byte) (*sheet, error) {
	var result struct {
		Metrics map[string]map[string]json.RawMessage `json:"metrics"`
	}
	if found, err := onlyResult(data, "k6", isK6, &result); err != nil || !found {
		return nil, err
	}
	s := &sheet{key: "scenario", context: map[string]string{"client": "k6"}}
	for _, name := range slices.Sorted(maps.Keys(result.Metrics)) {
		if strings.Contains(name, "{") { // the part of another one that has a tag
			continue
		}
		numbers := result.Metrics[name]
		if values, ok := numbers["values"]; ok {
			numbers = nil
			if err := json.Unmarshal(values, &numbers); err != nil {
				return nil, unreadable("the values", name, err)
			}
		}
		if err := s.k6Metric(name, numbers); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *sheet) k6Metric(name string, numbers map[string]json.RawMessage) error {
	add := func(key string, m bench.Metric) error {
		text, ok := numbers[key]
		if !ok || string(text) == "null" {
			return nil
		}
		v, err := finite(string(text))
		if err != nil {
			return unreadable(key, name, err)
		}
		return s.add("", m, v)
	}
	if numbers["med"] == nil && numbers["p(95)"] == nil { // no trend
		if name == "http_req_failed" || name == "checks" {
			key := "value"
			if numbers["rate"] != nil {
				key = "rate"
			}
			m := bench.Metric{Name: name, Better: bench.Lower, Kind: bench.Ratio}
			if name == "checks" {
				m.Better = bench.Higher
			}
			return add(key, m)
		}
		return add("rate", bench.Metric{Name: name + "_per_s", Unit: "1/s", Better: bench.Higher, Informational: true})
	}
	for _, key := range slices.Sorted(maps.Keys(numbers)) {
		p, percentile := strings.CutPrefix(key, "p(")
		suffix := "p" + strings.TrimSuffix(p, ")")
		switch {
		case key == "med":
			suffix = "p50"
		case !percentile:
			continue
		}
		m := bench.Metric{
			Name:          name + "_" + suffix + "_ms",
			Unit:          "ms",
			Better:        bench.Lower,
			Informational: !slices.Contains(k6Gated, name),
		}
		if err := add(key, m); err != nil {
			return err
		}
	}
	return nil
}
