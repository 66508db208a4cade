package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is a refusal as clients of OpenAI's API expect it.
type apiError struct {
	status  int
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   any    `json:"param"`
	Code    string `json:"code"`
}

func (e *apiError) Error() string { return e.Message }

// invalid is a request that makes no sense.
func invalid(code, format string, a ...any) *apiError {
	return refusal(http.StatusBadRequest, code, format, a...)
}

// refusal is an error of any status.
func refusal(status int, code, format string, a ...any) *apiError {
	kind := "invalid_request_error"
	switch {
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return &apiError{status: status, Message: fmt.Sprintf(format, a...), Type: kind, Code: code}
}

// write sends the error as a whole response.
func (e *apiError) write(w http.ResponseWriter) {
	switch e.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.status, e.object())
}

func (e *apiError) object() any { return map[string]any{"error": e} }

// writeJSON sends a response. Whether the client is still there to read it is
// not looked at: nothing follows.
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	_ = out.Encode(value)
}
