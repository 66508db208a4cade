package mock

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// version is what the server says it is, in each engine's own place. It is
// no real release.
const version = "0.0.0-mock"

// pages returns an engine's pages. That the others' are absent is how clients
// tell them apart: vLLM has /version, SGLang /get_server_info, llama.cpp /props.
func (s *Server) pages() map[string]openai.Route {
	const mime = "application/json"
	all := map[string]openai.Route{
		"/v1/models": openai.Page(mime, s.models),
		"/health":    openai.Page(mime, s.health),
		"/metrics":   openai.Page("text/plain; version=0.0.4", s.metrics),
	}
	switch s.config.Engine {
	case SGLang:
		all["/get_server_info"] = openai.Page(mime, s.serverInfo)
	case LlamaCPP:
		all["/props"] = openai.Page(mime, s.props)
	default:
		all["/version"] = openai.Page(mime, func() string { return `{"version":"` + version + `"}` })
	}
	return all
}

func (s *Server) models() string {
	owner := map[Engine]string{VLLM: "vllm", SGLang: "sglang", LlamaCPP: "llamacpp"}[s.config.Engine]
	return fmt.Sprintf(`{"object":"list","data":[{"id":%s,"object":"model","created":%d,"owned_by":%q}]}`,
		quote(s.config.Model), s.now().Unix(), owner)
}

// health is empty at vLLM and SGLang.
func (s *Server) health() string {
	if s.config.Engine == LlamaCPP {
		return `{"status":"ok"}`
	}
	return ""
}

func (s *Server) serverInfo() string {
	return fmt.Sprintf(`{"model_path":%s,"served_model_name":%s,"version":%q,"max_running_requests":%d}`,
		quote(s.config.Model), quote(s.config.Model), version, s.config.Slots)
}

func (s *Server) props() string {
	return fmt.Sprintf(`{"default_generation_settings":{"n_ctx":4096},"total_slots":%d,"model_path":%s,"build_info":%q}`,
		max(1, s.config.Slots), quote(s.config.Model), version)
}

func quote(s string) string {
	data, _ := json.Marshal(s) // a string has no error
	return string(data)
}

// metrics has the few that clients read, under each engine's own names.
func (s *Server) metrics() string {
	s.mu.Lock()
	running, waiting := s.load.running, s.load.inFlight-s.load.running
	prompt, generated := s.load.prompt, s.seen.Tokens
	s.mu.Unlock()
	names := map[Engine][4]string{
		VLLM:     {"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:prompt_tokens_total", "vllm:generation_tokens_total"},
		SGLang:   {"sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:prompt_tokens_total", "sglang:generation_tokens_total"},
		LlamaCPP: {"llamacpp:requests_processing", "llamacpp:requests_deferred", "llamacpp:prompt_tokens_total", "llamacpp:tokens_predicted_total"},
	}[s.config.Engine]
	var all []openai.Metric
	for i, value := range []int{running, waiting, prompt, generated} {
		kind := "gauge"
		if strings.HasSuffix(names[i], "_total") {
			kind = "counter"
		}
		all = append(all, openai.Metric{Name: names[i], Kind: kind, Value: float64(value)})
	}
	return openai.Metrics(all)
}
