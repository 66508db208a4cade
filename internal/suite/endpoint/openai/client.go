package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
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
	// RootCAs replaces the system's certificate authorities.
	RootCAs *x509.CertPool
	// Now is the time since the epoch that every time of a Reply refers to, by
	// a monotonic clock. It is called by many goroutines at once.
	Now func() time.Duration
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	options Options
	root    string
	chat    *url.URL
	text    *url.URL
	header  http.Header // read only
	secrets []string

	shared *http.Transport // connections are used again if Options say so
	fresh  *http.Transport // each request gets a connection of its own
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
		return nil, errors.New("the API key holds a space, a line break or another character that no header can carry: correct the key's variable")
	}
	c := &Client{options: o, root: root, secrets: spellings(o.APIKey), header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {"accelgate"}}}
	if o.APIKey != "" {
		c.header.Set("Authorization", "Bearer "+o.APIKey)
	}
	c.shared, c.fresh = transport(o, o.KeepAlive), transport(o, false)
	if c.chat, err = url.Parse(root + "/v1/chat/completions"); err != nil {
		return nil, err
	}
	c.text, err = url.Parse(root + "/v1/completions")
	return c, err
}

// transport takes no proxy from the environment: what is measured would be
// the proxy. Requests go straight to it and not through http.Client, which
// follows redirects: a key must not travel to wherever a server points.
func transport(o Options, keepAlive bool) *http.Transport {
	dialer := net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:            dialer.DialContext,
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
func (c *Client) Close() {
	c.shared.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
}
