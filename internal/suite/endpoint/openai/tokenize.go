package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// CountTokens asks the server's own /tokenize how many tokens a text has,
// without those that begin or end a prompt. vLLM and SGLang read prompt,
// llama.cpp content.
func (c *Client) CountTokens(ctx context.Context, model, text string) (int, error) {
	const path = "/tokenize"
	body, err := json.Marshal(
		map[string]any{"model": model, "prompt": text, "content": text, "add_special_tokens": false, "add_special": false},
	)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	target, err := c.page(path)
	if err != nil {
		return 0, err
	}
	request := &http.Request{
		Method:        http.MethodPost,
		URL:           target,
		Host:          target.Host,
		Header:        c.header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}
	resp, err := c.roundTrip(request.WithContext(ctx))
	if err != nil {
		return 0, fmt.Errorf("ask %s%s for tokens: %s: start the server, or correct base_url or --base-url", c.root, path, c.quote(err.Error()))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err == nil && resp.StatusCode != http.StatusOK {
		return 0, c.statusError(path, resp.StatusCode, data)
	}
	var answer struct {
		Count  *int              `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s%s answers no count of tokens: %s: see whether the server has this page", c.root, path,
			c.quote(err.Error()))
	case answer.Count != nil && *answer.Count > 0:
		return *answer.Count, nil
	case len(answer.Tokens) > 0:
		return len(answer.Tokens), nil
	}
	return 0, fmt.Errorf("%s%s answers no count of tokens: %s: see whether the server has this page", c.root, path,
		c.quote(string(data[:min(len(data), maxQuote)])))
}
