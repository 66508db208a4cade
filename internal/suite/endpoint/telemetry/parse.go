// Package telemetry reads what servers of language models report of themselves
// while they are measured: queue, running requests, use of the KV cache,
// preemptions and hits in the prefix cache, from their pages of metrics. Parse
// and Summarize are pure; the page is hostile.
package telemetry

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Snapshot is one reading. A field is NaN where the server does not report it.
type Snapshot struct {
	Running, Waiting float64 // requests
	KVUse            float64 // share of the cache in use, 0 to 1
	Preemptions      float64 // so far
	Queries, Hits    float64 // tokens looked up in the prefix cache, and found, so far
}

// names are the metrics of vLLM, SGLang, llama.cpp, TGI and accelgate's engine.
var names = map[string]func(*Snapshot) *float64{
	"vllm:num_requests_running": running, "sglang:num_running_reqs": running, "llamacpp:requests_processing": running, "tgi_batch_current_size": running,
	"vllm:num_requests_waiting": waiting, "sglang:num_queue_reqs": waiting, "llamacpp:requests_deferred": waiting, "tgi_queue_size": waiting,
	"vllm:kv_cache_usage_perc": kvUse, "vllm:gpu_cache_usage_perc": kvUse, "sglang:token_usage": kvUse, "llamacpp:kv_cache_usage_ratio": kvUse,
	"vllm:num_preemptions_total": preemptions, "vllm:num_preemptions": preemptions,
	"vllm:prefix_cache_queries_total": queries, "vllm:prefix_cache_queries": queries, "vllm:gpu_prefix_cache_queries_total": queries,
	"vllm:prefix_cache_hits_total": hits, "vllm:prefix_cache_hits": hits, "vllm:gpu_prefix_cache_hits_total": hits,
}

func running(s *Snapshot) *float64     { return &s.Running }
func waiting(s *Snapshot) *float64     { return &s.Waiting }
func kvUse(s *Snapshot) *float64       { return &s.KVUse }
func preemptions(s *Snapshot) *float64 { return &s.Preemptions }
func queries(s *Snapshot) *float64     { return &s.Queries }
func hits(s *Snapshot) *float64        { return &s.Hits }

// Parse reads a page in Prometheus's text format. Series of one metric, such as
// those of several engines behind one page, add up; a share is their largest.
// Numbers that are negative or not finite are left out. known is false where the
// page has none of the metrics.
func Parse(page []byte) (s Snapshot, known bool) {
	nan := math.NaN()
	s = Snapshot{nan, nan, nan, nan, nan, nan}
	for line := range bytes.Lines(page) {
		name, value, ok := series(string(line))
		if !ok {
			continue
		}
		field, there := names[name]
		if !there {
			continue
		}
		known = true
		switch to := field(&s); {
		case math.IsNaN(*to):
			*to = value
		case to == &s.KVUse:
			*to = max(*to, value)
		default:
			*to += value
		}
	}
	return s, known
}

// series splits a line into the metric's name and its value.
func series(line string) (name string, value float64, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", 0, false
	}
	name, rest := line, ""
	if i := strings.IndexByte(line, '{'); i >= 0 {
		end := strings.LastIndexByte(line, '}')
		if end < i {
			return "", 0, false
		}
		name, rest = line[:i], line[end+1:]
	} else if i := strings.IndexAny(line, " \t"); i >= 0 {
		name, rest = line[:i], line[i:]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return strings.TrimSpace(name), value, err == nil && value >= 0 && value <= math.MaxFloat64
}
