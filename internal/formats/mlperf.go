package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

func isMLPerf(data []byte) bool { return bytes.Contains(data, []byte("MLPerf Results Summary")) }

// mlperfPercentile is a percentile of the additional statistics, or of the result.
var mlperfPercentile = lazyregexp.New(
	`^([0-9.]+)(?:th)? (first token percentile|percentile first token|percentile time to output token|percentile) latency \(ns\)$` +
		`|^([0-9.]+) percentile (time to output token) \(ns\)$`,
)

// mlperfKinds are the quantities of the percentiles.
var mlperfKinds = map[string]string{
	"percentile":                      "latency",
	"first token percentile":          "ttft",
	"percentile first token":          "ttft",
	"time to output token":            "tpot",
	"percentile time to output token": "tpot",
}

// mlperfRates are the speeds, in samples or tokens. A rate that was scheduled is the
// client's setting.
var mlperfRates = map[string]bench.Metric{
	"Samples per second":           {Name: "samples_per_s", Unit: "1/s", Better: bench.Higher},
	"Completed samples per second": {Name: "samples_per_s", Unit: "1/s", Better: bench.Higher},
	"Tokens per second":            {Name: "tokens_per_s", Unit: "tok/s", Better: bench.Higher},
	"Completed tokens per second":  {Name: "tokens_per_s", Unit: "tok/s", Better: bench.Higher},
	"Scheduled samples per second": {Name: "scheduled_samples_per_s", Unit: "1/s", Better: bench.Higher, Informational: true},
	"QPS w/o loadgen overhead":     {Name: "samples_per_s", Unit: "1/s", Better: bench.Higher, Informational: true},
	"Mean latency (ns)":            {Name: "latency_mean_ns", Unit: "ns", Better: bench.Lower, Informational: true},
}

// mlperf reads loadgen's mlperf_log_summary.txt; loadgen/results.cc of MLPerf
// Inference. What stands above "Result is" is gated, and so is what the server
// completed; the rest informs. A result that is INVALID is a failed cell.
func mlperf(data []byte) (*sheet, error) {
	at := bytes.Index(data, []byte("MLPerf Results Summary"))
	if at < 0 {
		return nil, nil
	}
	if bytes.Count(data, []byte("MLPerf Results Summary")) > 1 {
		return nil, errors.New("the file holds several summaries of loadgen: give each a file of its own")
	}
	fields, order := mlperfFields(data[at:])
	s := &sheet{key: "scenario", context: map[string]string{"client": "mlperf-loadgen"}}
	for key, name := range map[string]string{"SUT name": "engine", "Mode": "mode"} {
		if fields[key] != "" {
			s.context[name] = text.Line(fields[key], 80)
		}
	}
	scenario := text.Line(fields["Scenario"], 80)
	switch fields["Result is"] {
	case "VALID":
	case "INVALID":
		return s, s.fail(scenario, "loadgen calls the result INVALID: "+mlperfReasons(fields, order))
	default:
		return nil, errors.New("the summary has no result: see in mlperf_log_detail.txt why the run ended early")
	}
	headline := true
	for _, key := range order {
		if headline = headline && key != "Result is"; key == "Result is" {
			continue
		}
		if err := s.mlperfLine(scenario, key, fields[key], headline); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// mlperfFields are the lines "KEY : VALUE" above the parameters of the test, in
// their order. Of two lines of one key the first counts.
func mlperfFields(data []byte) (fields map[string]string, order []string) {
	fields = map[string]string{}
	for raw := range bytes.Lines(data) {
		line := strings.TrimSpace(string(raw[:min(len(raw), 1024)]))
		if line == "Test Parameters Used" || len(order) > maxMetrics {
			break
		}
		key, value, ok := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); !ok || key == "" {
			continue
		}
		if _, twice := fields[key]; !twice {
			order = append(order, key)
			fields[key] = strings.TrimSpace(value)
		}
	}
	return fields, order
}

func mlperfReasons(fields map[string]string, order []string) string {
	var reasons []string
	for _, key := range order {
		if strings.HasSuffix(key, "satisfied") && fields[key] == "NO" {
			reasons = append(reasons, key+": NO")
		}
	}
	return strings.Join(append(reasons, "see its recommendations in the summary"), "; ")
}

// mlperfLine adds the metric that a line holds.
func (s *sheet) mlperfLine(scenario, key, value string, headline bool) error {
	m, known := mlperfRates[key]
	if p := mlperfPercentile.FindStringSubmatch(key); p != nil {
		percentile := strings.TrimSuffix(strings.TrimRight(p[1]+p[3], "0"), ".")
		if whole, ok := strings.CutSuffix(p[1]+p[3], ".00"); ok || !strings.Contains(p[1]+p[3], ".") {
			percentile = whole
		}
		m, known = bench.Metric{
			Name:          mlperfKinds[p[2]+p[4]] + "_p" + percentile + "_ns",
			Unit:          "ns",
			Better:        bench.Lower,
			Informational: !headline,
		}, true
	}
	if !known || s.has(scenario, m.Name) {
		return nil
	}
	v, err := finite(value)
	if err != nil || v <= 0 {
		return fmt.Errorf("%s is %s, which no run yields: see mlperf_log_detail.txt", text.Quote(key, 80), text.Quote(value, 40))
	}
	return s.add(scenario, m, v)
}

// has reports whether a row has the metric.
func (s *sheet) has(name, metric string) bool {
	i, ok := s.at[name]
	return ok && slices.ContainsFunc(s.rows[i].Values, func(v Value) bool { return v.Metric == metric })
}
