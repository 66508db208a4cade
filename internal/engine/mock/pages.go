package mock

import (
	"encoding/json"
	"fmt"
	"strings"
)

// version is what the server says it is, in each engine's own place. It is
// no real release.
const version = "0.0.0-mock"

// page is a page that does not depend on its request.
type page struct {
	mime   string
	render func(*Server) string
}

// pages returns an engine's pages. That the others' are absent is how clients
// tell them apart: vLLM has /version, SGLang /get_server_info, llama.cpp /props.
func pages(e Engine) map[string]page {
	all := map[string]page{
		"/v1/models": {"application/json", (*Server).models},
		"/health":    {"application/json", (*Server).health},
		"/metrics":   {"text/plain; version=0.0.4", (*Server).metrics},
	}
	switch e {
	case SGLang:
		all["/get_server_info"] = page{"application/json", (*Server).serverInfo}
	case LlamaCPP:
		all["/props"] = page{"application/json", (*Server).props}
	default:
		all["/version"] = page{"application/json", func(*Server) string { return `{"version":"` + version + `"}` }}
	}
	return all
}

func (s *Server) models() string {
	owner := map[Engine]string{VLLM: "vllm", SGLang: "sglang", LlamaCPP: "llamacpp"}[s.config.Engine]
	return fmt.Sprintf(
		`{"object":"list","data":[{"id":%s,"object":"model","created":%d,"owned_by":%q}]}`,
		quote(s.config.Model),
		s.now().Unix(),
		owner,
	)
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
	var b strings.Builder
	for i, value := range []int{running, waiting, prompt, generated} {
		kind := "gauge"
		if strings.HasSuffix(names[i], "_total") {
			kind = "counter"
		}
		fmt.Fprintf(&b, "# TYPE %s %s\n%s %d\n", names[i], kind, names[i], value)
	}
	return b.String()
}
