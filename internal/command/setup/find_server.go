package setup

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

const (
	addressVariable = "OPENAI_BASE_URL"
	keyVariable     = "OPENAI_API_KEY"
	answerLimit     = 5 * time.Second
)

// server finds the OpenAI-compatible server that the user or the environment names. One of
// the environment that does not answer becomes a comment; one that the user names does not.
func (r *repository) server(ctx context.Context) ([]Suite, error) {
	address, given := r.Server, r.Server != ""
	if !given {
		address = r.Getenv(addressVariable)
	}
	if address == "" {
		return nil, nil
	}
	s, err := r.serverSuite(address)
	switch {
	case err != nil && given:
		return nil, exit.Usagef("--server: %w", err)
	case err != nil:
		return nil, exit.Usagef("variable %s: %w", addressVariable, err)
	}
	if trouble := r.asks(ctx, address); trouble != "" && given {
		return nil, exit.Usagef("--server %s: %s: start the server, and run the command again", text.Quote(address, 80), trouble)
	} else if trouble != "" {
		s.Missing = "start the server of " + addressVariable + " (" + trouble + ")"
	}
	return []Suite{s}, nil
}

// serverSuite loads a server.
func (r *repository) serverSuite(address string) (Suite, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Suite{}, fmt.Errorf("it is not an address of a server: write one such as http://localhost:8000")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Suite{}, fmt.Errorf(
			"the address goes into a committed file, and has credentials, a query or a fragment: write the root of the server, and the key into the variable %s",
			keyVariable)
	}
	s := Suite{Name: "chat", Title: "OpenAI-compatible server at " + text.OneLine(address)}
	s.Body = []string{"kind: endpoint", "preset: llm.inference.chatbot-short", "base_url: " + scalar(address)}
	if r.Getenv(keyVariable) != "" {
		s.Body = append(s.Body, "api_key_env: "+keyVariable)
	}
	s.Body = append(s.Body, "request: {max_tokens: 32}",
		"load: {concurrency: [1, 4], requests: 24, duration: 20s} # raise both for steadier percentiles")
	return s, nil
}

// asks returns why the server does not list its models; "" if it does.
func (r *repository) asks(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	root := strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/v1")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, root+"/v1/models", nil)
	if err != nil {
		return text.OneLine(err.Error())
	}
	if key := r.Getenv(keyVariable); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "nothing answers there"
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	if response.StatusCode != http.StatusOK {
		return "it answers " + text.OneLine(response.Status) + " to /v1/models"
	}
	return ""
}
