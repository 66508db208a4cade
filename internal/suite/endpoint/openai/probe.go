package openai

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// Engine names a server's program.
type Engine string

// The engines that a probe tells apart.
const (
	VLLM      Engine = "vllm"
	SGLang    Engine = "sglang"
	LlamaCPP  Engine = "llamacpp"
	Accelgate Engine = "accelgate"
	Unknown   Engine = "unknown"
)

// Server is what a server says of itself. Its strings are untrusted; all but
// Models are fit to be shown.
type Server struct {
	Engine  Engine
	Version string // "" where it does not say
	// Models are ids as requests must name them, in the server's order, at
	// most 100: UTF-8, of at most 4 KiB each, without the key. They may hold
	// any character, so quote them where they are shown.
	Models   []string
	Revision string // of the model, which only SGLang says
	// ConfigHash is the SHA-256, in hexadecimal, of the configuration that
	// llama.cpp and SGLang show, without what changes while they run; "" for
	// the others.
	ConfigHash string
}

const (
	maxModels    = 100
	maxModelID   = 4 << 10
	maxProbe     = 4 << 20
	probeTimeout = 10 * time.Second
)

// Probe asks the server for its models and then for its name. The errors are
// about the models: a server that says nothing else of itself is Unknown.
func (c *Client) Probe(ctx context.Context) (Server, error) {
	s := Server{Engine: Unknown}
	if name := c.deployment(); name != "" { // which lists no models
		s.Models = []string{name}
		return s, nil
	}
	owner, err := c.models(ctx, &s)
	if err != nil {
		return s, err
	}
	version, _ := c.object(ctx, "/version")
	props, _ := c.object(ctx, "/props")
	info, _ := c.object(ctx, "/get_server_info")
	s.Engine = engine(owner, version, props, info)
	switch s.Engine {
	case LlamaCPP:
		s.Version, s.ConfigHash = c.word(props, "build_info", "system_info"), configHash(props)
	case SGLang:
		s.Version, s.ConfigHash, s.Revision = c.word(info, "version"), configHash(info), c.word(info, "revision")
	default:
		s.Version = c.word(version, "version")
	}
	return s, nil
}

// engine goes by who owns the models, and where that is no engine's name by
// which page there is.
func engine(owner string, version, props, info map[string]any) Engine {
	switch e := Engine(owner); {
	case e == VLLM || e == SGLang || e == LlamaCPP || e == Accelgate:
		return e
	case props["build_info"] != nil || props["default_generation_settings"] != nil:
		return LlamaCPP
	case info["version"] != nil:
		return SGLang
	case version["version"] != nil:
		return VLLM
	}
	return Unknown
}

// models reads the models into s and returns who owns the first.
func (c *Client) models(ctx context.Context, s *Server) (owner string, err error) {
	status, body, err := c.get(ctx, "/v1/models")
	if err != nil {
		return "", c.unreachable(err)
	}
	if err := c.statusError("/v1/models", status, body); err != nil {
		return "", err
	}
	var list struct {
		Data []struct {
			ID      json.RawMessage `json:"id"`
			OwnedBy string          `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || list.Data == nil {
		return "", fmt.Errorf("%s/v1/models answers no list of models but %q: is the URL the server's root or .../v1? Correct --base-url",
			c.root, c.quote(string(body)))
	}
	for _, m := range list.Data[:min(len(list.Data), maxModels)] {
		id, err := c.modelID(m.ID)
		if err != nil {
			return "", err
		}
		s.Models = append(s.Models, id)
	}
	if len(list.Data) > 0 {
		owner = list.Data[0].OwnedBy
	}
	return owner, nil
}

// modelID refuses an id that no request could name. The decoder puts U+FFFD in
// place of invalid UTF-8, and that is another id.
func (c *Client) modelID(raw json.RawMessage) (id string, err error) {
	wrong := ""
	switch {
	case json.Unmarshal(raw, &id) != nil || id == "":
		wrong = "is not text"
	case len(id) > maxModelID:
		wrong = fmt.Sprintf("is longer than %d bytes", maxModelID)
	case strings.ContainsRune(id, utf8.RuneError):
		wrong = "is not UTF-8"
	case c.holdsKey(id):
		wrong = "holds the API key"
	default:
		return id, nil
	}
	return "", fmt.Errorf("%s lists a model whose id %s (%q): correct the model's name at the server", c.root, wrong,
		text.Clip(c.quote(id), 80))
}

// unreachable returns what to do about a server that does not answer.
func (c *Client) unreachable(err error) error {
	var name *net.DNSError
	var dial *net.OpError
	var encoded encodedError
	switch {
	case untrusted(err):
		return c.untrusted(err)
	case errors.As(err, &encoded):
		return fmt.Errorf("%s answers in the encoding %w", c.root, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("ask %s for its models: %w", c.root, context.Canceled)
	case errors.As(err, &name):
		return fmt.Errorf("%s names a host that is not known (%s): correct base_url or --base-url", c.root, c.quote(name.Err))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer in time: look at the server's log, or correct base_url or --base-url", c.root)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("nothing listens at %s: start the server, or correct base_url or --base-url", c.root)
	}
	next := "is it a server of this scheme? Correct --base-url"
	if c.options.H2C {
		next = "does it take HTTP/2 without TLS? Remove connection.h2c, or correct base_url or --base-url"
	}
	return fmt.Errorf("%s cannot be asked (%s): %s", c.root, c.quote(err.Error()), next)
}

func (c *Client) statusError(path string, status int, body []byte) error {
	says := ""
	if text := c.quote(message(body)); text != "" {
		says = fmt.Sprintf(" (%s)", text)
	}
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%s refuses the request with HTTP %d%s: set the key's variable with --api-key-env", c.root, status, says)
	case status == http.StatusNotFound:
		return fmt.Errorf("%s%s is not there%s: is the URL the server's root or .../v1? Correct --base-url", c.root, path, says)
	case status >= 300 && status < 400:
		return fmt.Errorf("%s redirects, which is not followed: give the server's own URL with --base-url", c.root)
	}
	return fmt.Errorf("%s%s answers HTTP %d%s: look at the server's log", c.root, path, status, says)
}

// object asks for a JSON object; nil is any other answer.
func (c *Client) object(ctx context.Context, path string) (map[string]any, error) {
	status, body, err := c.get(ctx, path)
	if err != nil || status != http.StatusOK {
		return nil, err
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return object, decoder.Decode(&object)
}

// Page returns a page below the server's root, such as /metrics, bounded. An
// answer other than 200 is an error.
func (c *Client) Page(ctx context.Context, path string) ([]byte, error) {
	status, body, err := c.get(ctx, path)
	if err == nil {
		err = c.statusError(path, status, body)
	}
	return body, err
}

func (c *Client) get(ctx context.Context, path string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	target, err := c.page(path)
	if err != nil {
		return 0, nil, err
	}
	request := &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: c.header.Clone()}
	request.Header.Set("Accept", "application/json")
	request.Header.Del("Content-Type")
	resp, err := c.alone(request.WithContext(ctx))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if name := c.encoding(resp.Header); name != "" && resp.StatusCode == http.StatusOK {
		return 0, nil, encodedError(name)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxProbe))
	return resp.StatusCode, body, err
}

// encodedError names the encoding of a body that was asked for without one.
type encodedError string

func (e encodedError) Error() string { return string(e) + ", " + unwrap }

// word is the first of several members that is a text.
func (c *Client) word(object map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := object[name].(string); ok && s != "" {
			return text.Clip(c.quote(s), 80)
		}
	}
	return ""
}

// volatile are members that differ between two starts, or two moments, of a
// server with one configuration, at any depth of llama.cpp's /props and
// SGLang's /get_server_info.
var volatile = []string{"id", "id_task", "is_processing", "is_sleeping", "prompt", "next_token", "n_past",
	"internal_states", "last_gen_throughput", "random_seed", "load", "uptime", "pid"}

func configHash(object map[string]any) string {
	if len(object) == 0 {
		return ""
	}
	settle(object)
	text, err := json.Marshal(object) // members sorted
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func settle(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range volatile {
			delete(v, name)
		}
		for _, member := range v {
			settle(member)
		}
	case []any:
		for _, member := range v {
			settle(member)
		}
	}
}
