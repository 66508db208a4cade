package openai_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const (
	eventHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	token     = `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n\n"
	ending    = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n"
)

func sized(body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", eventHead, len(body), body)
}

// raw serves connections by hand: serve gets the connection's number, from 1,
// and is called for each request on it until it returns false.
func raw(t *testing.T, serve func(conn, request int, w net.Conn) bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for n := 1; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer conn.Close(); serveConn(conn, n, serve) })
		}
	})
	return "http://" + l.Addr().String()
}

func serveConn(conn net.Conn, n int, serve func(conn, request int, w net.Conn) bool) {
	in := bufio.NewReader(conn)
	for request := 1; ; request++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil || !serve(n, request, conn) {
			return
		}
	}
}

func write(w io.Writer, text string) bool {
	_, err := io.WriteString(w, text)
	return err == nil
}

func TestReusedConnectionThatFailsIsRetriedOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		second  string // what the second connection answers, "" closes it
		outcome openai.Outcome
	}{
		"the fresh one answers":       {sized(token + ending), openai.OK},
		"the fresh one fails too":     {"", openai.ResetReused},
		"the fresh one breaks off":    {eventHead + "Content-Length: 900\r\n\r\n" + token, openai.ResetMidstream},
		"the fresh one is not a HTTP": {"220 mail ready\r\n\r\n", openai.Connect},
		"the fresh one is an error":   {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", openai.HTTP5xx},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := raw(t, func(conn, request int, w net.Conn) bool {
				if conn == 1 {
					return request == 1 && write(w, sized(token+ending)) // the second request is read, then the connection closed
				}
				write(w, tt.second)
				return false
			})
			c := client(t, openai.Options{BaseURL: url, KeepAlive: true})
			if r := c.Stream(t.Context(), chat(t), openai.Expect{}); r.Outcome != openai.OK || r.Reused || r.Retried {
				t.Fatalf("first request: %+v", r)
			}
			r := c.Stream(t.Context(), chat(t), openai.Expect{})
			if r.Outcome != tt.outcome || !r.Retried || r.Reused {
				t.Errorf("outcome %s (%s), retried %t, reused %t; want %s after a retry", r.Outcome, r.Reason, r.Retried, r.Reused, tt.outcome)
			}
			checkTimes(t, r)
		})
	}
}

func TestReusedConnectionThatFailsAfterAByteIsNotRetried(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	url := raw(t, func(_, request int, w net.Conn) bool {
		requests.Add(1)
		if request == 1 {
			return write(w, sized(token+ending))
		}
		write(w, "HTTP/1.1 200 O")
		return false
	})
	c := client(t, openai.Options{BaseURL: url, KeepAlive: true})
	c.Stream(t.Context(), chat(t), openai.Expect{})
	r := c.Stream(t.Context(), chat(t), openai.Expect{})
	if r.Outcome != openai.ResetMidstream || r.Retried || !r.Reused || requests.Load() != 2 {
		t.Errorf("%s (%s), retried %t, %d requests", r.Outcome, r.Reason, r.Retried, requests.Load())
	}
}

func TestConnectionsAreReusedOnlyIfAsked(t *testing.T) {
	t.Parallel()
	url := raw(t, func(_, _ int, w net.Conn) bool { return write(w, sized(token+ending)) })
	for _, keep := range []bool{true, false} {
		c := client(t, openai.Options{BaseURL: url, KeepAlive: keep})
		c.Stream(t.Context(), chat(t), openai.Expect{})
		if r := c.Stream(t.Context(), chat(t), openai.Expect{}); r.Outcome != openai.OK || r.Reused != keep {
			t.Errorf("keep alive %t: %s, reused %t", keep, r.Outcome, r.Reused)
		}
	}
}

// TestFailures holds the outcomes that rest on a connection rather than on a body.
func TestFailures(t *testing.T) {
	t.Parallel()
	wait := func(w net.Conn, text string) bool { // until the client is gone
		write(w, text)
		_, _ = io.Copy(io.Discard, w)
		return false
	}
	const (
		soon = 60 * time.Millisecond
		late = 2 * time.Second // includes the connection, which a busy host makes late
	)
	for name, tt := range map[string]struct {
		serve   func(w net.Conn) bool
		options openai.Options
		outcome openai.Outcome
		tokens  int
		reason  string
	}{
		"closed before the answer":                {func(net.Conn) bool { return false }, openai.Options{}, openai.ResetMidstream, 0, "before the answer"},
		"closed within":                           {func(w net.Conn) bool { write(w, eventHead+"Content-Length: 999\r\n\r\n"+token+token); return false }, openai.Options{}, openai.ResetMidstream, 2, "within the answer"},
		"closed after DONE":                       {func(w net.Conn) bool { write(w, eventHead+"Content-Length: 999\r\n\r\n"+token+ending); return false }, openai.Options{}, openai.OK, 1, ""},
		"open after DONE":                         {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token+ending) }, openai.Options{}, openai.OK, 1, ""},
		"not HTTP":                                {func(w net.Conn) bool { write(w, "SSH-2.0-x\r\n"); return false }, openai.Options{}, openai.Connect, 0, "correct base_url or --base-url"},
		"open after lines after DONE":             {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token+ending+token+": more\n\n") }, openai.Options{}, openai.OK, 1, ""},
		"open after half a line of DONE":          {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token+strings.TrimSpace(ending)) }, openai.Options{}, openai.OK, 1, ""},
		"open after DONE on a connection to keep": {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token+ending) }, openai.Options{KeepAlive: true}, openai.OK, 1, ""},
		"no headers":                              {func(w net.Conn) bool { return wait(w, "") }, openai.Options{First: late}, openai.TimeoutFirst, 0, "no token within 2s: raise timeouts.first, or"},
		"only comments":                           {func(w net.Conn) bool { return wait(w, eventHead+"\r\n: ping\n\n") }, openai.Options{First: late, Idle: time.Millisecond}, openai.TimeoutFirst, 0, "no token"},
		"idle after a token":                      {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token) }, openai.Options{First: time.Minute, Idle: soon}, openai.TimeoutIdle, 1, "no further line within 60ms: raise timeouts.idle, or"},
		"half a line":                             {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token+token[:20]) }, openai.Options{Idle: soon}, openai.TimeoutIdle, 1, ""},
		"too long in all":                         {func(w net.Conn) bool { return wait(w, eventHead+"\r\n"+token) }, openai.Options{First: time.Minute, Idle: time.Minute, Total: late}, openai.TimeoutTotal, 1, "not finished within 2s: raise timeouts.total, or"},
		"a line without end": {func(w net.Conn) bool {
			for write(w, strings.Repeat("x", 1<<20)) {
			}
			return false
		}, openai.Options{}, openai.BadJSON, 0, "too long"},
		"a body without end": {func(w net.Conn) bool {
			for write(w, strings.Repeat(": x\n", 1<<18)) {
			}
			return false
		}, openai.Options{}, openai.BadJSON, 0, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.options.BaseURL = raw(t, func(_, _ int, w net.Conn) bool {
				if strings.HasPrefix(name, "a ") {
					write(w, eventHead+"\r\n")
				}
				return tt.serve(w)
			})
			r := client(t, tt.options).Stream(t.Context(), chat(t), openai.Expect{})
			if r.Outcome != tt.outcome || len(r.Tokens) != tt.tokens || !strings.Contains(r.Reason, tt.reason) || r.Retried {
				t.Errorf("%s with %d tokens (%s), retried %t; want %s with %d (%s)", r.Outcome, len(r.Tokens), r.Reason, r.Retried, tt.outcome, tt.tokens, tt.reason)
			}
			checkTimes(t, r)
		})
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	r := client(t, openai.Options{BaseURL: url}).Stream(t.Context(), chat(t), openai.Expect{})
	if r.Outcome != openai.Connect || r.Conn != 0 || !strings.Contains(r.Reason, url) || !strings.HasSuffix(r.Reason, ": start the server, or correct base_url or --base-url") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}

func TestCallerCancels(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{"", eventHead + "\r\n" + token + token} {
		ctx, cancel := context.WithCancel(t.Context())
		url := raw(t, func(_, _ int, w net.Conn) bool {
			write(w, sent)
			time.AfterFunc(50*time.Millisecond, cancel)
			_, _ = io.Copy(io.Discard, w) // until the client is gone
			return false
		})
		r := client(t, openai.Options{BaseURL: url, First: time.Minute}).Stream(ctx, chat(t), openai.Expect{})
		if n := strings.Count(sent, "data:"); r.Outcome != openai.Cancelled || len(r.Tokens) != n || n > 0 && r.OutputTokens != n {
			t.Errorf("%s (%s) with %d tokens, %d counted", r.Outcome, r.Reason, len(r.Tokens), r.OutputTokens)
		}
		checkTimes(t, r)
	}
}

// TestSplittingChangesNothing sends one body in arbitrary pieces.
func TestSplittingChangesNothing(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	for _, name := range []string{"usage-own-chunk", "crlf", "error-event", "held-back-utf8", "whole-completion", "truncated-mid-line", "comments"} {
		text := string(readFile(t, "testdata/streams/"+name+".sse"))
		whole := view(ask(t, []byte(text), given{}))
		for seed := range uint64(12) {
			random := rand.New(rand.NewPCG(seed, 1))
			url := raw(t, func(_, _ int, w net.Conn) bool {
				write(w, eventHead+"\r\n")
				for rest := text; rest != ""; {
					n := 1 + random.IntN(min(len(rest), 1+int(seed)*20))
					if !write(w, rest[:n]) {
						break
					}
					rest = rest[n:]
					if random.IntN(4) == 0 {
						time.Sleep(100 * time.Microsecond)
					}
				}
				return false
			})
			r := client(t, openai.Options{BaseURL: url}).Stream(t.Context(), chat(t), openai.Expect{})
			checkTimes(t, r)
			if diff := cmp.Diff(view(r), whole); diff != "" {
				t.Errorf("%s, seed %d: split - whole +\n%s", name, seed, diff)
			}
		}
	}
}

// TestCoalescedLinesShareTheirRead sends three tokens at once and one later.
func TestCoalescedLinesShareTheirRead(t *testing.T) {
	t.Parallel()
	url := raw(t, func(_, _ int, w net.Conn) bool {
		write(w, eventHead+"\r\n"+token+token+token)
		time.Sleep(30 * time.Millisecond)
		write(w, token+ending)
		return false
	})
	r := client(t, openai.Options{BaseURL: url}).Stream(t.Context(), chat(t), openai.Expect{})
	if len(r.Reads) != 4 || r.Reads[0] != r.Reads[1] || r.Reads[1] != r.Reads[2] || r.Reads[2] == r.Reads[3] {
		t.Errorf("reads %v", r.Reads)
	}
}

func TestHTTP2OverTLS(t *testing.T) {
	t.Parallel()
	var protocols sync.Map
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols.Store(r.Proto, true)
		for range 5 {
			write(w, token)
			w.(http.Flusher).Flush()
		}
		write(w, ending)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused certificate is part of the test
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	c := client(t, openai.Options{BaseURL: server.URL, KeepAlive: true, Connections: 8, RootCAs: roots})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r := c.Stream(t.Context(), chat(t), openai.Expect{})
			if r.Outcome != openai.OK || len(r.Tokens) != 5 || r.Conn == 0 {
				t.Errorf("%s (%s), %d tokens, connection at %v", r.Outcome, r.Reason, len(r.Tokens), r.Conn)
			}
			checkTimes(t, r)
		})
	}
	all.Wait()
	if _, ok := protocols.Load("HTTP/2.0"); !ok {
		t.Error("HTTP/2 was not used")
	}
	stranger := client(t, openai.Options{BaseURL: server.URL})
	if r := stranger.Stream(t.Context(), chat(t), openai.Expect{}); r.Outcome != openai.Connect || !strings.Contains(r.Reason, "is not trusted") || !strings.Contains(r.Reason, "SSL_CERT_FILE") {
		t.Errorf("an unknown certificate: %s (%s)", r.Outcome, r.Reason)
	}
	if _, err := stranger.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "is not trusted") || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("an unknown certificate, probed: %v", err)
	}
	if err := stranger.WaitReady(t.Context(), time.Millisecond); err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("an unknown certificate, waited for: %v", err)
	}
}

// TestNothingIsLeftBehind is not parallel: it counts goroutines.
func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(w, token)
		w.(http.Flusher).Flush()
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	c, err := openai.New(openai.Options{BaseURL: server.URL, KeepAlive: true, Idle: 20 * time.Millisecond, Total: time.Minute, Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { c.Stream(context.Background(), chat(t), openai.Expect{}) })
	}
	all.Wait()
	c.Close()
	close(hang)
	server.Close()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
