package openai_test

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine/mock"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/testing/tlstest"
)

// answering serves every request with one short stream, after a look at it.
func answering(look func(*http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		look(r)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, token+ending)
	})
}

// TestConnections reaches servers in every supported way.
func TestConnections(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T, see func(*http.Request)) openai.Options{
		"plain": func(t *testing.T, see func(*http.Request)) openai.Options {
			return openai.Options{BaseURL: serve(t, httptest.NewServer(answering(see))).URL}
		},
		"TLS with a private authority": func(t *testing.T, see func(*http.Request)) openai.Options {
			s := serve(t, httptest.NewTLSServer(answering(see)))
			return openai.Options{BaseURL: s.URL, RootCAs: authority(s.Certificate())}
		},
		"HTTP/2": func(t *testing.T, see func(*http.Request)) openai.Options {
			s := httptest.NewUnstartedServer(answering(func(r *http.Request) {
				if r.ProtoMajor != 2 {
					t.Errorf("the request is of %s", r.Proto)
				}
				see(r)
			}))
			s.EnableHTTP2 = true
			s.StartTLS()
			return openai.Options{BaseURL: serve(t, s).URL, RootCAs: authority(s.Certificate())}
		},
		"Unix socket": func(t *testing.T, see func(*http.Request)) openai.Options {
			path := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Skip(err)
			}
			s := httptest.NewUnstartedServer(answering(see))
			s.Listener = l
			s.Start()
			serve(t, s)
			return openai.Options{BaseURL: "http://localhost", Socket: path}
		},
		"proxy": func(t *testing.T, see func(*http.Request)) openai.Options {
			s := serve(t, httptest.NewServer(answering(func(r *http.Request) { // a proxy gets the whole URL
				if r.URL.Host != "server.invalid" {
					t.Errorf("the proxy was asked for %s", r.URL)
				}
				see(r)
			})))
			proxy, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			return openai.Options{BaseURL: "http://server.invalid", Proxy: proxy}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen atomic.Int32
			o := start(t, func(*http.Request) { seen.Add(1) })
			o.KeepAlive = true
			c := client(t, o)
			for range 2 {
				r := c.Stream(t.Context(), chat(t), openai.Expect{})
				if r.Outcome != openai.OK {
					t.Fatalf("%s: %s", r.Outcome, r.Reason)
				}
				checkTimes(t, r)
			}
			if seen.Load() != 2 {
				t.Errorf("%d requests came", seen.Load())
			}
		})
	}
}

func serve(t *testing.T, s *httptest.Server) *httptest.Server {
	t.Helper()
	t.Cleanup(s.Close)
	return s
}

func authority(c *x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return pool
}

// TestAzure has the deployment in the path, the version in the query, and the
// key in a header of its own, which nothing shows.
func TestAzure(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	var path, sent atomic.Value
	s := serve(t, httptest.NewServer(answering(func(r *http.Request) {
		path.Store(r.URL.String())
		sent.Store(r.Header.Get("api-key") + "|" + r.Header.Get("Authorization") + "|" + r.Header.Get("X-Tenant"))
	})))
	c := client(t, openai.Options{BaseURL: s.URL + "/openai/deployments/small/", APIKey: key, KeyHeader: "api-key",
		Header: http.Header{"X-Tenant": {"t1"}}, Query: url.Values{"api-version": {"2024-10-21"}}})
	found, err := c.Probe(t.Context())
	if err != nil || len(found.Models) != 1 || found.Models[0] != "small" {
		t.Errorf("%+v, %v", found, err)
	}
	if r := c.Stream(t.Context(), chat(t), openai.Expect{}); r.Outcome != openai.OK {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if got := path.Load(); got != "/openai/deployments/small/chat/completions?api-version=2024-10-21" {
		t.Errorf("asked for %s", got)
	}
	if got := sent.Load(); got != key+"||t1" {
		t.Errorf("headers %s", got)
	}
}

// TestFakeOverHTTP2 measures the fake server over HTTP/2, a connection for all.
func TestFakeOverHTTP2(t *testing.T) {
	t.Parallel()
	listener, roots := tlstest.Listen(t, "h2")
	s := mock.New(mock.Config{Listener: listener, Tokens: 4, TPOT: time.Millisecond, Now: time.Now})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	url := "https://" + listener.Addr().String()
	c := client(t, openai.Options{BaseURL: url, RootCAs: roots, KeepAlive: true})
	for i := range 3 {
		r := c.Stream(t.Context(), chat(t), openai.Expect{})
		if r.Outcome != openai.OK || r.OutputTokens != 4 || r.Reused != (i > 0) {
			t.Errorf("%s (%s), %d tokens, reused %t", r.Outcome, r.Reason, r.OutputTokens, r.Reused)
		}
	}
	if c := client(t, openai.Options{BaseURL: url}); !strings.Contains(c.Stream(t.Context(), chat(t), openai.Expect{}).Reason, "certificate") {
		t.Error("a certificate of an unknown authority was accepted")
	}
}

// TestWarm opens connections that the requests of a load then use.
func TestWarm(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(answering(func(*http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	serve(t, s)
	c := client(t, openai.Options{BaseURL: s.URL, KeepAlive: true, Connections: 8})
	if n := c.Warm(t.Context(), 8); n != 8 || opened.Load() != 8 {
		t.Errorf("%d connections, %d were opened, want 8", n, opened.Load())
	}
	for range 3 {
		if r := c.Stream(t.Context(), chat(t), openai.Expect{}); r.Outcome != openai.OK || !r.Reused {
			t.Errorf("%s (%s), reused %t", r.Outcome, r.Reason, r.Reused)
		}
	}
	if c := client(t, openai.Options{BaseURL: s.URL}); c.Warm(t.Context(), 8) != 0 {
		t.Error("connections that nothing will use again")
	}
	if c := client(t, openai.Options{BaseURL: "http://127.0.0.1:9", KeepAlive: true}); c.Warm(t.Context(), 8) != 0 {
		t.Error("connections to nothing")
	}
}

// TestRequestsAtOnceOverHTTP2 has two requests that both have a connection before either is sent: in one
// pool that is the same connection, and serves one of them.
func TestRequestsAtOnceOverHTTP2(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"h2c", "TLS"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := mock.Config{H2C: name == "h2c", Tokens: 2, Now: time.Now}
			o := openai.Options{H2C: config.H2C}
			if name == "TLS" {
				config.Listener, o.RootCAs = tlstest.Listen(t, "h2")
			}
			s := mock.New(config)
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			if o.BaseURL = s.URL; name == "TLS" {
				o.BaseURL = "https://" + config.Listener.Addr().String()
			}
			// The clock is read as a request begins and as it has its connection.
			var reads atomic.Int32
			var dialing, connected sync.WaitGroup
			dialing.Add(2)
			connected.Add(2)
			now := clock()
			o.Now = func() time.Duration {
				if n := reads.Add(1); n == 3 || n == 4 {
					connected.Done()
					connected.Wait()
				}
				return now()
			}
			var dials atomic.Int32
			o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if dials.Add(1) <= 2 {
					dialing.Done()
					dialing.Wait()
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}
			c := client(t, o)
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					r := c.Stream(t.Context(), chat(t), openai.Expect{})
					if r.Outcome != openai.OK || r.Reused || r.Retried {
						t.Errorf("%s (%s), reused %t, retried %t", r.Outcome, r.Reason, r.Reused, r.Retried)
					}
					checkTimes(t, r)
				})
			}
			both.Wait()
			if seen := s.Seen(); len(seen.Requests) != 2 || dials.Load() != 2 {
				t.Errorf("%d requests on %d connections, want 2 on 2", len(seen.Requests), dials.Load())
			}
		})
	}
}

// TestRequestThatFindsItsConnectionFull has a request that gets a connection before the
// server's limit is known, and is to be sent when the limit is reached.
func TestRequestThatFindsItsConnectionFull(t *testing.T) {
	t.Parallel()
	came, answer := make(chan struct{}), make(chan struct{})
	var requests atomic.Int32
	s := httptest.NewUnstartedServer(answering(func(*http.Request) {
		if requests.Add(1) == 1 {
			close(came)
			<-answer
		}
	}))
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 1}
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	serve(t, s)

	first := &lateConn{hear: make(chan struct{}), heard: make(chan struct{})}
	connected, full := make(chan struct{}), make(chan struct{})
	var reads, dials atomic.Int32
	now := clock()
	c := client(t, openai.Options{BaseURL: s.URL, H2C: true, KeepAlive: true,
		Now: func() time.Duration {
			if reads.Add(1) == 2 { // the first request has its connection
				close(connected)
				<-full
			}
			return now()
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if dials.Add(1) == 1 && err == nil {
				first.Conn = conn
				return first, nil
			}
			return conn, err
		}})
	var early, other sync.WaitGroup
	ask := func() {
		r := c.Stream(t.Context(), chat(t), openai.Expect{})
		if r.Outcome != openai.OK {
			t.Errorf("%s (%s)", r.Outcome, r.Reason)
		}
		checkTimes(t, r)
	}
	early.Go(ask)
	<-connected
	other.Go(ask)
	<-came
	close(first.hear)
	<-first.heard
	close(full)
	early.Wait()
	close(answer)
	other.Wait()
	if requests.Load() != 2 {
		t.Errorf("%d requests came, want 2", requests.Load())
	}
}

// lateConn reads nothing before hear is closed, and closes heard when what it
// read first was processed.
type lateConn struct {
	net.Conn
	hear, heard chan struct{}
	reads       int
}

func (c *lateConn) Read(p []byte) (int, error) {
	<-c.hear
	if c.reads++; c.reads == 2 {
		close(c.heard)
	}
	return c.Conn.Read(p)
}
