package openai

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Options say which server is asked and how. BaseURL and Now are required.
type Options struct {
	// BaseURL is the server's root, or that with /v1 or an endpoint's whole path.
	BaseURL string
	// APIKey is sent as a bearer token and never shown; "" sends none.
	APIKey string
	// Connections is how many idle connections are kept: the number of
	// requests that are under way at once.
	Connections int
	// KeepAlive lets a connection serve further requests.
	KeepAlive bool
	// First bounds the time from sending to the first token, Idle that from
	// line to line after it, Total the whole request. 0 means no bound.
	First, Idle, Total time.Duration
	// KeyHeader is the header that carries the key as it is, such as Azure's
	// api-key; "" sends it as a bearer token.
	KeyHeader string
	// Header and Query are added to each request, such as Azure's api-version.
	Header http.Header
	Query  url.Values
	// Proxy is asked for each connection; nil asks none. Socket is the path of
	// the Unix socket that all connections go to; "" is the URL's host.
	Proxy  *url.URL
	Socket string
	// Dial opens connections in place of the system's dialer, such as in memory; nil does not.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// H2C sends HTTP/2 without TLS, by prior knowledge.
	H2C bool
	// RootCAs replaces the system's certificate authorities.
	RootCAs *x509.CertPool
	// Now is the time since the epoch that every time of a Reply refers to, by
	// a monotonic clock. It is called by many goroutines at once.
	Now func() time.Duration
	// Heard is called whenever a part of an answer to a request comes, by many goroutines at
	// once; nil is not.
	Heard func()
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	options Options
	root    string
	pages   map[string]*url.URL // of requests, by path
	header  http.Header         // read only
	secrets []string

	shared *http.Transport // connections are used again

	held atomic.Int64 // bodies in a row that stayed open after [DONE]
}

// What bounds a connection attempt when Options do not: without it a black
// hole would hold a request for as long as the system's own limit, minutes.
const connectTimeout = 30 * time.Second

// New checks the options. It sends nothing.
func New(o Options) (*Client, error) {
	root, err := parseRoot(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		return nil, errors.New("no clock: set Options.Now")
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New(
			"the API key holds a space, a line break or another character that no header can carry: correct the key's variable",
		)
	}
	c := &Client{options: o, root: root, secrets: spellings(o.APIKey), header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {"accelgate"}}}
	for name, values := range o.Header {
		c.header[http.CanonicalHeaderKey(name)] = values
	}
	switch {
	case o.APIKey == "":
	case o.KeyHeader != "":
		c.header.Set(o.KeyHeader, o.APIKey)
	default:
		c.header.Set("Authorization", "Bearer "+o.APIKey)
	}
	c.shared = transport(o, true)
	c.pages = map[string]*url.URL{}
	for _, path := range []string{chatPath, textPath, embeddingsPath, rerankPath, speechPath} {
		if c.pages[path], err = c.page(path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// page is the URL of a path below the server's root. The deployments of Azure
// have the version of the API in the query and not in the path.
func (c *Client) page(path string) (*url.URL, error) {
	if c.deployment() != "" {
		path = strings.TrimPrefix(path, "/v1")
	}
	u, err := url.Parse(c.root + path)
	if err == nil {
		u.RawQuery = c.options.Query.Encode()
	}
	return u, err
}

// deployment is the name of Azure's deployment that the root is, "" for any
// other server.
func (c *Client) deployment() string {
	_, name, found := strings.Cut(c.root, "/openai/deployments/")
	if !found || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// transport takes no proxy from the environment: unless one is asked for, what
// is measured would be the proxy. Requests go straight to it and not through http.Client, which
// follows redirects: a key must not travel to wherever a server points.
func transport(o Options, keepAlive bool) *http.Transport {
	dialer := net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}
	dial := dialer.DialContext
	if o.Dial != nil {
		dial = o.Dial
	}
	if o.Socket != "" {
		dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", o.Socket)
		}
	}
	var proxy func(*http.Request) (*url.URL, error)
	if o.Proxy != nil {
		proxy = http.ProxyURL(o.Proxy)
	}
	var protocols *http.Protocols // nil: HTTP/1, and HTTP/2 by TLS
	if o.H2C {
		protocols = new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
	}
	return &http.Transport{
		Protocols:              protocols,
		DialContext:            dial,
		Proxy:                  proxy,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // a compressor holds tokens back
		DisableKeepAlives:      !keepAlive,
		MaxIdleConnsPerHost:    max(o.Connections, 2),
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		WriteBufferSize:        64 << 10, // long prompts in few writes
		ReadBufferSize:         16 << 10,
	}
}

// Close ends the idle connections. Requests under way go on.
func (c *Client) Close() { c.shared.CloseIdleConnections() }

// roundTrip sends a request on a shared connection, or on its own without keep-alive.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	if c.options.KeepAlive {
		return c.shared.RoundTrip(r)
	}
	return c.alone(r)
}

// alone sends a request on a connection of its own, by a Transport of its own. One Transport
// without keep-alive pools new connections of HTTP/2 until their first request is sent: of
// several requests that get the same one, all but one dial again, and those with a body fail.
func (c *Client) alone(r *http.Request) (*http.Response, error) {
	return transport(c.options, false).RoundTrip(r)
}
