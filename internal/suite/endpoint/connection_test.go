package endpoint

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/engine/mock"
	"github.com/accelgate/accelgate/internal/testing/tlstest"
)

func TestConnectionKeys(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"{}":                                               "",
		"{ca_file: ca.pem, proxy: http://p:1}":             "",
		"{socket: /run/s, proxy: http://p:1}":              "keep one of the two",
		"{proxy: 'p:3128'}":                                "is not the URL of a proxy",
		"{proxy: 'http://me:secret@p:3128'}":               "without a user",
		"{h2c: true}":                                      "",
		"{h2c: true, socket: /run/s}":                      "",
		"{h2c: true, proxy: http://p:1}":                   "without a proxy",
		"{headers: {Authorization: x}}":                    "name the variable of a key with api_key_env",
		"{headers: {'a b': x}}":                            "is not a header",
		"{headers: {a: \"x\\ny\"}}":                        "is not a header",
		"{api_key_header: host}":                           "is not a header for a key",
		"{api_key_header: Authorization, query: {v: '1'}}": "",
	} {
		_, err := openBody(t, "x.yaml", "base_url: http://127.0.0.1:9\nconnection: "+keys+"\nload: {concurrency: [1], requests: 1}", env(t))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s shows the password: %v", keys, err)
		}
	}
	if _, err := openBody(t, "x.yaml", "connection: {socket: s}\nload: {concurrency: [1], requests: 1}", env(t)); err == nil || !strings.Contains(err.Error(), "set base_url") {
		t.Errorf("a socket without a server: %v", err)
	}
}

// TestPrivateAuthority measures a server whose certificate only a file proves.
func TestPrivateAuthority(t *testing.T) {
	t.Parallel()
	listener, roots := tlstest.Listen(t)
	s := mock.New(mock.Config{Listener: listener, Tokens: 2, Now: time.Now})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	url := "https://" + listener.Addr().String()
	certificate := authorityOf(t, url, roots)
	e := env(t)
	e.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(e.Dir, "ca.pem"), certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"ca.pem": "", "none.pem": "connection.ca_file: "} {
		suite, err := openBody(t, "x.yaml", "base_url: "+url+"\nconnection: {ca_file: "+file+"}\nload: {concurrency: [1], requests: 4, warmup: {duration: 0s}}", e)
		if err != nil {
			t.Fatal(err)
		}
		r, err := suite.Measure(t.Context(), suite.Plan().Cells[0], bench.Device{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && r.Outcome != bench.Passed {
			t.Errorf("%s: %s %s, %v", file, r.Outcome, r.Reason, err)
		}
	}
}

// authorityOf returns the certificate of a server as PEM.
func authorityOf(t *testing.T, url string, roots *x509.CertPool) []byte {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	var chain []byte
	response, err := (&http.Client{Transport: transport}).Get(url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for _, c := range response.TLS.PeerCertificates {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return chain
}

// TestH2C measures a server that takes HTTP/2 alone, with connections that are
// used again and with one for each request, and one that takes HTTP/1 alone.
func TestH2C(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server  bool
		keys    string
		outcome bench.Outcome
	}{{true, "", bench.Passed}, {true, ", keepalive: false", bench.Passed}, {false, "", ""}} {
		s := mock.New(mock.Config{H2C: c.server, Now: time.Now})
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		e, err := openBody(t, "x.yaml", "base_url: "+s.URL+"\nconnection: {h2c: true}\nrequest: {max_tokens: 3"+c.keys+"}\nload: {concurrency: [3], requests: 20, warmup: {duration: 0s}}", env(t))
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Measure(t.Context(), e.Plan().Cells[0], bench.Device{})
		if err != nil && !strings.Contains(err.Error(), "Remove connection.h2c") || (err != nil) == c.server || err == nil && (r.Outcome != c.outcome || r.Conditions["protocol"] != "h2c") {
			t.Errorf("server %t%s: %s %s, %v", c.server, c.keys, r.Outcome, r.Reason, err)
		}
		for _, q := range s.Seen().Requests {
			if q.Proto != "HTTP/2.0" {
				t.Errorf("a request came by %s", q.Proto)
			}
		}
		if n := s.Seen().Connections; c.server && (c.keys == "") != (n < 10) {
			t.Errorf("%d connections%s", n, c.keys)
		}
	}
}

// TestConnectionsAreMeasured reaches the programmable server by a socket, by a proxy and as a deployment of
// Azure, with one client and with processes that get the connection from their parent.
func TestConnectionsAreMeasured(t *testing.T) {
	t.Parallel()
	s := mock.New(mock.Config{Tokens: 2, Now: time.Now})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	front := func(check func(*http.Request) bool) *httptest.Server {
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.FlushInterval, proxy.ErrorLog = -1, log.New(io.Discard, "", 0) // the end of a load cuts requests
		return httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !check(r) {
				t.Errorf("asked for %s with %v", r.URL, r.Header)
			}
			asked.Add(1)
			r.Host = target.Host
			// A body is read before it is passed on, because a server in Go closes it with the first byte of its answer,
			// and the transport, which may not have met its end, then cuts the answer: golang.org/issue/40747.
			text, err := io.ReadAll(r.Body)
			if err != nil {
				return // the client is gone
			}
			r.Body = io.NopCloser(bytes.NewReader(text))
			if rest, ok := strings.CutPrefix(r.URL.Path, "/openai/deployments/small"); ok {
				r.URL.Path = "/v1" + rest
			}
			proxy.ServeHTTP(w, r)
		}))
	}
	socket := front(func(*http.Request) bool { return true })
	path := filepath.Join(t.TempDir(), "s")
	if socket.Listener, err = net.Listen("unix", path); err != nil {
		t.Skip(err)
	}
	proxy := front(func(r *http.Request) bool { return r.URL.Host == "server.invalid" })
	azure := front(func(r *http.Request) bool {
		return r.URL.Query().Get("api-version") == "2024-10-21" && r.Header.Get("api-key") == "0123456789abcdef" && r.Header.Get("Authorization") == "" && r.Header.Get("X-Tenant") == "t1"
	})
	for _, one := range []*httptest.Server{socket, proxy, azure} {
		one.Start()
		t.Cleanup(one.Close)
	}
	e := env(t)
	e.Environ = append(slices.Clone(e.Environ), "AZURE_TEST_KEY=0123456789abcdef")
	for _, keys := range []string{
		"base_url: http://localhost\nconnection: {socket: " + path + "}",
		"base_url: http://server.invalid\nconnection: {proxy: \"" + proxy.URL + "\"}",
		"base_url: " + azure.URL + "/openai/deployments/small\napi_key_env: AZURE_TEST_KEY\nconnection: {api_key_header: api-key, query: {api-version: \"2024-10-21\"}, headers: {X-Tenant: t1}}",
	} {
		for clients := 1; clients <= 2; clients++ {
			asked.Store(0)
			suite, err := openBody(t, "x.yaml", fmt.Sprintf("%s\nrequest: {max_tokens: 2}\nload: {concurrency: [2], clients: %d, requests: 8, auto_ramp: false, warmup: {duration: 0s}}", keys, clients), e)
			if err != nil {
				t.Fatal(err)
			}
			r, err := suite.Measure(t.Context(), suite.Plan().Cells[0], bench.Device{})
			if err != nil || r.Outcome != bench.Passed || r.Counts["ok"] != 8 || asked.Load() < 8 {
				t.Errorf("%s, %d clients: %s %s, %v, %d requests", keys, clients, r.Outcome, r.Reason, err, asked.Load())
			}
		}
	}
}
