package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is a refusal as clients of OpenAI's API expect it.
type Error struct {
	Status     int           `json:"-"` // of HTTP
	RetryAfter time.Duration `json:"-"` // whole seconds; 0 for no header
	Message    string        `json:"message"`
	Type       string        `json:"type"`
	Param      any           `json:"param"`
	Code       any           `json:"code"` // a word, or a number
}

// Invalid is the error of a request that makes no sense.
func Invalid(code, format string, a ...any) *Error {
	return Refusal(http.StatusBadRequest, code, format, a...)
}

// Refusal is an error of any status.
func Refusal(status int, code, format string, a ...any) *Error {
	e := &Error{Status: status, Message: fmt.Sprintf(format, a...), Type: "invalid_request_error", Code: code}
	switch {
	case status == http.StatusUnauthorized:
		e.Type = "authentication_error"
	case status == http.StatusTooManyRequests:
		e.Type, e.RetryAfter = "rate_limit_error", time.Second
	case status == http.StatusServiceUnavailable:
		e.Type, e.RetryAfter = "server_error", time.Second
	case status >= http.StatusInternalServerError:
		e.Type = "server_error"
	}
	return e
}

// JSON returns the object that clients read, without a line end.
func (e *Error) JSON() []byte {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(map[string]any{"error": e}) // strings and numbers have no error
	return bytes.TrimRight(b.Bytes(), "\n")
}

// write sends the error as a whole response. Whether the client still reads it does not matter: nothing follows.
func (e *Error) write(w http.ResponseWriter) {
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	_, _ = w.Write(append(e.JSON(), '\n'))
}
